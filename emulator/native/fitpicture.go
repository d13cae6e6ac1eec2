package native

import (
	"tandemux/emulator"
)

// run is the last cells of a line, if they are parts of a picture next to each
// other.
type run struct {
	x        int    // the column where it begins
	end      []int  // byte behind each of its cells
	n        uint32 // its placement
	row, col int    // of its last cell in the picture
}

// fit cuts a picture at a line's end to the new width, as it would wrap, and gives
// one that the old width had cut what it has room for now.
func (s *source) fit(l histLine, data []byte, from, to int) (histLine, []byte) {
	cells := int(l.cells)
	if len(s.e.pics.places) == 0 || l.flags != 0 || cells <= to && (cells != from || to <= from) {
		return l, data
	}
	r := s.e.lastRun(data)
	p := s.e.pics.places[r.n]
	switch {
	case len(r.end) == 0 || r.x >= to || r.x+len(r.end) != cells:
		return l, data
	case cells > to:
		l.cells = uint16(to)
		return l, data[:r.end[to-r.x-1]]
	case p == nil:
		return l, data
	}
	s.cut = append(s.cut[:0], data...)
	for r.col++; r.col < p.Cols && cells < to; r.col++ {
		at := len(s.cut)
		s.cut = emulator.AppendPlaceholder(append(s.cut, tokCluster, 0), emulator.PictureRune, r.row, r.col, 0)
		s.cut[at+1] = byte(len(s.cut) - at - 2)
		cells++
	}
	l.cells = uint16(cells)
	return l, s.cut
}

// lastRun finds the run at the end of an encoded line.
func (e *Engine) lastRun(line []byte) (r run) {
	var st style
	x := 0
	for at := 0; at < len(line); {
		t, n := nextToken(line[at:])
		at += n
		if t.kind == tokStyle {
			st, _ = e.decodeStyle(t.text)
			continue
		}
		part := emulator.Placeholder{}
		if t.kind == tokCluster {
			c := emulator.Cell{Style: st.Style}
			c.Rune, c.Combining = splitCluster(string(t.text))
			emulator.Placeholders([]emulator.Cell{c}, func(_ int, p emulator.Placeholder) { part = p })
		}
		switch {
		case !part.Own:
			r = run{}
		case len(r.end) > 0 && r.n == part.ID && r.row == part.Row && r.col+1 == part.Col:
			r.col++
			r.end = append(r.end, at)
		default:
			r = run{x: x, n: part.ID, row: part.Row, col: part.Col, end: []int{at}}
		}
		x += t.width()
	}
	return r
}
