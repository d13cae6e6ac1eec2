package native

import (
	"hash/maphash"
	"slices"

	"tandemux/emulator"
	"tandemux/emulator/control"
	"tandemux/emulator/native/atrest"
)

// link is a hyperlink; equal ones share a pointer while both are in use.
type link struct {
	uri, id string
	hash    uint64 // of both
}

// style is a cell's or the pen's style and hyperlink.
type style struct {
	emulator.Style
	link *link
}

// styles interns the styles of the cells of both screens. Index 0 is the default style.
// collect drops those that no cell uses any more.
type styles struct {
	list  []style
	table []uint32 // open addressing: index into list plus one, 0 is free
	limit int      // the length of list at which collect is called
	spare []style  // for the next collect
	remap []uint32 // old index to new one, in collect

	packed []atrest.Packed // by index, computed on demand
	recent [1 << recentBits]recent
}

// pack returns style i encoded; N is 0 if the style has a link.
func (s *styles) pack(i uint32) *atrest.Packed {
	if int(i) >= len(s.packed) {
		s.packed = slices.Grow(s.packed, len(s.list)-len(s.packed))[:len(s.list)]
	}
	p := &s.packed[i]
	if p.N == 0 && s.list[i].link == nil {
		*p = atrest.Pack(&s.list[i].Style)
	}
	return p
}

const minStyles = 1024

func newStyles() styles {
	s := styles{limit: minStyles}
	s.rehash(4 * minStyles)
	s.intern(style{})
	return s
}

func (s *styles) rehash(n int) {
	if n == len(s.table) {
		clear(s.table)
	} else {
		s.table = make([]uint32, n)
	}
	for i := range s.list {
		s.place(uint32(i))
	}
}

func (s *styles) place(i uint32) {
	h := s.list[i].hash() & uint32(len(s.table)-1)
	for s.table[h] != 0 {
		h = (h + 1) & uint32(len(s.table)-1)
	}
	s.table[h] = i + 1
}

func (st *style) hash() uint32 {
	h := uint64(st.FG)*0x9e3779b97f4a7c15 ^ uint64(st.BG)*0xc2b2ae3d27d4eb4f ^
		(uint64(st.UnderlineColor)<<16|uint64(st.Attrs)<<3|uint64(st.Underline))*0x165667b19e3779f9
	if st.link != nil {
		h ^= st.link.hash
	}
	return uint32(h>>32) ^ uint32(h>>15)
}

// recent caches the index of a style without a link. The default style is an unused entry.
type recent struct {
	pen   control.PenBits
	index uint32
}

const recentBits = 9

// find is intern with a cache of recent styles.
func (s *styles) find(pen *emulator.Style, l *link) uint32 {
	w := control.PackPen(pen)
	if l != nil {
		return s.intern(style{*pen, l})
	}
	if w.Default() {
		return 0
	}
	r := &s.recent[w.Hash()>>(64-recentBits)]
	if r.pen != w {
		r.pen, r.index = w, s.intern(style{Style: *pen})
	}
	return r.index
}

// intern returns the index of st, which it adds if it is new.
func (s *styles) intern(st style) uint32 {
	mask := uint32(len(s.table) - 1)
	h := st.hash() & mask
	for {
		i := s.table[h]
		if i == 0 {
			break
		}
		if s.list[i-1] == st {
			return i - 1
		}
		h = (h + 1) & mask
	}
	s.list = append(s.list, st)
	if 2*len(s.list) > len(s.table) {
		s.rehash(2 * len(s.table))
	} else {
		s.table[h] = uint32(len(s.list))
	}
	return uint32(len(s.list) - 1)
}

// collect drops the styles that no cell of screens uses and renumbers the rest. It allocates
// only if there are more than ever before.
func (s *styles) collect(screens ...*screen) {
	s.remap = slices.Grow(s.remap[:0], len(s.list))[:len(s.list)]
	clear(s.remap)
	old := s.list
	s.list = append(s.spare[:0], style{})
	for _, sc := range screens {
		for _, r := range sc.lines {
			cells := r.cells[:r.used]
			for i, c := range cells {
				id := c.style()
				if id == 0 {
					continue
				}
				if s.remap[id] == 0 {
					s.remap[id] = uint32(len(s.list))
					s.list = append(s.list, old[id])
				}
				cells[i] = c&^styleMask | cell(s.remap[id])<<styleShift
			}
		}
	}
	clear(s.recent[:])
	clear(s.packed)
	s.packed = s.packed[:0]
	clear(old) // frees the links
	s.spare = old
	s.limit = max(minStyles, 2*len(s.list))
	n := 4 * minStyles
	for n < 4*len(s.list) {
		n *= 2
	}
	s.rehash(n)
}

// links shares equal hyperlinks.
type links struct{ index map[string]*link }

// maxLinks bounds the index. A full one is cleared: links in use stay referenced by their
// styles.
const maxLinks = 1024

var linkSeed = maphash.MakeSeed()

func internLink[T string | []byte](t *links, uri, id T) *link {
	var key [128]byte
	k := append(append(append(key[:0], id...), 0), uri...)
	if l := t.index[string(k)]; l != nil {
		return l
	}
	if t.index == nil || len(t.index) >= maxLinks {
		t.index = map[string]*link{}
	}
	l := &link{uri: string(uri), id: string(id), hash: maphash.Bytes(linkSeed, k)}
	t.index[string(k)] = l
	return l
}
