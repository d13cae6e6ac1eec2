package pane

import (
	"sort"

	"tandemux/ui/motion"
)

// index is the text of a view's lines in one piece, as a search reads it. Lines
// of the history are read once, as they do not change; the screen's each time.
// It lives from the first search until the view follows the output again.
type index struct {
	era, first int // lines have these numbers
	fold       bool
	text       []byte
	rows       []int // where in text each line begins
	kept       int   // how many lines are history, which does not change
	cut        int   // bytes of text that these take
	oldest     int   // the history no longer has lines before this one

	gen     uint64 // of the feed, that the matches are for
	pattern string
	found   []hit // in text
}

// matches gives all matches, as ranges of the index's text. The lock must be
// held, as for all below.
func (ix *index) matches(v *View) []hit {
	s, f := &v.search, v.seen
	oldest, _ := v.bounds()
	if ix.gen == f.gen && ix.era == v.era && ix.oldest == oldest && ix.fold == s.fold && ix.pattern == s.pattern && ix.rows != nil {
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
			ix.found = append(ix.found, hit{at + from, at + to})
			return len(ix.found) < maxMatches
		})
		at = end + 1
	}
	return ix.found
}

// update reads the lines that are new and those of the screen.
func (ix *index) update(v *View) {
	f := v.seen
	oldest, newest := v.bounds()
	if ix.rows == nil || ix.era != v.era || ix.fold != v.search.fold || ix.first+ix.kept < oldest ||
		oldest-ix.first > 2*(newest-oldest)+1000 {
		*ix = index{era: v.era, first: oldest, fold: v.search.fold, rows: ix.rows[:0], text: ix.text[:0], found: ix.found}
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

// spot gives the place of a byte of the text.
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

// offset gives the byte of the text at a place.
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
	return min(off, max(end-1, ix.rows[n])) // a cursor behind the text is at its end
}
