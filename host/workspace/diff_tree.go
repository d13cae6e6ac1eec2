package workspace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"tandemux/host/workspace/filetree"

	"github.com/rogpeppe/go-internal/diff"
)

// diffTree compares the workspace with what it was made of.
func (w *Workspace) diffTree(ctx context.Context, r *record, o DiffOptions) (Diff, error) {
	c, err := w.against(ctx, r)
	if err != nil {
		return Diff{}, err
	}
	defer c.close()
	d := Diff{Base: c.base.Version(), Left: c.local.Skipped}
	for _, p := range c.pairs {
		if len(o.Paths) > 0 && !slices.ContainsFunc(o.Paths, func(dir string) bool { return filetree.Under(p.path, dir) }) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return Diff{}, err
		}
		f, err := c.file(p, o.Text)
		if err != nil {
			return Diff{}, err
		}
		if f != nil {
			d.Files = append(d.Files, *f)
		}
	}
	d.sum()
	return d, nil
}

// pair is a path that is not what it was; either may be nil.
type pair struct {
	path     string
	old, now *filetree.Entry
}

// comparison is a workspace beside what it was made of.
type comparison struct {
	base  *filetree.View
	top   *filetree.Folder
	local *filetree.Scanned
	pairs []pair // by path
}

func (c *comparison) close() {
	c.base.Close()
	c.top.Close()
}

// against scans the workspace and finds what changed.
func (w *Workspace) against(ctx context.Context, r *record) (*comparison, error) {
	t, err := w.store.Tree(r.Filesystem)
	if err != nil {
		return nil, err
	}
	top, err := r.open()
	if err != nil {
		return nil, err
	}
	v, err := t.ViewOf(filetree.PinName(w.id))
	if err != nil {
		top.Close()
		return nil, err
	}
	c := &comparison{base: v, top: top}
	if c.local, err = w.contents(ctx, top, w.loadBase().Index); err != nil {
		c.close()
		return nil, err
	}
	filetree.WalkThree(v.Entries, c.local.Entries(), nil, func(path string, old, now, _ *filetree.Entry) {
		if !filetree.Equal(old, now) && (now != nil || !c.local.Hidden(path)) {
			c.pairs = append(c.pairs, pair{path, old, now})
		}
	})
	return c, nil
}

// maxText bounds a file whose lines are compared, in bytes.
const maxText = 1 << 20

// file compares one; directories are no files.
func (c *comparison) file(p pair, text io.Writer) (*FileDiff, error) {
	old, now := p.old, p.now
	if old != nil && old.Mode.IsDir() {
		old = nil
	}
	if now != nil && now.Mode.IsDir() {
		now = nil
	}
	if old == nil && now == nil {
		return nil, nil //nolint:nilnil // nothing to show
	}
	f := &FileDiff{Path: p.path, Status: status(old, now)}
	var a, b []byte
	var err error
	if f.Status != "mode" {
		if a, err = textOf(c.base.Source(), old); err == nil {
			b, err = textOf(filetree.Source{Top: c.top}, now)
		}
		if err != nil {
			return nil, err
		}
		f.Binary = isBinary(a) || isBinary(b) || large(old) || large(now)
	}
	var hunks []byte
	if !f.Binary && f.Status != "mode" {
		hunks = hunksOf(diff.Diff("a", a, "b", b))
		f.Added, f.Deleted = count(hunks)
	}
	if text == nil {
		return f, nil
	}
	_, err = text.Write(append(header(p.path, old, now, f, len(hunks) > 0), hunks...))
	return f, err
}

func status(old, now *filetree.Entry) string {
	switch {
	case old == nil:
		return "added"
	case now == nil:
		return "deleted"
	case old.Mode.Type() != now.Mode.Type():
		return "type"
	case old.Sum == now.Sum:
		return "mode"
	}
	return "modified"
}

func large(e *filetree.Entry) bool { return e != nil && e.Size > maxText }

// isBinary is git's guess.
func isBinary(b []byte) bool { return bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 }

// textOf gives contents, of large files nothing, nor of what went meanwhile.
func textOf(from filetree.Source, e *filetree.Entry) ([]byte, error) {
	switch {
	case e == nil || large(e):
		return nil, nil
	case e.IsLink():
		return []byte(e.Target), nil
	}
	r, err := from.Read(e)
	if err != nil {
		if from.Stored {
			return nil, err
		}
		return nil, nil //nolint:nilerr // it went
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, maxText+1))
}

// hunksOf cuts the three lines of names off.
func hunksOf(b []byte) []byte {
	for range 3 {
		_, b, _ = bytes.Cut(b, []byte("\n"))
	}
	return b
}

func count(hunks []byte) (added, deleted int) {
	for line := range bytes.SplitSeq(hunks, []byte("\n")) {
		switch {
		case len(line) == 0:
		case line[0] == '+':
			added++
		case line[0] == '-':
			deleted++
		}
	}
	return added, deleted
}

// header is what git writes above hunks, so that `git apply` takes it.
func header(path string, old, now *filetree.Entry, f *FileDiff, hunks bool) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git %s %s\n", quotePath("a/"+path), quotePath("b/"+path))
	a, z := quotePath("a/"+path), quotePath("b/"+path)
	switch {
	case old == nil:
		fmt.Fprintf(&b, "new file mode %s\n", gitMode(now))
		a = "/dev/null"
	case now == nil:
		fmt.Fprintf(&b, "deleted file mode %s\n", gitMode(old))
		z = "/dev/null"
	case gitMode(old) != gitMode(now):
		fmt.Fprintf(&b, "old mode %s\nnew mode %s\n", gitMode(old), gitMode(now))
	}
	switch {
	case f.Binary:
		fmt.Fprintf(&b, "Binary files %s and %s differ\n", a, z)
	case hunks:
		fmt.Fprintf(&b, "--- %s\n+++ %s\n", a, z)
	}
	return []byte(b.String())
}

func gitMode(e *filetree.Entry) string {
	switch {
	case e.IsLink():
		return "120000"
	case e.Mode&0o111 != 0:
		return "100755"
	}
	return "100644"
}

// quotePath writes a path as git does where it has control characters, quotes,
// backslashes, or bytes that are no UTF-8.
func quotePath(p string) string {
	plain := strings.ToValidUTF8(p, "") == p
	for i := 0; plain && i < len(p); i++ {
		plain = p[i] >= ' ' && p[i] != 0x7f && p[i] != '"' && p[i] != '\\'
	}
	if plain {
		return p
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(p) {
		switch c := p[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
