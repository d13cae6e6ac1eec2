package keeper

import (
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

// maxStored bounds stored files: a journal for each child and each layout, and some more.
const maxStored = 2048

// stored is a file that a host left for its successor. The keeper holds its descriptor and never
// reads it. keeper.mu guards it.
type stored struct {
	fd   int
	size int64
}

// spareFDs is how many descriptors children and files leave free, so that a host can still connect
// to a full keeper, list and adopt.
const spareFDs = 32

// spare refuses a new descriptor that leaves too few free. The kernel assigns the lowest free
// number, so all below fd are in use.
func spare(fd int) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	if uint64(fd)+spareFDs < limit.Cur {
		return nil
	}
	return because(ErrFull, "the keeper has almost as many files open as it may (%d): close some terminals, or raise the limit (ulimit -n) before the keeper starts", limit.Cur)
}

// store keeps the descriptor that came with the request, and replaces an earlier one of this name.
func (s *session) store(r *request) (message, error) {
	if !r.File {
		return message{}, because(ErrInvalid, "store %q: the request has no descriptor", r.Name)
	}
	fd, err := s.file(r)
	if err != nil {
		return message{}, err
	}
	if err = s.keep(r, fd); err != nil {
		unix.Close(fd)
	}
	return message{}, err
}

// file is the descriptor that comes with a request, -1 where none does.
func (s *session) file(r *request) (int, error) {
	if !r.File {
		return -1, nil
	}
	fd, ok := s.wire.takeFile()
	if !ok {
		return -1, because(ErrFull, "%s: its descriptor did not arrive; the keeper may have too many files open", r.Op)
	}
	return fd, nil
}

// keep stores fd, and owns it unless it fails.
func (s *session) keep(r *request, fd int) error {
	k, name := s.keeper, r.Name
	if name == "" || len(name) > maxName {
		return because(ErrInvalid, "store a file: its name must have 1 to %d bytes, not %d", maxName, len(name))
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("store %q: %w", name, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return because(ErrInvalid, "store %q: it is not a memory file or a plain file", name)
	}
	if err := spare(fd); err != nil {
		return fmt.Errorf("store %q: %w", name, err)
	}
	if err := s.enter(r); err != nil {
		return err
	}
	defer k.mu.Unlock()
	old := k.files[name]
	if old == nil && len(k.files) >= maxStored {
		return because(ErrFull, "store %q: %d files are kept, which is the limit", name, maxStored)
	}
	k.files[name] = &stored{fd: fd, size: st.Size}
	if old != nil {
		unix.Close(old.fd)
	}
	return nil
}

func (s *session) fetch(r *request) (message, error) {
	k := s.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.files[r.Name]
	if f == nil {
		return message{}, because(ErrUnknown, "the keeper has no file %q", r.Name)
	}
	fd, err := duplicate(f.fd)
	if err != nil {
		return message{}, fmt.Errorf("hand over the file %q: %w", r.Name, err)
	}
	return message{File: true, fd: fd}, nil
}

func (s *session) listFiles(*request) (message, error) {
	k := s.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	m := message{}
	for _, name := range slices.Sorted(maps.Keys(k.files)) {
		m.Files = append(m.Files, FileInfo{Name: name, Size: k.files[name].size})
	}
	return m, nil
}

func (k *keeper) discard(r *request) error {
	if f := k.files[r.Name]; f != nil {
		unix.Close(f.fd)
		delete(k.files, r.Name)
	}
	return nil
}

// dropFiles closes all stored files, when no host can fetch them any more.
func (k *keeper) dropFiles() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range k.files {
		unix.Close(f.fd)
	}
	clear(k.files)
}
