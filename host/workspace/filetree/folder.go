package filetree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

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

// again repeats a system call that a signal interrupted.
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
	return fd, pathError("open", name, err)
}

func pathError(op, name string, err error) error {
	if err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
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
func (d *Folder) Walk(path string) (*Folder, error) { return d.walk(path, false) }

// Grow is Walk that makes directories which are missing.
func (d *Folder) Grow(path string) (*Folder, error) { return d.walk(path, true) }

func (d *Folder) walk(path string, grow bool) (*Folder, error) {
	at, err := d.sub(".")
	if err != nil || path == "" {
		return at, err
	}
	for name := range strings.SplitSeq(path, "/") {
		next, err := at.sub(name)
		if grow && errors.Is(err, fs.ErrNotExist) {
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

// chmod changes the permission bits of the directory at a path below it.
func (d *Folder) chmod(path string, perm fs.FileMode) error {
	sub, err := d.Walk(path)
	if err != nil {
		return err
	}
	defer sub.Close()
	return sub.file.Chmod(perm)
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

// ErrIrregular is the error for what is neither file, directory nor symlink.
var ErrIrregular = errors.New("not a regular file")

// Create makes a file that must not be there, for the owner alone.
func (d *Folder) Create(name string) (*os.File, error) {
	fd, err := d.openat(name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// stat describes the name itself and does not follow a symlink.
func (d *Folder) stat(name string) (Stamp, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return stampFrom(&st), pathError("stat", name, err)
}

func (d *Folder) readlink(name string) (string, error) {
	buf := make([]byte, maxPath+1)
	n, err := unix.Readlinkat(d.fd, name, buf)
	if errors.Is(err, unix.EINVAL) {
		err = unix.ENOENT // it is no link any more
	}
	return string(buf[:max(n, 0)]), pathError("readlink", name, err)
}

// Rename moves a name into another folder, over what is there.
func (d *Folder) Rename(name string, to *Folder, as string) error {
	return pathError("rename", as, unix.Renameat(d.fd, name, to.fd, as))
}

func (d *Folder) remove(name string, dir bool) error {
	flags := 0
	if dir {
		flags = unix.AT_REMOVEDIR
	}
	return pathError("remove", name, unix.Unlinkat(d.fd, name, flags))
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

// Stamp tells whether a file has changed: while it stays the same, so do the contents, unless the last
// change is younger than fresh.
type Stamp struct {
	mode         uint32 // as the system has it
	Size         int64
	mtime, ctime int64 // nanoseconds since 1970
	ino, dev     uint64
}

// fresh is how old a change must be for the next one to get another time: file systems take times from
// a clock that ticks up to every 10 ms.
const fresh = 50 * time.Millisecond

func stampFrom(st *unix.Stat_t) Stamp {
	return Stamp{
		mode: uint32(st.Mode), Size: st.Size, ino: st.Ino, dev: uint64(st.Dev), //nolint:unconvert // types differ by system
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
	}
}

func stampOf(fd int) (Stamp, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstat(fd, &st) })
	return stampFrom(&st), err
}

// Settled reports whether a file with this stamp can't have changed unseen since a
// moment at which it had it.
func (s Stamp) Settled(at time.Time) bool {
	limit := at.Add(-fresh).UnixNano()
	return s.ctime < limit && s.mtime < limit
}

// fileMode is the type and permission bits that manifests keep; ok is false for
// devices, sockets and FIFOs.
func (s Stamp) fileMode() (mode fs.FileMode, ok bool) {
	switch s.mode & unix.S_IFMT {
	case unix.S_IFREG:
		return fs.FileMode(s.mode & 0o777), true
	case unix.S_IFDIR:
		return fs.ModeDir | fs.FileMode(s.mode&0o777), true
	case unix.S_IFLNK:
		return fs.ModeSymlink | 0o777, true
	}
	return 0, false
}
