package vt10x

import "tandemux/emulator"

// Bounds of the style table. Beyond maxStyles a new style is brought down to
// 256 colours without hyperlink, beyond twice that it is drawn as the default.
const (
	sweepStyles = 1 << 14
	maxStyles   = 1 << 19
)

// styles numbers the pens that cells were written with. Number 0 is the
// default one. Unused numbers are found by sweep and used again.
type styles struct {
	list  []emulator.Pen
	ids   map[emulator.Pen]uint32
	free  []uint32
	sweep int // the number in use at which to sweep next
}

func (s *styles) reset() {
	s.list = []emulator.Pen{{}}
	s.ids = map[emulator.Pen]uint32{{}: 0}
	s.free = nil
	s.sweep = sweepStyles
}

// id numbers a pen.
func (s *styles) id(p emulator.Pen) uint32 {
	if id, ok := s.ids[p]; ok {
		return id
	}
	if n := len(s.ids); n >= maxStyles {
		low := emulator.Full
		low.Colors = emulator.Colors256
		p = emulator.Pen{Style: low.Style(p.Style)}
		if id, ok := s.ids[p]; ok {
			return id
		}
		if n >= 2*maxStyles {
			return 0
		}
	}
	var id uint32
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

// full reports that it is time to sweep.
func (s *styles) full() bool { return len(s.ids) >= s.sweep }

// release frees the numbers that are not in used.
func (s *styles) release(used []bool) {
	for id := 1; id < len(s.list); id++ {
		p := s.list[id]
		if used[id] || s.ids[p] != uint32(id) {
			continue
		}
		delete(s.ids, p)
		s.list[id] = emulator.Pen{}
		s.free = append(s.free, uint32(id))
	}
	s.sweep = max(sweepStyles, 2*len(s.ids))
}

// sweepStyles finds the numbers that some cell, pen or saved cursor has.
func (e *engine) sweepStyles() {
	used := make([]bool, len(e.styles.list))
	mark := func(row []glyph) {
		for _, g := range row {
			used[g.id] = true
		}
	}
	for y := range e.rows {
		for x := range e.cols {
			g, _ := e.glyph(x, y)
			used[g.id] = true
		}
	}
	for _, l := range e.hidden.lines {
		mark(l.glyphs)
	}
	for y := -e.history.len(); y < 0; y++ {
		mark(e.history.at(y).glyphs)
	}
	mark(e.damage.seen)
	used[e.sentID], used[e.penID] = true, true
	used[e.saved[0].id], used[e.saved[1].id] = true, true
	e.styles.release(used)
}

// setPen changes the pen; vt10x hears of it when it next matters.
func (e *engine) setPen(p emulator.Pen) {
	if e.pen == p {
		return
	}
	e.pen = p
	if e.styles.full() {
		e.sweepStyles()
	}
	e.penID = e.styles.id(p)
}

// sendPen brings vt10x's pen up to date.
func (e *engine) sendPen() { e.sendID(e.penID) }

func (e *engine) sendID(id uint32) {
	if id == e.sentID {
		return
	}
	e.sentID = id
	if id == 0 {
		e.sendString("\x1b[39m")
		return
	}
	e.out = append(e.out[:0], "\x1b[38;2;"...)
	e.out = appendInt(e.out, int(id>>16))
	e.out = appendInt(append(e.out, ';'), int(id>>8&0xff))
	e.out = appendInt(append(e.out, ';'), int(id&0xff))
	e.send(append(e.out, 'm'))
}
