package paint

import (
	"bytes"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"tandemux/emulator"
	"tandemux/internal/pace"
)

// Options is what the outer terminal can do.
type Options struct {
	Profile emulator.Profile
	// Sync means synchronised output (mode 2026).
	Sync bool
	// Blank draws the cells of pictures blank, as pictures are put over them.
	Blank bool
	// ASCII says that the locale is not UTF-8: characters beyond ASCII are replaced.
	ASCII bool
	// Clusters says that the terminal measures grapheme clusters as we do (mode 2027). If not, it
	// may draw the characters of a cluster side by side.
	Clusters bool
}

// Cursor is the position and look of the outer terminal's cursor.
type Cursor = emulator.Cursor

// Painter holds what the outer terminal shows and writes what changes it.
type Painter struct {
	opt   Options
	w, h  int
	front []cell
	stale bool // it is unknown what shows: paint everything

	cleared bool  // by the last frame, the screen
	blanked []int // cells of pictures that were written as blanks, for Gallery.Written

	// The outer terminal's state.
	x, y   int // the cursor's position; x < 0 means unknown
	pen    emulator.Style
	linked bool // a hyperlink is open
	extra  extra
	cursor Cursor // as last asked for

	body []byte
}

// NewPainter makes a painter for a terminal whose contents are unknown.
func NewPainter(o Options) *Painter {
	return &Painter{opt: o, stale: true, x: -1}
}

// SetOptions changes the options. If they differ, the next frame paints everything.
func (p *Painter) SetOptions(o Options) {
	if p.opt != o {
		p.opt = o
		p.stale = true
	}
}

// Forget makes the next frame paint everything.
func (p *Painter) Forget() { p.stale = true }

// Cleared reports whether the last frame began with clearing the screen.
func (p *Painter) Cleared() bool { return p.cleared }

// Frame appends what makes the outer terminal show the canvas and the cursor, nothing if it does
// already. It clears the canvas's marks.
func (p *Painter) Frame(buf []byte, c *Canvas, cur Cursor) []byte {
	p.body, p.cleared = p.body[:0], false
	if c.w != p.w || c.h != p.h || p.stale {
		p.reset(c)
	}
	moves := 0
	for y := range c.dirty {
		d := &c.dirty[y]
		if d.from >= d.to {
			continue
		}
		n := len(p.body)
		p.row(c, y, d.from, d.to)
		if len(p.body) > n {
			moves++
		}
		*d = span{}
	}
	if p.linked {
		p.body = emulator.AppendLink(p.body, "", "")
		p.linked, p.extra = false, extra{}
	}
	painted := len(p.body) > 0
	if !painted && cur == p.cursor && (!cur.Visible || p.x == cur.X && p.y == cur.Y) {
		return buf
	}
	if p.opt.Sync && painted {
		buf = append(buf, "\x1b[?2026h"...)
	}
	hidden := !p.cursor.Visible
	if !hidden && (moves > 1 || !cur.Visible) {
		buf = append(buf, "\x1b[?25l"...)
		hidden = true
	}
	buf = append(buf, p.body...)
	buf = p.place(buf, cur, hidden)
	if p.opt.Sync && painted {
		buf = append(buf, "\x1b[?2026l"...)
	}
	return buf
}

// reset clears the outer terminal and marks all cells.
func (p *Painter) reset(c *Canvas) {
	p.w, p.h = c.w, c.h
	p.front, p.blanked = make([]cell, p.w*p.h), p.blanked[:0]
	for i := range p.front {
		p.front[i].width = 1
	}
	for y := range c.dirty {
		c.dirty[y] = span{0, c.w}
	}
	// ED 2 would make kitty delete pictures that are not shown yet.
	p.body = append(p.body, "\x1b]8;;\x1b\\\x1b[m\x1b[H\x1b[J"...)
	if !p.opt.Profile.Hyperlinks {
		p.body = append(p.body[:0], "\x1b[m\x1b[H\x1b[J"...)
	}
	p.pen, p.linked, p.extra = emulator.Style{}, false, extra{}
	p.x, p.y = 0, 0
	p.cleared = true
	p.cursor = Cursor{Visible: true} // it must be hidden, placed and shaped again
	p.stale = false
}

// place shows and moves the cursor, after the cells were written.
func (p *Painter) place(buf []byte, cur Cursor, hidden bool) []byte {
	if !cur.Visible {
		p.cursor = cur
		return buf
	}
	cur.X, cur.Y = min(max(cur.X, 0), p.w-1), min(max(cur.Y, 0), p.h-1)
	buf = p.move(buf, cur.X, cur.Y)
	old := p.cursor
	if cur.Shape != old.Shape || cur.Blink != old.Blink || cur.Default != old.Default {
		n := int64(0)
		if !cur.Default {
			n = int64(cur.Shape)*2 + 1
			if !cur.Blink {
				n++
			}
		}
		buf = append(buf, "\x1b["...)
		buf = strconv.AppendInt(buf, n, 10)
		buf = append(buf, " q"...)
	}
	if hidden {
		buf = append(buf, "\x1b[?25h"...)
	}
	p.cursor = cur
	return buf
}

