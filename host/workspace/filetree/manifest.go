package filetree

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"hash/crc32"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// Digest is a SHA-256 checksum.
type Digest [32]byte

// String is lower-case hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

func sumOf(b []byte) Digest { return sha256.Sum256(b) }

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

	Target string // a symlink's
	Stamp  Stamp  // of the file in a directory, as it was when the checksum was taken; may be zero
	at     place  // where the contents of a regular file are, in a filesystem
}

// ModTime is Modified as a time.
func (e Entry) ModTime() time.Time { return time.Unix(0, e.Modified) }

// Version is the file's version: the hexadecimal checksum of its contents (U64).
func (e Entry) Version() string { return e.Sum.String() }

func (e Entry) IsLink() bool { return e.Mode&fs.ModeSymlink != 0 }

func (e *Entry) Link(target string) {
	e.Mode, e.Size, e.Sum, e.Target = fs.ModeSymlink|0o777, int64(len(target)), sumOf([]byte(target)), target
}

// Same reports whether two entries are equal but for their times.
func (e Entry) Same(o Entry) bool {
	return e.Path == o.Path && e.Mode == o.Mode && e.Size == o.Size && e.Sum == o.Sum
}

// Equal is Same for entries either of which may be missing.
func Equal(a, b *Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Same(*b)
}

// Manifest lists a tree. It does not change once it is made.
type Manifest struct {
	Entries []Entry // sorted by Path, bytewise; parents are listed
	version string
	bytes   int64
}

// Version is the hexadecimal checksum over paths, modes and contents (U64).
func (m *Manifest) Version() string { return m.version }

