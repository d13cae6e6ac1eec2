package workspace

import (
	"encoding/hex"
	"io/fs"
	"time"
)

// Digest is a SHA-256 checksum.
type Digest [32]byte

// String is lower-case hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Entry is one file of a manifest: a regular file, a symlink, or a directory.
type Entry struct {
	// Path is relative, slash-separated, clean, without "..": any bytes but NUL.
	Path string
	// Mode has the type (0, fs.ModeSymlink, fs.ModeDir) and permission bits; those of
	// symlinks are 0777.
	Mode fs.FileMode
	// Size is that of the contents, or of a symlink's target; 0 of directories.
	Size int64
	// Modified is the time of the last change, in nanoseconds since 1970; of
	// directories it is 0 and not kept. It does not belong to the version.
	Modified int64
	// Sum is the checksum of the contents, or of a symlink's target; zero of
	// directories.
	Sum Digest

	at place // where the contents are, in a filesystem
}

// ModTime is Modified as a time.
func (e Entry) ModTime() time.Time { return time.Unix(0, e.Modified) }

// Version is the file's version: the hexadecimal checksum of its contents (U64).
func (e Entry) Version() string { return e.Sum.String() }

// same reports whether two entries are equal but for their times.
func (e Entry) same(o Entry) bool {
	return e.Path == o.Path && e.Mode == o.Mode && e.Size == o.Size && e.Sum == o.Sum
}

// Manifest lists a tree. It does not change once it is made.
type Manifest struct {
	entries []Entry // sorted by Path, bytewise; parents are listed
	version string
	bytes   int64
}

// Version is the hexadecimal checksum over paths, modes and contents (U64).
func (m *Manifest) Version() string { return m.version }

// Len is how many entries there are, directories included.
func (m *Manifest) Len() int { return len(m.entries) }

// Bytes is the size of all contents.
func (m *Manifest) Bytes() int64 { return m.bytes }
