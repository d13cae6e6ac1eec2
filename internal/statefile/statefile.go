package statefile

import (
	"encoding/json"
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
func Write(path string, data []byte) error { return replace(path, data, 0o600, true) }

// WriteAs is Write for a file of another mode.
func WriteAs(path string, data []byte, mode fs.FileMode) error {
	return replace(path, data, mode, true)
}

// Replace is Write for what the machine's end takes along, as all in a runtime directory: it
// does not wait for a disk.
func Replace(path string, data []byte) error { return replace(path, data, 0o600, false) }

func replace(path string, data []byte, mode fs.FileMode, sync bool) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.new")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && mode != 0o600 {
		err = f.Chmod(mode)
	}
	if err == nil && sync {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Open is os.OpenFile for a file that is nobody else's to read, without following a link.
// One that others may read is closed to them, and one that they may write is refused.
func Open(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		err = fmt.Errorf("%s is a symbolic link: move it away", path)
	}
	if err != nil {
		return nil, err
	}
	if err := private(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s %w", path, err)
	}
	return f, nil
}

func private(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("is not a regular file: move it away")
	}
	if err := secure(info, true); err != nil {
		return fmt.Errorf("%w%s", err, fix(info, f.Name()))
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := f.Chmod(0o600); err != nil {
			return fmt.Errorf("can't be closed to others: %w", err)
		}
	}
	return nil
}

// Read reads a file as Open opens it.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return all(f, most)
}

func all(f *os.File, most int64) ([]byte, error) {
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if int64(len(b)) > most {
		return nil, fmt.Errorf("%s is larger than %d bytes", f.Name(), most)
	}
	return b, err
}

// ReadSecret reads a file that the person has made and keeps from others, which is not closed
// to them unasked: somebody may have read it.
func ReadSecret(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file", path)
	case secure(info, true) != nil || info.Mode().Perm()&0o077 != 0:
		err = fmt.Errorf("others can read %s: chmod 600 it", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return all(f, most)
}

// ReadJSON reads a file as Read does, and what it has as JSON.
func ReadJSON(path string, most int64, to any) error {
	text, err := Read(path, most)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// WriteJSON is Write of a value as JSON.
func WriteJSON(path string, v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		err = Write(path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
