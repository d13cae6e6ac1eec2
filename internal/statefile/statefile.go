package statefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Full reports whether an error is that there is no room: of what the host
// writes to its state directory nothing is worth more than terminals.
func Full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Unwritable reports whether an error is that the state directory takes nothing: it
// is full, read-only, not this user's, or can't be made. Terminals go on without.
func Unwritable(err error) bool {
	return Full(err) || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)
}

// Write replaces a file of the state directory, 0600, so that a crash
// leaves the old or the new contents.
func Write(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.new")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Read reads a file that is nobody else's to read; one that others may read is closed to
// them, and one that they may write is refused.
func Read(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, errors.New("it is a symbolic link")
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > most:
		return nil, fmt.Errorf("it is larger than %d bytes", most)
	}
	if err := secure(info, true); err != nil {
		return nil, fmt.Errorf("it %w%s", err, fix(info, path))
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := f.Chmod(0o600); err != nil {
			return nil, fmt.Errorf("close it to others: %w", err)
		}
	}
	return io.ReadAll(io.LimitReader(f, most))
}
