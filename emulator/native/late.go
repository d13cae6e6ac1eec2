package native

import (
	"bytes"
	"slices"

	"tandemux/emulator/control"
	"tandemux/emulator/native/atrest"
)

// late is output that is not on the screen yet: text, line ends, tabs and SGR that begin at
// the start of the screen's last line, which is blank. It grows until somebody reads the
// engine (flush). settleLate moves the lines that would have scrolled off by then into
// history, without drawing them.
//
// It first moves the screen's rows into history, which leaves those above the last one
// blank. void is how many rows at the top are blank for that reason: they don't go into
// history when they scroll off.
type late struct {
	buf  []byte
	ends []lateLine // the ends of the complete lines in buf
	seen int        // how many bytes of buf scan has passed
	void int
	text atrest.Text

	// Lines with SGR are encoded when they come, so that they are read only once. Lines
	// without SGR leave the pen as it is.
	coded atrest.Text // the rows of the encoded lines in buf, and the pen behind the last line
	lost  bool        // that pen is unknown, or the next row is not blank

	least int // the least bytes of a write that begins it: minLate, except in tests
}

// lateLine is a line with its CR and LF. A plain one is printable ASCII.
type lateLine struct {
	end   int32
	rows  int16 // how many rows in late.coded it has, 0 if it is not encoded
	plain bool
	pen   control.PenBits // the pen behind it, if it is encoded
}

const (
	minLate  = 2 << 10
	latePart = 16 << 10 // how many bytes of a write are taken at once
	maxLate  = 64 << 10 // at this size of buf, settleLate is called
)

// Write implements emulator.Emulator.
func (e *Engine) Write(p []byte) {
	for len(p) > 0 {
		n := min(len(p), latePart)
		take(e, p[:n])
		p = p[n:]
	}
}

// take appends p to late if it can, else writes it.
func take(e *Engine, p []byte) {
	l := &e.late
	if len(l.buf) == 0 {
		n := 0
		if e.cur.y == e.rows-1 && len(p) >= l.least {
			n = bytes.IndexByte(p, '\n') + 1
			e.write(p[:n])
			p = p[n:]
		} else if cap(l.buf) > maxLate {
			l.buf, l.coded.Buf = nil, nil // the flood is over
		}
		if n == 0 || !goesBy(e) {
			e.write(p)
			return
		}
	}
	if l.buf = append(l.buf, p...); !scan(e) {
		e.flush()
	} else if len(l.buf) >= maxLate {
		if settleLate(e); len(l.buf) >= maxLate/2 {
			e.flush()
		}
	}
}

// goesBy reports whether lines of text, printed now, would scroll off the top as late
// assumes.
func goesBy(e *Engine) bool {
	c := &e.cur
	return !e.alt() && e.plain && e.rows > 1 && e.cols > 1 && e.top == 0 && c.y == e.rows-1 && c.y == e.bot && c.x == 0 && !e.sideMargins() &&
		e.link == nil && e.hist.limit > 0 && e.parser.Ground() && e.parser.NHeld == 0 && e.scr.lines[c.y].used == 0 &&
		e.modes.Has(control.Wrap) && e.modes.Has(control.Graphemes)
}

// maxAgain bounds the bytes of an incomplete line that scan reads again, in order to
// encode it, when more comes.
const maxAgain = 1 << 10

// scan reads the new bytes of late.buf. It returns false if there is anything but text,
// line ends, tabs and SGR.
func scan(e *Engine) bool {
	l := &e.late
	from := 0 // where the line begins
	if n := len(l.ends); n > 0 {
		from = int(l.ends[n-1].end)
	} else {
		l.lost = e.scr.lines[e.rows-1].used > 0
		ready(&l.coded, e)
	}
	at, plain, tries := l.seen, l.seen == from, !l.lost
	if at-from <= maxAgain {
		at, plain = from, true
	} else {
		tries = false // it may have SGR before at
	}
	for p := l.buf; at < len(p); {
		if k := len(l.ends); at == from && k > 0 && l.ends[k-1].plain {
			if n := plainLines(l, at); n > 0 {
				at += n
				l.seen, from, tries = at, at, !l.lost
			}
		}
		if plain {
			at += atrest.ASCII(p[at:])
		} else {
			at += atrest.Text7(p[at:])
		}
		if at == len(p) {
			break
		}
		switch b := p[at]; {
		case b == '\r':
			if at+1 == len(p) {
				l.seen = at
				return true
			} else if p[at+1] != '\n' {
				return false
			}
			at += 2
			l.lost = l.lost || !tries || l.coded.Pen.BG != 0
			l.ends = append(l.ends, lateLine{end: int32(at), plain: plain})
			l.seen, plain, from, tries = at, true, at, !l.lost
		case b == 0x1b && tries:
			tries = false
			rows := len(l.coded.Rows)
			if n := l.coded.Line(p[from:]); n > 0 {
				at = from + n
				l.ends = append(l.ends, lateLine{end: int32(at), rows: int16(len(l.coded.Rows) - rows), pen: control.PackPen(&l.coded.Pen)})
				l.seen, plain, from, tries = at, true, at, true
			}
		case b == 0x1b:
			plain = false
			n := control.WholeSGR(p[at:])
			if n == 0 {
				return false
			} else if n < 0 {
				l.seen = at
				return true
			}
			at += n
		case b >= 0x7f || b == '\t':
			plain = false
			at++
		default:
			return false
		}
	}
	l.seen = at
	return true
}

