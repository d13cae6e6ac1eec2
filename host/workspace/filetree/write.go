package filetree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"
)

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

// maxKey bounds an Idempotency-Key, in bytes.
const maxKey = 255

// check refuses what no state of the filesystem would make right.
func (w *Write) check() error {
	if err := CheckPath(w.Path); err != nil {
		return err
	}
	if len(w.Key) > maxKey {
		return Failf(ErrInvalid, "the Idempotency-Key has %d bytes; it may have %d", len(w.Key), maxKey)
	}
	if w.Digest != "" && !isDigest(strings.TrimPrefix(w.Digest, "sha256:")) {
		return Failf(ErrInvalid, "the digest %q is not sha256: and 64 hexadecimal digits", Clip(w.Digest))
	}
	for name, v := range map[string]string{"baseVersion": w.Base, "expectedVersion": w.Expected} {
		if v != "" && !isDigest(v) {
			return Failf(ErrInvalid, "%s: %q is no version, which has 64 hexadecimal digits", name, Clip(v))
		}
	}
	switch w.Mode {
	case "", Overwrite:
		if w.Base != "" || w.Expected != "" || w.CreateOnly != "" {
			return Failf(ErrInvalid, "baseVersion, expectedVersion and createOnly need writeMode=conditional")
		}
		return nil
	case Conditional:
	default:
		return Failf(ErrInvalid, "writeMode %q: want overwrite or conditional", Clip(string(w.Mode)))
	}
	switch {
	case w.Base == "":
		return Failf(ErrPrecondition, "a conditional write needs baseVersion: the archive_version that you know")
	case w.Expected == "" && w.CreateOnly == "":
		return Failf(ErrPrecondition, "a conditional write needs expectedVersion to replace a file, or createOnly=* to create one")
	case w.Expected != "" && w.CreateOnly != "":
		return Failf(ErrPrecondition, "expectedVersion and createOnly exclude each other: give one")
	case w.CreateOnly != "" && w.CreateOnly != "*":
		return Failf(ErrPrecondition, "createOnly %q: want *", Clip(w.CreateOnly))
	}
	return nil
}

// isDigest reports whether a text is a SHA-256 in hexadecimal digits.
func isDigest(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size
}

// digest tells requests apart: all that a request says, contents included.
func (w *Write) digest(sum Digest) Digest {
	b := []byte{}
	for _, s := range []string{w.Path, string(w.Mode), w.Base, w.Expected, w.CreateOnly} {
		b = appendText(b, s)
	}
	if w.Executable {
		b = append(b, 'x')
	}
	return sumOf(append(b, sum[:]...))
}

// Write writes one file. Errors are those of U65: ErrInvalid (400), ErrNotFound (404),
// ErrConflict (409), ErrMismatch (412), ErrPrecondition (428); besides ErrTooLarge and
// ErrFull. The key is remembered in the manifest, by the same rename that makes the
// write happen: for a day, the last 1000 of them.
func (t *Tree) Write(ctx context.Context, w Write) (Written, error) {
	if err := w.check(); err != nil {
		return Written{}, err
	}
	c, err := t.Prepare()
	if err != nil {
		return Written{}, err
	}
	defer c.End()
	limit := t.store.Limits.FileSize
	body := Entry{Path: w.Path, Mode: 0o644}
	if w.Executable {
		body.Mode = 0o755
	}
	if err := c.Packs.add(&body, &limited{ctx: ctx, r: w.Body, left: limit, limit: limit}, limit, make([]byte, Small)); err != nil {
		return Written{}, err
	}
	if d := strings.TrimPrefix(w.Digest, "sha256:"); d != "" && !strings.EqualFold(d, body.Version()) {
		return Written{}, Failf(ErrInvalid, "the contents have the digest %s, not the one that was given", body.Version())
	}
	if err := c.Begin(""); err != nil {
		return Written{}, err
	}
	now, digest := time.Now(), w.digest(body.Sum)
	body.Modified = now.UnixNano()
	if w.Key != "" {
		if i := slices.IndexFunc(c.answers, func(a answer) bool { return a.Key == w.Key }); i >= 0 && !c.answers[i].stale(now) {
			a := c.answers[i]
			if a.Request != digest {
				return Written{}, Failf(ErrConflict, "this idempotency key was used for another request; use a new one")
			}
			a.Written.Replay = true
			return a.Written, nil
		}
	}
	return c.write(w, body, digest, now)
}

