//go:build !linux

package journal

import (
	"errors"
	"os"
)

func memoryFile(int) (*os.File, error) { return nil, errors.ErrUnsupported }

func sealed(_ int, named bool) bool { return !named }

// allocate writes zeros, as a sparse file would fault on a full disk.
func allocate(f *os.File, size int) error {
	zeros := make([]byte, 1<<20)
	for size > 0 {
		n, err := f.Write(zeros[:min(size, len(zeros))])
		if err != nil {
			return err
		}
		size -= n
	}
	return nil
}

// remove: there is no way to free a part of a file's memory.
func remove([]byte) {}
