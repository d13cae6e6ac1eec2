package filetree

import (
	"context"
	"errors"
	"io/fs"
	"os"
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

// Take reads the files of a directory that was scanned whose contents are not known, or
// not in packs yet; without packs nothing is stored. What vanishes meanwhile is left out
// of the scan, what can't be read is skipped.
func Take(ctx context.Context, top *Folder, seen *Scanned, to *packs) error {
	im := &importer{to: to, dropped: map[string]bool{}}
	missing := func(i int) (string, bool) {
		f := &seen.Files[i]
		return f.Path, f.Mode.IsRegular() && (!f.Known || im.to != nil && !im.to.known(&f.Entry))
	}
	err := byDirectory(ctx, top, len(seen.Files), missing, func(d *Folder, err error, i int, buf []byte) error {
		f := &seen.Files[i]
		var file *os.File
		if err == nil {
			_, name := Parent(f.Path)
			file, f.Stamp, err = d.open(name)
		}
		if err == nil {
			defer file.Close()
			return im.file(file, f, buf)
		}
		if !Absent(err) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, ErrIrregular) {
			return err
		}
		im.mu.Lock()
		defer im.mu.Unlock()
		im.dropped[f.Path] = true
		if !Absent(err) {
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
	seen.Files = slices.DeleteFunc(seen.Files, func(f Found) bool { return im.dropped[f.Path] })
	return err
}

func (im *importer) file(file *os.File, f *Found, buf []byte) (err error) {
	f.Modified = f.Stamp.mtime
	f.Mode, _ = f.Stamp.fileMode()
	if im.to == nil {
		f.Sum, f.Size, err = SumFile(file)
	} else {
		err = im.to.add(&f.Entry, file, noLimits.FileSize, buf)
	}
	f.Known = err == nil
	return err
}

// Absent reports whether an error says that something is not there, or no longer what
// it was.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || isSwapped(err)
}
