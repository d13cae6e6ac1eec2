package filetree

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// copyContents makes dst, which is empty, the contents of src: sharing blocks where
// the file system can, and leaving holes holes.
func copyContents(dst, src *os.File, size int64) error {
	if unix.IoctlFileClone(int(dst.Fd()), int(src.Fd())) == nil {
		return nil
	}
	in := int(src.Fd())
	for at := int64(0); at < size; {
		data, err := unix.Seek(in, at, unix.SEEK_DATA)
		switch {
		case errors.Is(err, unix.ENXIO): // nothing but a hole
			return dst.Truncate(size)
		case err != nil:
			data = at // it has no notion of holes
		}
		hole, err := unix.Seek(in, data, unix.SEEK_HOLE)
		if err != nil || hole <= data {
			hole = size
		}
		if _, err := src.Seek(data, io.SeekStart); err != nil {
			return err
		}
		if _, err := dst.Seek(data, io.SeekStart); err != nil {
			return err
		}
		n, err := io.CopyN(dst, src, min(hole, size)-data)
		if errors.Is(err, io.EOF) { // it was cut meanwhile
			return dst.Truncate(data + n)
		}
		if err != nil {
			return err
		}
		at = hole
	}
	return dst.Truncate(size)
}
