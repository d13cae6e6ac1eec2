package changes

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/files"
	"tandemux/host/git"
	"tandemux/host/params"
	"tandemux/internal/fileuri"
)

// read gives what a file of a changeset has or had.
func (cs *Changes) read(ctx context.Context, uri ahp.URI, encoding string) (any, error) {
	var t Tree
	var d git.FileDiff
	now := false
	cs.Core.Locked(func(core.Tx) { t, d, now = cs.named(uri) })
	if t == nil {
		return nil, ahp.NotFound("files: there is no %q", params.Clip(uri))
	}
	name := d.Path
	if !now && d.From != "" {
		name = d.From
	}
	// The directory's: a link that leads elsewhere is a file as well.
	if err := cs.Files.Check(fileuri.Of(filepath.Dir(filepath.Join(t.Top(), name))), false); err != nil {
		return nil, err
	}
	var data []byte
	var err error
	if now {
		data, err = readLink(t.Top(), name)
	} else {
		ctx, cancel := context.WithTimeout(ctx, diffTime)
		defer cancel()
		data, err = t.Blob(ctx, d.Old.ID, maxBlob)
	}
	if err != nil {
		return nil, ahp.Conflict("read %q: %s", params.Clip(uri), clean(err))
	}
	return files.Contents(name, data, encoding)
}

func readLink(top, name string) ([]byte, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	target, err := root.Readlink(name)
	return []byte(target), err
}

// named finds what a URI of a content means: SET/OBJECT/NAME. now says that it is what the
// file has, and no object that git has.
func (cs *Changes) named(uri ahp.URI) (t Tree, d git.FileDiff, now bool) {
	rest, last := cutLast(uri)
	channel, id := cutLast(rest)
	name, err := url.PathUnescape(last)
	s := cs.sets[channel]
	if err != nil || s == nil || id == "" {
		return nil, d, false
	}
	for _, d := range s.files {
		was := d.Path
		if d.From != "" {
			was = d.From
		}
		switch {
		case d.Old.ID == id && d.Old.Mode != git.ModeModule && filepath.Base(was) == name:
			return s.tree, d, false
		case d.New.ID == id && d.New.Mode == git.ModeLink && filepath.Base(d.Path) == name:
			return s.tree, d, true
		}
	}
	return nil, d, false
}

// cutLast cuts at the last slash.
func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i+1:]
}
