package workspace

import (
	"context"
	"io"
)

// Tree is a stored filesystem.
type Tree struct {
	store *Store
	id    string
}

// NewTree makes a filesystem of a directory's files; dir empty: an empty one. One of
// this id that is there already is an error (ErrConflict).
func (s *Store) NewTree(ctx context.Context, id, dir string) (*Tree, error) {
	return nil, failf(ErrUnsupported, "make a filesystem")
}

// Tree gives a filesystem; ErrNotFound where there is none.
func (s *Store) Tree(id string) (*Tree, error) {
	return nil, failf(ErrNotFound, "there is no filesystem %s", clip(id))
}

// Trees lists the ids of all filesystems, sorted.
func (s *Store) Trees() ([]string, error) { return nil, nil }

// RemoveTree removes a filesystem. Tasks that work on it keep their copies.
func (s *Store) RemoveTree(ctx context.Context, id string) error { return nil }

// ID is the filesystem's.
func (t *Tree) ID() string { return t.id }

// Manifest is the current one.
func (t *Tree) Manifest() (*Manifest, error) { return nil, nil }

// ListQuery selects entries (U60).
type ListQuery struct {
	Dir       string // a directory; empty: the root
	Recursive bool   // with all below
	MIME      string // of files, "text/markdown" or "text/*"; empty: all
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
func (t *Tree) List(q ListQuery) (Listing, error) { return Listing{}, nil }

// Stat gives one entry (U60); ErrNotFound where there is none.
func (t *Tree) Stat(path string) (Entry, error) { return Entry{}, nil }

// Read opens a file (U61). What is read is of the version that the Entry says, also
// when it is replaced meanwhile; contents that are damaged end with ErrDamaged.
func (t *Tree) Read(path string) (Entry, io.ReadCloser, error) { return Entry{}, nil, nil }

// WriteMode is how a file is written (U62).
type WriteMode string

// The modes.
const (
	Overwrite   WriteMode = "overwrite" // also the empty one
	Conditional WriteMode = "conditional"
)

// Write is a request to write one file (U62–U66).
type Write struct {
	Path string
	Mode WriteMode
	// Base is the filesystem's version that the caller knows; Conditional needs it.
	Base string
	// Expected is the file's version that the caller knows, to replace it.
	Expected string
	// CreateOnly is "*", to create a file that must not be there.
	CreateOnly string
	// Digest, if not empty, is what the contents must have: "sha256:HEX" or HEX.
	Digest string
	// Key is the Idempotency-Key; empty: none. At most 255 bytes.
	Key string
	// Executable sets the permission bits for it; a file that is there keeps its own.
	Executable bool
	// Body is the contents; at most Limits.FileSize.
	Body io.Reader
}

// Written is the answer to a Write.
type Written struct {
	Path    string `json:"path"`
	Created bool   `json:"created"`         // 201 instead of 200
	Version string `json:"archive_version"` // of the filesystem
	File    string `json:"file_version"`
	Size    int64  `json:"size"`
	Replay  bool   `json:"-"` // the original answer to an earlier request with the same key
}

// Write writes one file. Errors are those of U65: ErrInvalid (400), ErrNotFound (404),
// ErrConflict (409), ErrMismatch (412), ErrPrecondition (428); besides ErrTooLarge and
// ErrFull. The key is remembered in the manifest, by the same rename that makes the
// write happen; the last 1000 are.
func (t *Tree) Write(ctx context.Context, w Write) (Written, error) { return Written{}, nil }

// Remove removes a file, or a directory with all in it. Base may be empty.
func (t *Tree) Remove(ctx context.Context, path, base string) (version string, err error) {
	return "", nil
}

// Push replaces the tree by a directory's files (U109); unchanged ones are not read.
func (t *Tree) Push(ctx context.Context, dir string) (Synced, error) { return Synced{}, nil }

// Pull writes the tree into a directory (U109).
func (t *Tree) Pull(ctx context.Context, out string, o PullOptions) (Pulled, error) {
	return Pulled{}, nil
}

// WriteArchive writes the current version as tar.zst (U67) and gives that version.
func (t *Tree) WriteArchive(ctx context.Context, w io.Writer) (version string, err error) {
	return "", nil
}

// ReadArchive replaces the tree by a tar.zst (or plain tar, or tar.gz). Base may be
// empty; an archive with a path that climbs, a device, or a link that leads out is
// refused as a whole (ErrInvalid).
func (t *Tree) ReadArchive(ctx context.Context, r io.Reader, base string) (Synced, error) {
	return Synced{}, nil
}

// place is where contents are.
type place struct {
	pack   uint64
	offset int64
}
