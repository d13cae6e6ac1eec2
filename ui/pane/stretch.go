package pane

import (
	"sort"

	"tandemux/emulator"
	"tandemux/ui/motion"
)

// maxStretch bounds how many lines before and after one are taken for a part of
// it, where they are one wrapped line.
const maxStretch = 100

// stretch is a line of text as its program wrote it: the cells of lines that
// were wrapped, joined.
type stretch struct {
	first  int   // its first line
	starts []int // where in cells each of its lines begins, and their end
	cells  []emulator.Cell
}

// stretch gives the wrapped line that a line belongs to. The lock must be held.
func (t *lines) stretch(line int) stretch {
	f := t.seen
	oldest, newest := t.bounds()
	first, last := line, line
	for first > oldest && line-first < maxStretch && f.em.Wrapped(first-1-f.lineOff) {
		first--
	}
	for last < newest && last-line < maxStretch && f.em.Wrapped(last-f.lineOff) {
		last++
	}
	s := stretch{first: first, starts: []int{0}}
	for l := first; l <= last; l++ {
		s.cells = f.em.Line(l-f.lineOff, s.cells)
		s.starts = append(s.starts, len(s.cells))
	}
	return s
}

// last is the stretch's last line.
func (s *stretch) last() int { return s.first + len(s.starts) - 2 }

// index gives the place of a cell in cells, clamped to its line.
func (s *stretch) index(x, line int) int {
	i := min(max(line-s.first, 0), len(s.starts)-2)
	return min(s.starts[i]+max(x, 0), s.starts[i+1])
}

// spot gives the place on the screen of a cell.
func (s *stretch) spot(i int) spot {
	n := sort.SearchInts(s.starts, i+1) - 1
	n = min(max(n, 0), len(s.starts)-2)
	return spot{i - s.starts[n], s.first + n}
}

// on cuts a half-open range of cells to those of a line, in its columns.
func (s *stretch) on(line int, h hit) (hit, bool) {
	n := line - s.first
	if n < 0 || n > len(s.starts)-2 {
		return hit{}, false
	}
	from, to := max(h.from, s.starts[n]), min(h.to, s.starts[n+1])
	return hit{from - s.starts[n], to - s.starts[n]}, from < to
}

// text gives the text of the cells and for each byte the cell that it is of;
// fold makes letters lower case. Empty cells are blanks; those at the end are
// left out.
func (s *stretch) text(fold bool) (text []byte, at []int) {
	cells := s.cells[:motion.Length(s.cells)]
	for i := range cells {
		text = appendCell(text, &cells[i], fold)
		for len(at) < len(text) {
			at = append(at, i)
		}
	}
	return text, at
}

// end is the cell behind the character at a cell.
func (s *stretch) end(i int) int {
	if s.cells[i].Width == 2 {
		return i + 2
	}
	return i + 1
}
