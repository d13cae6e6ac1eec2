package filetree

import (
	"context"
	"io/fs"
)

// CopyAlong copies a file, or a directory with all in it, where nothing is yet.
func CopyAlong(ctx context.Context, l Limits, from, to *Folder, path string) error {
	if there, err := Standing(to, path); err != nil || there != nil {
		return err
	}
	e, err := Standing(from, path)
	if err != nil || e == nil || e.Mode == fs.ModeIrregular {
		return err
	}
	dir, name := Parent(path)
	d, err := to.Grow(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if !e.Mode.IsDir() {
		_, err := Source{Top: from}.CopyTo(d, name, e, make([]byte, Small))
		return err
	}
	into, err := d.Grow(name)
	if err != nil {
		return Full(err)
	}
	defer into.Close()
	at, err := from.Walk(path)
	if err != nil {
		return err
	}
	defer at.Close()
	seen, err := Scan(ctx, at, l, nil, nil)
	if err != nil {
		return err
	}
	return LayOut(ctx, Source{Top: at}, into, seen.Files)
}
