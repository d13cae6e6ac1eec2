package native

import "unicode/utf8"

// maxCluster bounds a grapheme cluster, in bytes: a rune that would make it longer is
// dropped. The longest emoji sequences have 35 bytes.
const maxCluster = 128

// clusters interns grapheme clusters of more than one rune. collect drops those that no
// cell uses any more.
type clusters struct {
	list  []string
	index map[string]uint32
	limit int
	spare []string // for the next collect
	known [1 << growthBits]growth
}

// growth remembers that the text of a cell (its rune or cluster bits) became another when
// a rune joined it. A zero from is an unused entry.
type growth struct {
	from, to cell
	rune     rune
}

const growthBits = 7

// grown returns the entry for r joining the text of c. The entry may be another's.
func (t *clusters) grown(c cell, r rune) *growth {
	h := uint64(c&(runeMask|clusterBit)|cell(r)<<22) * 0x9e3779b97f4a7c15
	return &t.known[h>>(64-growthBits)]
}

const minClusters = 1024

func (t *clusters) intern(b []byte) cell {
	i, ok := t.index[string(b)]
	if !ok {
		i = uint32(len(t.list))
		s := string(b)
		t.list = append(t.list, s)
		t.index[s] = i
	}
	return clusterBit | cell(i)
}

// collect drops the clusters that no cell of screens uses and renumbers the rest.
func (t *clusters) collect(screens ...*screen) {
	clear(t.index)
	clear(t.known[:])
	old := t.list
	t.list = t.spare[:0]
	for _, sc := range screens {
		for _, r := range sc.lines {
			cells := r.cells[:r.used]
			for i, c := range cells {
				if c&clusterBit == 0 {
					continue
				}
				s := old[c&runeMask]
				n, ok := t.index[s]
				if !ok {
					n = uint32(len(t.list))
					t.list = append(t.list, s)
					t.index[s] = n
				}
				cells[i] = c&^runeMask | cell(n)
			}
		}
	}
	clear(old)
	t.spare = old
	t.limit = max(minClusters, 2*len(t.list))
}

// appendText appends a cell's text, nothing for an empty cell.
func (t *clusters) appendText(buf []byte, c cell) []byte {
	if c&clusterBit != 0 {
		return append(buf, t.list[c&runeMask]...)
	}
	if r := rune(c & runeMask); r != 0 {
		return utf8.AppendRune(buf, r)
	}
	return buf
}

// first returns the first rune of a cell's text.
func (t *clusters) first(c cell) rune {
	if c&clusterBit != 0 {
		r, _ := utf8.DecodeRuneInString(t.list[c&runeMask])
		return r
	}
	return rune(c & runeMask)
}

// text returns a cluster as a string, without interning it.
func (t *clusters) text(b []byte) string {
	if i, ok := t.index[string(b)]; ok {
		return t.list[i]
	}
	return string(b)
}