func (c *Changing) write(w Write, e Entry, digest Digest, now time.Time) (Written, error) {
	if w.Mode == Conditional && w.Base != c.version {
		return Written{}, Failf(ErrConflict, "the filesystem is at version %s, not at baseVersion; read it again", c.version)
	}
	old, there := c.Find(w.Path)
	switch {
	case there && old.Mode.IsDir():
		return Written{}, Failf(ErrInvalid, "%q is a directory", Clip(w.Path))
	case w.CreateOnly != "" && there:
		return Written{}, Failf(ErrMismatch, "%q is there already, with version %s", Clip(w.Path), old.Version())
	case w.Expected != "" && !there:
		return Written{}, Failf(ErrMismatch, "%q is not there, so it has not the expectedVersion", Clip(w.Path))
	case w.Expected != "" && old.Version() != w.Expected:
		return Written{}, Failf(ErrMismatch, "%q has version %s, not the expectedVersion; read it again", Clip(w.Path), old.Version())
	}
	if there && old.Mode.IsRegular() {
		e.Mode = old.Mode
	}
	entries, err := c.with(e)
	if err != nil {
		return Written{}, err
	}
	c.answers = slices.DeleteFunc(c.answers, func(a answer) bool { return a.stale(now) || a.Key == w.Key })
	out := Written{Path: w.Path, Created: !there, Version: NewManifest(entries).version, File: e.Version(), Size: e.Size}
	if w.Key != "" {
		c.answers = append(c.answers, answer{w.Key, digest, now.UnixNano(), out})
		c.answers = c.answers[max(0, len(c.answers)-maxAnswers):]
	}
	_, err = c.Commit(entries)
	return out, err
}

// with gives the manifest's entries with one more, or another, and its directories.
func (m *Manifest) with(e Entry) ([]Entry, error) {
	entries := slices.Clone(m.Entries)
	if i, ok := Search(entries, e.Path); ok {
		entries[i] = e
		return entries, nil
	}
	for dir, _ := Parent(e.Path); dir != ""; dir, _ = Parent(dir) {
		if d, ok := m.Find(dir); ok {
			if !d.Mode.IsDir() {
				return nil, Failf(ErrInvalid, "%q is no directory, so nothing can be in it", Clip(dir))
			}
			break
		}
		entries = append(entries, Entry{Path: dir, Mode: fs.ModeDir | 0o755})
	}
	entries = append(entries, e)
	slices.SortFunc(entries, ComparePaths)
	return entries, nil
}

// Remove removes a file, or a directory with all in it. Base may be empty.
func (t *Tree) Remove(path, base string) (version string, err error) {
	if err := CheckPath(path); err != nil {
		return "", err
	}
	c, err := t.Prepare()
	if err != nil {
		return "", err
	}
	defer c.End()
	if err := c.Begin(base); err != nil {
		return "", err
	}
	if _, ok := c.Find(path); !ok {
		return "", Failf(ErrNotFound, "%q is not in the filesystem", Clip(path))
	}
	m, err := c.Commit(slices.DeleteFunc(slices.Clone(c.Entries), func(e Entry) bool { return Under(e.Path, path) }))
	if err != nil {
		return "", err
	}
	return m.version, nil
}

// answer is the answer to a request with a key (U66).
type answer struct {
	Key     string
	Request Digest
	At      int64 // nanoseconds since 1970
	Written Written
}

const (
	maxAnswers = 1000
	answerAge  = 24 * time.Hour
)

func (a *answer) stale(now time.Time) bool { return now.Sub(time.Unix(0, a.At)) > answerAge }

// limited ends with ErrTooLarge behind its limit, and with its context.
type limited struct {
	ctx         context.Context
	r           io.Reader
	left, limit int64
}

func (l *limited) Read(b []byte) (int, error) {
	if err := l.ctx.Err(); err != nil {
		return 0, err
	}
	if int64(len(b)) > l.left+1 {
		b = b[:l.left+1]
	}
	n, err := l.r.Read(b)
	if l.left -= int64(n); l.left < 0 {
		return 0, tooLarge(l.limit)
	}
	return n, err
}
