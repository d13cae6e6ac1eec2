package travel

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"tandemux/host/workspace/filetree"
)

// The values of Load.Kind.
const (
	Bundle  = "bundle"
	Archive = "archive"
)

// MaxSize bounds a load, in bytes.
const MaxSize = 2 << 30

// limits bound what is unpacked from a load.
var limits = filetree.Limits{Files: 1_000_000, Bytes: 16 << 30, FileSize: 8 << 30}

// Load describes a file that is sent: its kind, size and digest.
type Load struct {
	Kind string `json:"kind"` // bundle or archive
	Size int64  `json:"size"` // in bytes; 0 means that nothing is new and nothing is sent
	// Digest is sha256:HEX of the file.
	Digest string `json:"digest,omitempty"`
	// Ref is the only branch of a bundle, as a full name, and Commit its commit.
	Ref    string `json:"ref,omitempty"`
	Commit string `json:"commit,omitempty"`
	// Source is the directory that it was made from, on the machine where it was made.
	Source string `json:"source,omitempty"`
}

var (
	digestForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`) })
	commitForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`) })
)

const (
	maxRef    = 250
	maxSource = 4096
)

// Check returns an error if a load that another machine describes is not valid.
func (l Load) Check() error {
	bad := func(what, value string) error {
		return filetree.Failf(filetree.ErrInvalid, "files that travel have no %s %q", what, filetree.Clip(value))
	}
	switch {
	case l.Kind != Bundle && l.Kind != Archive:
		return bad("kind", l.Kind)
	case l.Size < 0:
		return bad("size", "less than 0")
	case l.Size > MaxSize:
		return tooLarge(MaxSize)
	case l.Size > 0 && !digestForm().MatchString(l.Digest):
		return bad("digest", l.Digest)
	case l.Kind == Bundle && (!strings.HasPrefix(l.Ref, "refs/heads/") || len(l.Ref) > maxRef || strings.ContainsAny(l.Ref, " :\\\x00\n")):
		return bad("branch", l.Ref)
	case l.Kind == Bundle && !commitForm().MatchString(l.Commit):
		return bad("commit", l.Commit)
	case len(l.Source) > maxSource || !utf8.ValidString(l.Source):
		return bad("source", l.Source)
	}
	return nil
}

func tooLarge(most int64) error {
	return filetree.Failf(filetree.ErrTooLarge, "the files take more than %d MiB on their way: leave large ones out of the repository, name a directory below, or have the host fetch them", most>>20)
}

// meter counts, bounds and checksums what is written.
type meter struct {
	to   io.Writer
	sum  hash.Hash
	size int64
	most int64
}

func newMeter(to io.Writer, most int64) *meter {
	return &meter{to: to, sum: sha256.New(), most: most}
}

func (m *meter) Write(b []byte) (int, error) {
	if m.size += int64(len(b)); m.size > m.most {
		return 0, tooLarge(m.most)
	}
	m.sum.Write(b)
	return m.to.Write(b)
}

func (m *meter) digest() string { return "sha256:" + hex.EncodeToString(m.sum.Sum(nil)) }

// Receive writes a load's contents to a file, and checks size and digest.
func (l Load) Receive(from io.Reader, file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return filetree.Full(err)
	}
	m := newMeter(f, l.Size)
	_, err = io.Copy(m, io.LimitReader(from, l.Size+1))
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil || m.size > l.Size {
		err = l.is(m)
	}
	if err != nil {
		os.Remove(file) //nolint:errcheck // the first error says more
	}
	return filetree.Full(err)
}

// is returns an error unless what was written has the load's size and digest.
func (l Load) is(m *meter) error {
	if m.size != l.Size || m.digest() != l.Digest {
		return filetree.Failf(filetree.ErrInvalid, "the files were damaged on their way: they are not the %d bytes with the digest %s that they should be, so nothing of them was taken", l.Size, l.Digest)
	}
	return nil
}

// Reader returns a reader of a load from an untrusted sender: reading fails if size or digest differ.
func (l Load) Reader(from io.Reader) io.Reader {
	return &reading{from: from, load: l, meter: newMeter(io.Discard, l.Size)}
}

type reading struct {
	from  io.Reader
	load  Load
	meter *meter
}

func (r *reading) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	if _, e := r.meter.Write(b[:n]); e != nil || err == io.EOF { //nolint:errorlint // a Reader returns it unwrapped
		if e := r.load.is(r.meter); e != nil {
			return 0, e
		}
	}
	return n, err
}

// Bounds of a bundle's header, in bytes and lines.
const (
	maxLine  = 1 << 10
	maxLines = 10_000
)

// header is the header of a bundle (gitformat-bundle).
type header struct {
	format string   // the hash function of its objects
	needs  []string // commits that must exist already
	ref    string   // the only branch in it
	commit string   // the branch's commit
	size   int64    // the header's size in bytes; objects follow
}

// readHeader reads a header. A bundle with an object filter or several branches is an error.
func readHeader(from io.Reader) (h header, err error) {
	in := bufio.NewReaderSize(from, maxLine)
	bad := func(what string) error {
		return filetree.Failf(filetree.ErrInvalid, "the bundle can't be taken: %s", what)
	}
	h.format = "sha1"
	for n := 0; ; n++ {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) || n > maxLines {
			return h, bad("its header is too long")
		}
		if err != nil {
			return h, bad("its header ends early")
		}
		h.size += int64(len(line))
		text := strings.TrimSuffix(string(line), "\n")
		word, rest, _ := strings.Cut(text, " ")
		switch {
		case n == 0:
			if text != "# v2 git bundle" && text != "# v3 git bundle" {
				return h, bad("it is no git bundle")
			}
		case text == "":
			if h.ref == "" {
				return h, bad("it has no branch")
			}
			return h, nil
		case strings.HasPrefix(text, "@"):
			format, is := strings.CutPrefix(text, "@object-format=")
			if !is || format != "sha1" && format != "sha256" {
				return h, bad("it asks for what is not known here: " + filetree.Clip(text))
			}
			h.format = format
		case strings.HasPrefix(text, "-"):
			if !commitForm().MatchString(word[1:]) {
				return h, bad("it needs what is no commit")
			}
			h.needs = append(h.needs, word[1:])
		case h.ref != "" || !commitForm().MatchString(word):
			return h, bad("it has more than one branch")
		default:
			h.commit, h.ref = word, rest
		}
	}
}
