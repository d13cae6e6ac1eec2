package filetree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// RemoveTree removes a directory of the store's with all in it, also of directories that
// their owner closed to himself. What is not there is no error.
func RemoveTree(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	above, name := filepath.Split(path)
	root, err := os.OpenRoot(above)
	if err != nil {
		return err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), name, func(at string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			err = root.Chmod(at, 0o700)
		}
		return err
	})
	return errors.Join(err, os.RemoveAll(path))
}

// Keyed is a lock for each name. Those that were asked for once stay.
type Keyed struct{ locks sync.Map }

// Lock waits for a name and gives what unlocks it.
func (k *Keyed) Lock(name string) (unlock func()) {
	l, _ := k.locks.LoadOrStore(name, &sync.Mutex{})
	m := l.(*sync.Mutex) //nolint:forcetypeassert // there is nothing else in it
	m.Lock()
	return m.Unlock
}

// ReplaceFile writes a file of the store's own: the old contents or the new are there,
// whatever happens. With sync they outlast a power cut.
func ReplaceFile(file string, b []byte, sync bool) error {
	tmp := file + ".new"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return Full(err)
	}
	_, err = f.Write(b)
	if err == nil && sync {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp, file)
	}
	if err != nil {
		_ = os.Remove(tmp)
		return Full(err)
	}
	return nil
}

// ReadOptional reads a file that need not be there.
func ReadOptional(file string) ([]byte, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}