// row writes the cells of a row that differ.
func (p *Painter) row(c *Canvas, y, from, to int) {
	back, front := c.row(y), p.front[y*p.w:(y+1)*p.w]
	tail := len(back) // start of the blank end of the row
	for tail > 0 && back[tail-1].plainBlank() {
		tail--
	}
	for x := from; x < to; {
		if back[x] == front[x] {
			x++
			continue
		}
		if back[x].width == 0 && x > 0 && back[x-1].width == 2 {
			x--
		}
		if x >= tail && p.eraseTail(back, front, x, y, to) {
			return
		}
		if n := p.eraseRun(back, front, x, y, tail, to); n > 0 {
			x += n
			continue
		}
		p.bridge(back, x, y)
		p.body = p.move(p.body, x, y)
		n, reach := p.glyph(c, back, front, x)
		x += n
		for i := x; i < x-n+reach; i++ {
			front[i] = cell{char: unknown}
		}
		to = max(to, x-n+reach)
		x += p.run(back, front, x, min(to, max(tail, x)))
	}
}

// run writes the ASCII cells from x on that differ and have the style of the cell before x, and
// returns their number.
func (p *Painter) run(back, front []cell, x, to int) int {
	if p.x != x || x >= to || x == 0 {
		return 0
	}
	last, n := back[x-1], 0
	if last.extra != 0 {
		return 0
	}
	for x+n < to {
		b := &back[x+n]
		last.char = b.char
		if *b != last || b.char < 0x20 || b.char >= 0x7f || *b == front[x+n] {
			break
		}
		p.body = append(p.body, byte(b.char))
		front[x+n] = *b
		n++
	}
	if p.x += n; p.x >= p.w {
		p.x = -1
	}
	return n
}

// eraseTail erases the row from x on, where it is all blank, if that is shorter than writing
// blanks. It reports whether it did.
func (p *Painter) eraseTail(back, front []cell, x, y, to int) bool {
	differ := 0
	for i := x; i < to; i++ {
		if back[i] != front[i] {
			differ++
		}
	}
	if differ < 4 {
		return false
	}
	p.body = p.move(p.body, x, y)
	p.body = p.setPen(p.body, emulator.Style{}, extra{})
	p.body = append(p.body, "\x1b[K"...)
	copy(front[x:], back[x:])
	return true
}

// eraseRun erases a run in the middle of a row and returns its length, 0 if writing spaces is
// better.
func (p *Painter) eraseRun(back, front []cell, x, y, tail, to int) int {
	n := 0
	for x+n < min(tail, to) && back[x+n].plainBlank() {
		n++
	}
	if n < 10 {
		return 0
	}
	p.body = p.move(p.body, x, y)
	p.body = p.setPen(p.body, emulator.Style{}, extra{})
	p.body = append(p.body, "\x1b["...)
	p.body = strconv.AppendInt(p.body, int64(n), 10)
	p.body = append(p.body, 'X')
	copy(front[x:x+n], back[x:x+n])
	return n
}

// bridge writes the few unchanged cells between the cursor and x again if that is shorter than
// moving the cursor.
func (p *Painter) bridge(back []cell, x, y int) {
	if p.y != y || p.x < 0 || p.x >= x || x-p.x > 3 {
		return
	}
	for i := p.x; i < x; i++ {
		b := &back[i]
		if b.width != 1 || b.extra != 0 || b.char >= 0x7f || b.style() != p.pen || p.linked {
			return
		}
	}
	for i := p.x; i < x; i++ {
		p.body = append(p.body, max(byte(back[i].char), ' '))
	}
	p.x = x
}

// unknown is the character of a cell for which it is unknown what the terminal shows.
const unknown = -1

// glyph writes the cell at x, where the cursor is. It returns the number of cells that it covers,
// and the number of cells that the terminal may have drawn on.
func (p *Painter) glyph(c *Canvas, back, front []cell, x int) (n, reach int) {
	b := &back[x]
	e := extra{}
	if b.extra != 0 {
		e = c.extras[b.extra]
	}
	p.body = p.setPen(p.body, b.style(), e)
	n = max(int(b.width), 1)
	reach = n
	sure := true // all terminals agree on the width
	switch {
	case b.char < 0x20 || b.char == 0x7f || b.width == 0 || b.char >= 0x80 && b.char < 0xa0:
		p.body = append(p.body, ' ')
	case b.char < 0x7f && e.combining == "":
		p.body = append(p.body, byte(b.char))
	case b.char == emulator.PlaceholderRune && p.opt.Blank:
		p.body = append(p.body, ' ')
		p.blanked = append(p.blanked, p.y*p.w+x)
	case p.opt.ASCII:
		p.body = append(p.body, asciiFor(b.char))
		if n == 2 {
			p.body = append(p.body, ' ')
		}
	case b.char == emulator.PlaceholderRune:
		p.body = append(utf8.AppendRune(p.body, b.char), e.combining...)
	default:
		sure = e.combining == "" && knownWidth(b.char)
		if n == 2 && !sure && !p.opt.Clusters {
			// If the terminal takes one column for it, the old contents of the other one would
			// stay.
			p.body = append(p.body, "  "...)
			p.x = -1
			p.body = p.move(p.body, x, p.y)
		}
		reach = max(n, p.cluster(b.char, e.combining, len(back)-x))
	}
	if n == 2 && !p.opt.ASCII && b.char >= ' ' && emulator.ClusterWidth(string(b.char)+e.combining) == 1 {
		p.body = append(p.body, ' ') // a character of a double-width line
	}
	copy(front[x:x+n], back[x:x+n])
	p.x += n
	if !sure || p.x >= p.w {
		// In the last column, and after characters of uncertain width, terminals differ in where
		// the cursor is.
		p.x = -1
	}
	return n, reach
}

