//go:build !linux

package filetree

import (
	"errors"
	"io"
	"os"
)

// copyContents makes dst, which is empty, the contents of src.
func copyContents(dst, src *os.File, size int64) error {
	_, err := io.CopyN(dst, src, size)
	if errors.Is(err, io.EOF) { // it was cut meanwhile
		return nil
	}
	return err
}