// NewManifest makes one of entries that are sorted; it keeps the slice.
func NewManifest(entries []Entry) *Manifest {
	m := &Manifest{Entries: entries}
	h := sha256.New()
	b := make([]byte, 0, 512)
	for i := range entries {
		e := &entries[i]
		b = appendText(b[:0], e.Path)
		b = binary.AppendUvarint(b, uint64(e.Mode))
		b = binary.AppendVarint(b, e.Size)
		b = append(b, e.Sum[:]...)
		h.Write(b)
		m.bytes += e.Size
	}
	m.version = hex.EncodeToString(h.Sum(nil))
	return m
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func ComparePaths(a, b Entry) int { return strings.Compare(a.Path, b.Path) }

// Search finds a path among entries that are sorted.
func Search(entries []Entry, path string) (int, bool) {
	return slices.BinarySearchFunc(entries, path, func(e Entry, p string) int { return strings.Compare(e.Path, p) })
}

func (m *Manifest) Find(path string) (*Entry, bool) {
	i, ok := Search(m.Entries, path)
	if !ok {
		return nil, false
	}
	return &m.Entries[i], true
}

// Replace gives the manifest's entries without those that are gone, and with others;
// what is left in no directory goes, too.
func (m *Manifest) Replace(gone map[string]bool, come []Entry) []Entry {
	all := slices.DeleteFunc(slices.Clone(m.Entries), func(e Entry) bool { return gone[e.Path] })
	all = append(all, come...)
	slices.SortFunc(all, ComparePaths)
	dirs := map[string]bool{"": true}
	return slices.DeleteFunc(all, func(e Entry) bool {
		dir, _ := Parent(e.Path)
		if dirs[dir] && e.Mode.IsDir() {
			dirs[e.Path] = true
		}
		return !dirs[dir]
	})
}

// Change is what a path is to become; To is nil if it is to be removed.
type Change struct {
	Path string
	To   *Entry
	Was  *Entry // what is there now, on the side that changes
}

// WalkThree visits the union of three sorted lists by path.
func WalkThree(a, b, c []Entry, visit func(path string, a, b, c *Entry)) {
	lists := [3][]Entry{a, b, c}
	for {
		least, any := "", false
		for _, l := range lists {
			if len(l) > 0 && (!any || cmp.Compare(l[0].Path, least) < 0) {
				least, any = l[0].Path, true
			}
		}
		if !any {
			return
		}
		var at [3]*Entry
		for i, l := range lists {
			if len(l) > 0 && l[0].Path == least {
				at[i], lists[i] = &l[0], l[1:]
			}
		}
		visit(least, at[0], at[1], at[2])
	}
}

// Sheet is a file of the store's own: a manifest, and what goes with it.
type Sheet struct {
	*Manifest
	answers []answer // of a filesystem

	Local   bool     // of a workspace: stamps are kept
	Pending []Change // what a synchronisation was about to do,
	Down    bool     // in the workspace, not in the filesystem
}

// Summary is what is known of a tree without reading its manifest.
type Summary struct {
	Version string // as Manifest.Version
	Entries int    // directories included
	Bytes   int64  // of all contents
}

// sheetHead is what can be read of a sheet without the rest.
type sheetHead struct {
	Summary
	Interrupted bool // there is something pending
}

// sheetBody is the rest. Entries go by columns, which gob writes fast.
type sheetBody struct {
	Entries columns
	Stamps  []int64 // six for each entry, or none
	Answers []answer
	Come    columns // pending
	Leave   []string
	Down    bool
}

type columns struct {
	Path, Target   []string
	Mode           []uint32
	Size, Modified []int64
	Sum            []byte
	Pack           []uint64
	Offset         []int64
}

func (c *columns) add(e *Entry) {
	c.Path, c.Target, c.Mode = append(c.Path, e.Path), append(c.Target, e.Target), append(c.Mode, uint32(e.Mode))
	c.Size, c.Modified, c.Sum = append(c.Size, e.Size), append(c.Modified, e.Modified), append(c.Sum, e.Sum[:]...)
	c.Pack, c.Offset = append(c.Pack, e.at.pack), append(c.Offset, e.at.offset)
}

// entries is nil and false where the columns do not fit each other.
func (c *columns) entries() ([]Entry, bool) {
	n := len(c.Path)
	if len(c.Target) != n || len(c.Mode) != n || len(c.Size) != n || len(c.Modified) != n || len(c.Sum) != n*len(Digest{}) || len(c.Pack) != n || len(c.Offset) != n {
		return nil, false
	}
	entries := make([]Entry, n)
	for i := range entries {
		e := &entries[i]
		*e = Entry{Path: c.Path[i], Mode: fs.FileMode(c.Mode[i]), Size: c.Size[i], Modified: c.Modified[i], Sum: Digest(c.Sum[i*len(e.Sum):]), Target: c.Target[i], at: place{c.Pack[i], c.Offset[i]}}
		if e.Path == "" || e.Size < 0 || e.at.offset < 0 {
			return nil, false
		}
	}
	return entries, true
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (s *Sheet) head() sheetHead {
	return sheetHead{Summary{s.version, len(s.Entries), s.bytes}, len(s.Pending) > 0}
}

// Encode returns the sheet as bytes.
func (s *Sheet) Encode() []byte {
	body := sheetBody{Answers: s.answers, Down: s.Down}
	for i := range s.Entries {
		e := &s.Entries[i]
		body.Entries.add(e)
		if s.Local {
			st := e.Stamp
			body.Stamps = append(body.Stamps, int64(st.mode), st.Size, st.mtime, st.ctime, int64(st.ino), int64(st.dev))
		}
	}
	for _, c := range s.Pending {
		if c.To != nil {
			body.Come.add(c.To)
		} else {
			body.Leave = append(body.Leave, c.Path)
		}
	}
	var b bytes.Buffer
	g := gob.NewEncoder(&b)
	for _, part := range []any{s.head(), body} {
		if err := g.Encode(part); err != nil {
			panic(err) // all of these types can be encoded, and memory takes all
		}
	}
	return binary.BigEndian.AppendUint32(b.Bytes(), crc32.Checksum(b.Bytes(), castagnoli))
}

// DecodeSheet reads what encode wrote.
func DecodeSheet(b []byte) (*Sheet, error) {
	if len(b) < 4 {
		return nil, Failf(ErrDamaged, "the manifest is cut off")
	}
	b, end := b[:len(b)-4], b[len(b)-4:]
	if crc32.Checksum(b, castagnoli) != binary.BigEndian.Uint32(end) {
		return nil, Failf(ErrDamaged, "the manifest's checksum is wrong")
	}
	if bytes.HasPrefix(b, []byte(formerMagic)) {
		return decodeFormer(b)
	}
	var head sheetHead
	var body sheetBody
	g := gob.NewDecoder(bytes.NewReader(b))
	for _, part := range []any{&head, &body} {
		if err := g.Decode(part); err != nil {
			return nil, Failf(ErrDamaged, "the manifest is not one: %v", err)
		}
	}
	entries, ok := body.Entries.entries()
	come, alsoOK := body.Come.entries()
	stamps := body.Stamps
	if !ok || !alsoOK || len(stamps) != 0 && len(stamps) != 6*len(entries) {
		return nil, Failf(ErrDamaged, "the manifest is not what it should be")
	}
	s := &Sheet{Manifest: &Manifest{Entries: entries, version: head.Version}, answers: body.Answers, Down: body.Down, Local: len(stamps) > 0}
	for i := range entries {
		s.bytes += entries[i].Size
		if s.Local {
			st := stamps[6*i:]
			entries[i].Stamp = Stamp{uint32(st[0]), st[1], st[2], st[3], uint64(st[4]), uint64(st[5])}
		}
	}
	for i := range come {
		s.Pending = append(s.Pending, Change{Path: come[i].Path, To: &come[i]})
	}
	for _, path := range body.Leave {
		s.Pending = append(s.Pending, Change{Path: path})
	}
	return s, nil
}
