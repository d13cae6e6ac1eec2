package vt10x

import (
	"slices"

	"tandemux/emulator"
)

// Bounds of the style table: when to look for unused ones, and what can be told apart.
// Beyond maxStyles a new style is drawn as the default one.
const (
	sweepStyles = 1 << 14
	maxStyles   = 1 << 20
)

// pen is what cells are written with.
type pen struct {
	emulator.Style
	link, linkID string
}

// styles numbers the pens that cells were written with. Number 0 is the
// default one. Unused numbers are found by sweep and used again.
type styles struct {
	list  []pen
	ids   map[pen]uint32
	free  []uint32
	sweep int // the number in use at which to sweep next
}

func newStyles() styles {
	return styles{list: []pen{{}}, ids: map[pen]uint32{{}: 0}, sweep: sweepStyles}
}

// id numbers a pen.
func (s *styles) id(p pen) uint32 {
	id, ok := s.ids[p]
	if ok || len(s.ids) >= maxStyles {
		return id
	}
	if n := len(s.free); n > 0 {
		id, s.free = s.free[n-1], s.free[:n-1]
		s.list[id] = p
	} else {
		id = uint32(len(s.list))
		s.list = append(s.list, p)
	}
	s.ids[p] = id
	return id
}

// sweepStyles frees the numbers that no cell, pen or saved cursor has.
func (e *engine) sweepStyles() {
	s := &e.styles
	used := make([]bool, len(s.list))
	rows := slices.Clip(e.history.lines)
	for i := range e.vts {
		for y := range e.rows {
			rows = append(rows, e.row(i, y, nil))
		}
	}
	for _, row := range rows {
		for _, g := range row {
			used[g.id] = true
		}
	}
	used[e.penID], used[e.saved[0].penID], used[e.saved[1].penID] = true, true, true
	for p, id := range s.ids {
		if id > 0 && !used[id] {
			delete(s.ids, p)
			s.list[id] = pen{}
			s.free = append(s.free, id)
		}
	}
	s.sweep = max(sweepStyles, 2*len(s.ids))
	e.sentID = unsent
}

// setPen changes the pen; vt10x hears of it when it next matters.
func (e *engine) setPen(p pen) {
	if e.pen == p {
		return
	}
	e.pen = p
	if len(e.styles.ids) >= e.styles.sweep {
		e.sweepStyles()
	}
	e.penID = e.styles.id(p)
}

// sendPen brings vt10x's pen up to date.
func (e *engine) sendPen() { e.sendID(e.penID) }

func (e *engine) sendID(id uint32) {
	switch {
	case id == e.sentID:
		return
	case id == 0:
		e.sendCSI('m', 39)
	default:
		e.sendCSI('m', 38, 2, int(id>>16), int(id>>8&0xff), int(id&0xff))
	}
	e.sentID = id
}
