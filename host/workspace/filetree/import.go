package filetree

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// Take reads the files of a directory that was scanned whose contents are not known, or
// not in packs yet; without packs nothing is stored. What vanishes meanwhile is left out
// of the scan, what can't be read is skipped.
func Take(ctx context.Context, top *Folder, seen *Scanned, to *packs) error {
	var mu sync.Mutex
	var skipped []string
	dropped := map[string]bool{}
	missing := func(i int) (string, bool) {
		f := &seen.Files[i]
		return f.Path, f.Mode.IsRegular() && (f.Sum == Digest{} || to != nil && !to.known(f))
	}
	err := byDirectory(ctx, top, len(seen.Files), missing, func(d *Folder, err error, i int, buf []byte) error {
		f := &seen.Files[i]
		if err == nil {
			err = f.take(d, to, buf)
		}
		if !Absent(err) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, ErrIrregular) {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		dropped[f.Path] = true
		if !Absent(err) {
			skipped = append(skipped, f.Path)
		}
		return nil
	})
	if to != nil {
		err = errors.Join(err, to.close())
	}
	for _, p := range skipped {
		seen.skip(p)
	}
	seen.Files = slices.DeleteFunc(seen.Files, func(f Entry) bool { return dropped[f.Path] })
	return err
}

// take reads a file as it is now.
func (f *Entry) take(d *Folder, to *packs, buf []byte) error {
	_, name := Parent(f.Path)
	file, st, err := d.open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	f.Stamp, f.Modified = st, st.mtime
	f.Mode, _ = st.fileMode()
	if to == nil {
		f.Sum, f.Size, err = SumFile(file)
	} else {
		err = to.add(f, file, noLimits.FileSize, buf)
	}
	return err
}

// Absent reports whether an error says that something is not there, or no longer what
// it was: a symlink, a file or a FIFO without a writer is in its place.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.EMLINK)
}
