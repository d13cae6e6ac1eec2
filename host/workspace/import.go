package workspace

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
)

// importer completes what a scan knows of contents, and stores them.
type importer struct {
	to *packs // nil: they are not stored

	mu      sync.Mutex
	skipped []string
	dropped map[string]bool
}

// take reads the files of a directory that was scanned whose contents are not known, or
// not in packs yet; without packs nothing is stored. What vanishes meanwhile is left out
// of the scan, what can't be read is skipped.
func take(ctx context.Context, top *folder, seen *scanned, to *packs) error {
	im := &importer{to: to, dropped: map[string]bool{}}
	missing := func(i int) (string, bool) {
		f := &seen.files[i]
		return f.Path, f.Mode.IsRegular() && (!f.known || im.to != nil && !im.to.known(&f.Entry))
	}
	err := byDirectory(ctx, top, len(seen.files), missing, func(d *folder, err error, i int, buf []byte) error {
		f := &seen.files[i]
		if err == nil {
			err = im.file(d, f, buf)
		}
		if !absent(err) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, errIrregular) {
			return err
		}
		im.mu.Lock()
		defer im.mu.Unlock()
		im.dropped[f.Path] = true
		if !absent(err) {
			im.skipped = append(im.skipped, f.Path)
		}
		return nil
	})
	if im.to != nil {
		err = errors.Join(err, im.to.close())
	}
	for _, p := range im.skipped {
		seen.skip(p)
	}
	seen.files = slices.DeleteFunc(seen.files, func(f found) bool { return im.dropped[f.Path] })
	return err
}

func (im *importer) file(d *folder, f *found, buf []byte) error {
	_, name := parent(f.Path)
	file, st, err := d.open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	f.stamp, f.Modified = st, st.mtime
	f.Mode, _ = st.fileMode()
	if im.to == nil {
		f.Sum, f.Size, err = sumFile(file)
	} else {
		err = im.to.add(&f.Entry, file, noLimits.FileSize, buf)
	}
	f.known = err == nil
	return err
}

// absent reports whether an error says that something is not there, or no longer what
// it was.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || isSwapped(err)
}
