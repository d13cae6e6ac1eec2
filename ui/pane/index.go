package pane

import (
	"sort"

	"tandemux/ui/motion"
)

// index is the text that a search reads: a view's lines as one piece of text. Lines of the
// history don't change and are read only once; those of the screen are read for each search. The
// index lives from the first search until the view follows the output again.
type index struct {
	epoch, first int // of the line numbers, and the number of the first line
	fold         bool
	text         []byte
	rows         []int // offset in text of each line
	kept         int   // number of lines that were history when they were read
	cut          int   // offset in text of the end of those lines
	oldest       int   // oldest line that is still in the history

	gen     uint64 // of the feed, for found
	pattern string
	found   []span // ranges of text
}

// matches returns all matches as byte ranges of the index's text. The lock must be held, as for
// all below.
func (ix *index) matches(v *View) []span {
	s, f := &v.search, v.seen
	oldest, _ := v.bounds()
	if ix.gen == f.gen && ix.epoch == v.epoch && ix.oldest == oldest && ix.fold == s.fold && ix.pattern == s.pattern && ix.rows != nil {
		return ix.found
	}
	ix.update(v)
	ix.gen, ix.pattern, ix.found = f.gen, s.pattern, ix.found[:0]
	start := 0
	if n := ix.oldest - ix.first; n > 0 && n < len(ix.rows) {
		start = ix.rows[n]
	}
	for at := start; at < len(ix.text) && len(ix.found) < maxMatches; {
		end := at
		for end < len(ix.text) && ix.text[end] != '\n' {
			end++
		}
		s.all(ix.text[at:end], func(from, to int) bool {
			ix.found = append(ix.found, span{at + from, at + to})
			return len(ix.found) < maxMatches
		})
		at = end + 1
	}
	return ix.found
}

// update reads new lines of the history, and the screen's.
func (ix *index) update(v *View) {
	f := v.seen
	oldest, newest := v.bounds()
	if ix.rows == nil || ix.epoch != v.epoch || ix.fold != v.search.fold || ix.first+ix.kept < oldest ||
		oldest-ix.first > 2*(newest-oldest)+1000 {
		*ix = index{epoch: v.epoch, first: oldest, fold: v.search.fold, rows: ix.rows[:0], text: ix.text[:0], found: ix.found}
	}
	ix.oldest = oldest
	ix.text, ix.rows = ix.text[:ix.cut], ix.rows[:ix.kept]
	for line := ix.first + ix.kept; line <= newest; line++ {
		if line == f.lineOff {
			ix.kept, ix.cut = len(ix.rows), len(ix.text)
		}
		ix.rows = append(ix.rows, len(ix.text))
		cells := v.at(line)
		wrapped := f.em.Wrapped(line - f.lineOff)
		if !wrapped {
			cells = cells[:motion.Length(cells)]
		}
		for i := range cells {
			ix.text = appendCell(ix.text, &cells[i], ix.fold)
		}
		if !wrapped {
			ix.text = append(ix.text, '\n')
		}
	}
}

// spot returns the place of a byte of the text.
func (ix *index) spot(v *View, at int) spot {
	n := max(sort.SearchInts(ix.rows, at+1)-1, 0)
	line, off := ix.first+n, ix.rows[n]
	var buf []byte
	for x, c := range v.at(line) {
		if buf = appendCell(buf[:0], &c, ix.fold); off+len(buf) > at {
			return spot{x, line}
		}
		off += len(buf)
	}
	return spot{0, line}
}

// offset returns the offset in the text of a place.
func (ix *index) offset(v *View, p spot) int {
	n := p.line - ix.first
	if n < 0 || n >= len(ix.rows) {
		return 0
	}
	off := ix.rows[n]
	var buf []byte
	for x, c := range v.at(p.line) {
		if x >= p.x {
			break
		}
		buf = appendCell(buf[:0], &c, ix.fold)
		off += len(buf)
	}
	end := len(ix.text)
	if n+1 < len(ix.rows) {
		end = ix.rows[n+1]
	}
	return min(off, max(end-1, ix.rows[n])) // a place beyond the line's text is at its end
}
