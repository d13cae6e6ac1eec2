package pane

import (
	"sort"

	"tandemux/emulator"
	"tandemux/ui/motion"
)

// maxStretch is the largest number of lines before and after a line that are joined with it.
const maxStretch = 100

// stretch is a line of text as its program wrote it: the cells of the lines that it is wrapped
// to, joined.
type stretch struct {
	first  int   // number of its first line
	starts []int // offset in cells of each of its lines, and the length of cells
	cells  []emulator.Cell
}

// stretch returns the wrapped line that a line belongs to. The lock must be held.
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

// index returns the offset in cells of a place, clamped to its line.
func (s *stretch) index(x, line int) int {
	i := min(max(line-s.first, 0), len(s.starts)-2)
	return min(s.starts[i]+max(x, 0), s.starts[i+1])
}

// spot returns the place of a cell.
func (s *stretch) spot(i int) spot {
	n := sort.SearchInts(s.starts, i+1) - 1
	n = min(max(n, 0), len(s.starts)-2)
	return spot{i - s.starts[n], s.first + n}
}

// on cuts a range of cells to a line, as columns. It reports whether any are on the line.
func (s *stretch) on(line int, h span) (span, bool) {
	n := line - s.first
	if n < 0 || n > len(s.starts)-2 {
		return span{}, false
	}
	from, to := max(h.from, s.starts[n]), min(h.to, s.starts[n+1])
	return span{from - s.starts[n], to - s.starts[n]}, from < to
}

// text returns the text of the cells and for each byte its cell. fold makes letters lower case.
// Empty cells become blanks, except at the end, where they are left out.
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

// end returns the offset of the cell after a character.
func (s *stretch) end(i int) int {
	if s.cells[i].Width == 2 {
		return i + 2
	}
	return i + 1
}
