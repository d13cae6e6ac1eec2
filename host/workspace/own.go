package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// removeTree removes a directory of the store's with all in it.
func removeTree(path string) error {
	dir, name := filepath.Split(path)
	d, err := openFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.close()
	return d.removeAll(name)
}

// keyed is a lock for each name. Those that were asked for once stay.
type keyed struct{ locks sync.Map }

// lock waits for a name and gives what unlocks it.
func (k *keyed) lock(name string) (unlock func()) {
	l, _ := k.locks.LoadOrStore(name, &sync.Mutex{})
	m := l.(*sync.Mutex) //nolint:forcetypeassert // there is nothing else in it
	m.Lock()
	return m.Unlock
}

// replaceFile writes a file of the store's own: the old contents or the new are there,
// whatever happens. With sync they outlast a power cut.
func replaceFile(file string, b []byte, sync bool) error {
	tmp := file + ".new"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return full(err)
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
		return full(err)
	}
	return nil
}

// readOptional reads a file that need not be there.
func readOptional(file string) ([]byte, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}
