package filetree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Folder is an open directory. All that is done in it goes by names of one component
// and follows no symlink; that is stricter than os.Root, which follows those that stay
// inside, and can't be made to wait by a FIFO in a directory's place.
type Folder struct {
	file *os.File
	fd   int
}

// OpenFolder opens a directory that the user or the store names; that path may lead
// through symlinks.
func OpenFolder(path string) (*Folder, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return &Folder{f, int(f.Fd())}, nil
}

// NewFolder makes and opens a directory for the owner alone, in place of what is there.
func NewFolder(path string) (*Folder, error) {
	if err := RemoveTree(path); err != nil {
		return nil, err
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, Full(err)
	}
	return OpenFolder(path)
}

func (d *Folder) Close() { _ = d.file.Close() }

// again repeats what a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (d *Folder) openat(name string, flags int, perm uint32) (int, error) {
	var fd int
	err := again(func() (err error) {
		fd, err = unix.Openat(d.fd, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, perm)
		return err
	})
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return fd, nil
}

// sub opens a directory in it.
func (d *Folder) sub(name string) (*Folder, error) {
	fd, err := d.openat(name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return &Folder{os.NewFile(uintptr(fd), name), fd}, nil
}

// Walk opens the directory at a clean path below it; "" is itself, opened again.
func (d *Folder) Walk(path string) (*Folder, error) {
	at, err := d.sub(".")
	if err != nil || path == "" {
		return at, err
	}
	for name := range strings.SplitSeq(path, "/") {
		next, err := at.sub(name)
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// Grow is walk that makes directories which are missing.
func (d *Folder) Grow(path string) (*Folder, error) {
	at, err := d.sub(".")
	if err != nil || path == "" {
		return at, err
	}
	for name := range strings.SplitSeq(path, "/") {
		next, err := at.sub(name)
		if errors.Is(err, fs.ErrNotExist) {
			if err = unix.Mkdirat(at.fd, name, 0o755); err == nil || errors.Is(err, unix.EEXIST) {
				next, err = at.sub(name)
			}
		}
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// open opens a regular file for reading. The size and times are those of the file that
// was opened.
func (d *Folder) open(name string) (*os.File, Stamp, error) {
	fd, err := d.openat(name, unix.O_RDONLY, 0)
	if err != nil {
		return nil, Stamp{}, err
	}
	f := os.NewFile(uintptr(fd), name)
	st, err := stampOf(fd)
	if err == nil && st.mode&unix.S_IFMT != unix.S_IFREG {
		err = ErrIrregular
	}
	if err != nil {
		_ = f.Close()
		return nil, Stamp{}, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f, st, nil
}

// ErrIrregular is about what is neither file, directory nor symlink.
var ErrIrregular = errors.New("not a regular file")

// Create makes a file that must not be there, for the owner alone.
func (d *Folder) Create(name string) (*os.File, error) {
	fd, err := d.openat(name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// stat is about the name itself, not where it leads.
func (d *Folder) stat(name string) (Stamp, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return Stamp{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return stampFrom(&st), nil
}

// readlink gives a symlink's target.
func (d *Folder) readlink(name string) (string, error) {
	buf := make([]byte, maxPath+1)
	n, err := unix.Readlinkat(d.fd, name, buf)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return string(buf[:n]), nil
}

func (d *Folder) symlink(target, name string) error {
	if err := unix.Symlinkat(target, d.fd, name); err != nil {
		return &fs.PathError{Op: "symlink", Path: name, Err: err}
	}
	return nil
}

func (d *Folder) mkdir(name string, perm fs.FileMode) error {
	if err := unix.Mkdirat(d.fd, name, uint32(perm.Perm())); err != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: err}
	}
	return nil
}

// Rename moves a name into another folder, over what is there.
func (d *Folder) Rename(name string, to *Folder, as string) error {
	if err := unix.Renameat(d.fd, name, to.fd, as); err != nil {
		return &fs.PathError{Op: "rename", Path: as, Err: err}
	}
	return nil
}

func (d *Folder) remove(name string, dir bool) error {
	flags := 0
	if dir {
		flags = unix.AT_REMOVEDIR
	}
	if err := unix.Unlinkat(d.fd, name, flags); err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return nil
}

// list reads the directory; no more than most names.
func (d *Folder) list(most int) ([]fs.DirEntry, error) {
	list, err := d.file.ReadDir(most + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(list) > most {
		return nil, Failf(ErrTooLarge, "a directory has more than %d files", most)
	}
	return list, nil
}

// RemoveAll removes a name and all below it, also of directories that their owner
// closed to himself. What is not there is no error.
func (d *Folder) RemoveAll(name string) error {
	err := d.remove(name, false)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	sub, suberr := d.sub(name)
	if errors.Is(suberr, fs.ErrPermission) {
		if st, e := d.stat(name); e == nil && st.mode&unix.S_IFMT == unix.S_IFDIR && chmodat(d.fd, name, 0o700) == nil {
			sub, suberr = d.sub(name)
		}
	}
	if suberr != nil {
		if errors.Is(suberr, unix.ENOTDIR) || errors.Is(suberr, unix.ELOOP) {
			return err
		}
		return suberr
	}
	err = sub.empty()
	sub.Close()
	if err != nil {
		return err
	}
	if err := d.remove(name, true); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// empty removes all that is in it.
func (d *Folder) empty() error {
	var st unix.Stat_t
	if unix.Fstat(d.fd, &st) == nil && st.Mode&0o700 != 0o700 {
		_ = unix.Fchmod(d.fd, 0o700)
	}
	for {
		list, err := d.file.ReadDir(1000)
		for _, e := range list {
			if err := d.RemoveAll(e.Name()); err != nil {
				return err
			}
		}
		if err != nil || len(list) == 0 {
			return nil
		}
	}
}

// isSwapped reports whether something else stood where a directory or a file was
// expected: a symlink, a file, a FIFO without a writer.
func isSwapped(err error) bool {
	return errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.EMLINK)
}

// isKept reports whether a directory was not removed because something is in it.
func isKept(err error) bool {
	return errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST)
}
