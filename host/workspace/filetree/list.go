package filetree

import (
	"cmp"
	"io"
	"io/fs"
	"path"
	"strings"
)

// ListQuery selects entries (U60).
type ListQuery struct {
	Dir       string // a directory; empty: the root
	Recursive bool   // with all below
	MIME      string // of files, "text/markdown" or "text/*"; empty: all, directories too
	After     string // the Next of the page before; empty: from the start
	Limit     int    // entries of a page, 1 to 1000; 0: 100
}

// Listing is a page of entries, by path.
type Listing struct {
	Version string
	Entries []Entry
	Next    string // empty: that was all
}

// List lists entries of the current version.
func (t *Tree) List(q ListQuery) (Listing, error) {
	m, err := t.Manifest()
	if err != nil {
		return Listing{}, err
	}
	q.Limit = cmp.Or(q.Limit, 100)
	if q.Limit < 0 || q.Limit > 1000 {
		return Listing{}, Failf(ErrInvalid, "limit %d: want 1 to 1000", q.Limit)
	}
	if q.Dir != "" {
		if err := CheckPath(q.Dir); err != nil {
			return Listing{}, err
		}
		if d, ok := m.Find(q.Dir); !ok || !d.Mode.IsDir() {
			return Listing{}, Failf(ErrNotFound, "there is no directory %q", Clip(q.Dir))
		}
	}
	out := Listing{Version: m.version, Entries: []Entry{}}
	for i := range m.Entries {
		e := &m.Entries[i]
		if q.After != "" && e.Path <= q.After || e.Path == q.Dir || !Under(e.Path, q.Dir) {
			continue
		}
		if dir, _ := Parent(e.Path); !q.Recursive && dir != q.Dir {
			continue
		}
		if fits, _ := path.Match(q.MIME, e.MIME()); q.MIME != "" && !fits {
			continue
		}
		if len(out.Entries) == q.Limit {
			out.Next = out.Entries[q.Limit-1].Path
			break
		}
		out.Entries = append(out.Entries, *e)
	}
	return out, nil
}

// Stat gives one entry (U60); ErrNotFound where there is none.
func (m *Manifest) Stat(path string) (Entry, error) {
	if err := CheckPath(path); err != nil {
		return Entry{}, err
	}
	e, ok := m.Find(path)
	if !ok {
		return Entry{}, Failf(ErrNotFound, "%q is not in the filesystem", Clip(path))
	}
	return *e, nil
}

// Read opens a file (U61); of a symlink it gives the target. What is read is of the
// version that the Entry says, also when it is replaced meanwhile; contents that are
// damaged end with ErrDamaged.
func (t *Tree) Read(path string) (Entry, io.ReadCloser, error) {
	v, err := t.View()
	if err != nil {
		return Entry{}, nil, err
	}
	e, err := v.Stat(path)
	if err == nil && e.Mode.IsDir() {
		err = Failf(ErrInvalid, "%q is a directory", Clip(path))
	}
	if err != nil {
		v.Close()
		return Entry{}, nil, err
	}
	if e.IsLink() {
		v.Close()
		return e, io.NopCloser(strings.NewReader(e.Target)), nil
	}
	r, err := v.Source().Read(&e)
	if err != nil {
		v.Close()
		return Entry{}, nil, err
	}
	return e, &reading{r, v}, nil
}

// reading is a file's contents, which stay until it is closed.
type reading struct {
	io.ReadCloser
	view *View
}

func (r *reading) Close() error {
	r.view.Close()
	return r.ReadCloser.Close()
}

// mimeTypes are what names say; the system's table differs from machine to machine.
var mimeTypes = map[string]string{
	".c": "text/x-c", ".cc": "text/x-c++", ".conf": "text/plain", ".cpp": "text/x-c++", ".css": "text/css", ".csv": "text/csv",
	".diff": "text/x-diff", ".gif": "image/gif", ".go": "text/x-go", ".gz": "application/gzip", ".h": "text/x-c", ".htm": "text/html",
	".html": "text/html", ".ini": "text/plain", ".java": "text/x-java", ".jpeg": "image/jpeg", ".jpg": "image/jpeg",
	".js": "text/javascript", ".json": "application/json", ".jsonl": "application/jsonl", ".jsx": "text/javascript", ".log": "text/plain",
	".md": "text/markdown", ".mjs": "text/javascript", ".mod": "text/plain", ".patch": "text/x-diff", ".pdf": "application/pdf",
	".png": "image/png", ".proto": "text/plain", ".py": "text/x-python", ".rb": "text/x-ruby", ".rs": "text/x-rust", ".sh": "text/x-shellscript",
	".sql": "application/sql", ".sum": "text/plain", ".svg": "image/svg+xml", ".tar": "application/x-tar", ".toml": "application/toml",
	".ts": "text/typescript", ".tsx": "text/typescript", ".txt": "text/plain", ".wasm": "application/wasm", ".webp": "image/webp",
	".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml", ".zip": "application/zip", ".zst": "application/zstd",
}

// MIME is an entry's type, by its name.
func (e Entry) MIME() string {
	switch {
	case e.Mode.IsDir():
		return "inode/directory"
	case e.Mode&fs.ModeSymlink != 0:
		return "inode/symlink"
	}
	return cmp.Or(mimeTypes[strings.ToLower(path.Ext(e.Path))], "application/octet-stream")
}