// knownWidth reports whether all terminals agree on a character's width. They don't for some
// marks and format characters, and for symbols and emoji that newer versions of Unicode change.
func knownWidth(r rune) bool {
	switch {
	case r < 0x600:
		return r != 0xad
	case r < 0x1100:
		return !unicode.In(r, unicode.Cf, unicode.Mc)
	}
	return r < 0x2600 || r >= 0x3000 && r < 0x1d300 || r >= 0x20000
}

// cluster writes a grapheme cluster. It returns the columns of its characters side by side, as
// terminals draw them that don't measure clusters, and drops the characters that have no room
// then.
func (p *Painter) cluster(r rune, rest string, room int) int {
	w := emulator.RuneWidth(r)
	if w > room { // an emulator of one column keeps wide characters in it
		p.body = append(p.body, ' ')
		return room
	}
	p.body = utf8.AppendRune(p.body, r)
	for _, r := range rest {
		if w += emulator.RuneWidth(r); w > room && !p.opt.Clusters {
			p.body = bytes.TrimSuffix(p.body, []byte("\u200d")) // it would join the next character
			return room
		}
		if r >= 0xa0 {
			p.body = utf8.AppendRune(p.body, r)
		}
	}
	if p.opt.Clusters {
		return 0
	}
	return w
}

// setPen appends what changes the terminal's style and hyperlink to these.
func (p *Painter) setPen(buf []byte, s emulator.Style, e extra) []byte {
	if s != p.pen {
		buf = p.opt.Profile.AppendStyle(buf, p.pen, s)
		p.pen = s
	}
	if p.opt.Profile.Hyperlinks && (e.link != p.extra.link || e.linkID != p.extra.linkID) {
		buf = emulator.AppendLink(buf, e.link, e.linkID)
		p.linked = e.link != ""
		p.extra = extra{link: e.link, linkID: e.linkID}
	}
	return buf
}

// move appends the shortest cursor movement to a cell.
func (p *Painter) move(buf []byte, x, y int) []byte {
	switch {
	case p.x == x && p.y == y && p.x >= 0:
		return buf
	case x == 0 && p.y == y:
		buf = append(buf, '\r')
	case x == 0 && y == p.y+1 && p.x >= 0:
		buf = append(buf, '\r', '\n')
	case p.y == y && p.x >= 0 && x == p.x-1:
		buf = append(buf, '\b')
	case p.y == y && p.x >= 0 && x > p.x:
		buf = append(buf, "\x1b["...)
		if x-p.x > 1 {
			buf = strconv.AppendInt(buf, int64(x-p.x), 10)
		}
		buf = append(buf, 'C')
	default:
		buf = append(buf, "\x1b["...)
		buf = strconv.AppendInt(buf, int64(y+1), 10)
		if x > 0 {
			buf = append(buf, ';')
			buf = strconv.AppendInt(buf, int64(x+1), 10)
		}
		buf = append(buf, 'H')
	}
	p.x, p.y = x, y
	return buf
}

// asciiFor returns the ASCII replacement of a character.
func asciiFor(r rune) byte {
	switch {
	case r < 0x7f:
		return byte(r)
	case r == '│' || r == '┃':
		return '|'
	case r == '─' || r == '━' || r == '–':
		return '-'
	case r >= 0x2500 && r < 0x2580:
		return '+'
	case r >= 0x2580 && r < 0x25a0:
		return '#'
	case r == '…':
		return '.'
	}
	return '?'
}

// FrameInterval is the shortest time between two frames while output floods.
const FrameInterval = pace.Interval

// Pace decides when to paint: at once, so that a key's echo doesn't wait, or in a flood at the
// end of an interval. It has no clock and no timer.
type Pace struct {
	pace  pace.Pace
	armed bool
}

// Next says when to paint a change: now (wait is 0), when wait has passed, or, if wait is
// negative, when the timer that runs already fires.
func (p *Pace) Next(now time.Time) (wait time.Duration) {
	wait = max(p.pace.Left(now), 0)
	if wait > 0 && p.armed {
		return -1
	}
	p.armed = p.armed || wait > 0
	return wait
}

// Fired records that the timer has run out.
func (p *Pace) Fired() { p.armed = false }

func (p *Pace) Painted(now time.Time) { p.pace.Took(now) }