// plainLines adds the complete lines of printable ASCII that begin at from to ends, and
// returns their length in bytes.
func plainLines(l *late, from int) int {
	p, ends := l.buf, l.ends
	at := from
	for {
		n := at + atrest.ASCII(p[at:])
		if n+1 >= len(p) || p[n] != '\r' || p[n+1] != '\n' {
			break
		}
		at = n + 2
		ends = append(ends, lateLine{end: int32(at), plain: true})
	}
	if l.ends = ends; at > from {
		l.lost = l.lost || l.coded.Pen.BG != 0
	}
	return at - from
}

// ready resets t to the engine's pen, tab stops and width.
func ready(t *atrest.Text, e *Engine) {
	t.Pen, t.Memo, t.Tabs, t.Cols = e.cur.pen, &e.memo, e.tabs, e.cols
	t.Buf, t.Rows = t.Buf[:0], t.Rows[:0]
}

// flush draws all late output. Every method that reads the grid must call it first.
func (e *Engine) flush() {
	l := &e.late
	if len(l.buf) == 0 {
		return
	}
	settleLate(e)
	p := l.buf
	l.buf, l.ends, l.seen = p[:0], l.ends[:0], 0
	e.write(p)
}

// settleLate moves the late lines that would have scrolled off into history.
func settleLate(e *Engine) {
	l, t := &e.late, &e.late.text
	n := len(l.ends) - (e.rows - 1)
	if n <= 0 {
		return
	}
	ready(t, e)
	at, coded, rows := 0, 0, 0
	for i := 0; i < n; i++ {
		line := &l.ends[i]
		blank := e.scr.lines[e.rows-1].used == 0
		switch {
		case line.rows > 0:
			vacate(e)
			k := int(line.rows)
			coded += pushRows(e, l.coded.Buf[coded:], l.coded.Rows[rows:rows+k])
			rows += k
			line.pen.Unpack(&t.Pen)
		case blank && line.plain && control.PackPen(&t.Pen).Default():
			vacate(e)
			for {
				pushPlain(e, l.buf[at:line.end-2])
				if i+1 == n || !l.ends[i+1].plain {
					break
				}
				at = int(line.end)
				i++
				line = &l.ends[i]
			}
		case blank && t.Line(l.buf[at:line.end]) > 0:
			vacate(e)
			pushRows(e, t.Buf, t.Rows)
			t.Buf, t.Rows = t.Buf[:0], t.Rows[:0]
		default:
			e.cur.pen = t.Pen
			e.penChanged()
			e.write(l.buf[at:line.end])
			t.Pen = e.cur.pen
		}
		at = int(line.end)
	}
	e.cur.pen = t.Pen
	e.penChanged()
	l.ends = slices.Delete(l.ends, 0, n)
	for i := range l.ends {
		l.ends[i].end -= int32(at)
	}
	l.seen -= at
	l.buf = l.buf[:copy(l.buf, l.buf[at:])]
	l.coded.Rows = slices.Delete(l.coded.Rows, 0, rows)
	l.coded.Buf = l.coded.Buf[:copy(l.coded.Buf, l.coded.Buf[coded:])]
}

// pushRows appends rows, whose bytes p begins with, to the history. It returns the length
// of these bytes.
func pushRows(e *Engine, p []byte, rows []atrest.Row) (n int) {
	for _, r := range rows {
		h := histLine{cells: uint16(r.Cells)}
		if r.Wrapped {
			h.flags |= lineWrapped
		}
		if r.Plain {
			h.flags |= linePlain
		}
		e.hist.add(p[n:n+r.Bytes], h)
		n += r.Bytes
	}
	e.scrolled += len(rows)
	return n
}

// pushPlain appends a plain line, without its line end, to the history.
func pushPlain(e *Engine, p []byte) {
	for wrapped := true; wrapped; {
		l := histLine{flags: linePlain}
		n := len(p)
		if wrapped = n > e.cols; wrapped {
			n = e.cols
			l.flags |= lineWrapped
		}
		l.cells = uint16(n)
		e.hist.add(p[:n], l)
		p = p[n:]
		e.scrolled++
	}
}

// vacate moves the rows above the last one into history; see late.void.
func vacate(e *Engine) {
	last := e.rows - 1
	for _, r := range e.scr.lines[e.late.void:last] {
		e.push(r)
		r.reset(0)
	}
	e.late.void = last
	e.damageAll = true
}
