package native

import (
	"fmt"
	"slices"
	"strconv"

	"tandemux/emulator"
	"tandemux/emulator/control"
)

// Snapshot implements emulator.Emulator. It writes lines as a child would, so that they wrap
// and scroll into the receiver's history. Sequences set the rest, in an order in which none
// disturbs what is set already. Marks are not in the bytes; SnapshotMarks returns them.
func (e *Engine) Snapshot(buf []byte, history int) []byte {
	e.flush()
	w := &writer{e: e, buf: buf}
	w.snapshot(history)
	return w.buf
}

func (w *writer) snapshot(history int) {
	e := w.e
	if e.modes.Has(control.Columns) {
		w.raw("\x1b[?3h") // DECCOLM clears the screen
	}
	w.level()
	w.buf = e.tabs.Append(w.buf)
	w.buf = e.sys.Append(w.buf)
	w.buf = e.modes.AppendSaved(w.buf)
	w.pictures()
	if alt := &e.screens[1]; !e.alt() && !alt.pristine() {
		w.raw("\x1b[?47h")
		w.screen(alt, 0)
		w.raw("\x1b[?47l\x1b[H")
	}
	if history < 0 || history >= e.hist.n {
		w.buf = slices.Grow(w.buf, e.hist.used) // roughly what is needed
	}
	w.screen(&e.screens[0], history)
	if e.alt() {
		w.raw("\x1b[?1047h\x1b[H")
		w.screen(&e.screens[1], 0)
	}
	w.modes()
	w.buf = e.pens.Append(w.buf, func(buf []byte, s emulator.Style) []byte {
		w.buf = buf
		w.style(style{Style: s})
		return w.buf
	})
	w.cursor()
	w.pen()
	w.buf = e.parser.AppendPending(w.buf)
}

// writer writes a snapshot.
type writer struct {
	e   *Engine
	buf []byte
	now style // the pen of the receiver
	flow
	prevBuf []byte

	cutting bool // note where marks lie
	cuts    []emulator.Cut
	marks   []mark // scratch: those of the line being written
}

func (w *writer) raw(s string) { w.buf = append(w.buf, s...) }

func (w *writer) rawf(format string, args ...any) { w.buf = fmt.Appendf(w.buf, format, args...) }

// csi writes CSI n final.
func (w *writer) csi(n int, final byte) {
	w.buf = append(w.buf, "\x1b["...)
	if n != 1 {
		w.buf = strconv.AppendInt(w.buf, int64(n), 10)
	}
	w.buf = append(w.buf, final)
}

// style sets the receiver's pen.
func (w *writer) style(s style) {
	if w.now == s {
		return
	}
	if w.now.Style != s.Style {
		w.buf = emulator.AppendStyleFast(w.buf, &w.now.Style, &s.Style)
	}
	if w.now.link != s.link {
		var uri, id string
		if s.link != nil {
			uri, id = s.link.uri, s.link.id
		}
		w.buf = emulator.AppendLink(w.buf, uri, id)
	}
	w.now = s
}

// level writes the conformance level, which resets other state, and then the extent and
// 8-bit replies.
func (w *writer) level() {
	e := w.e
	if e.level != maxLevel {
		w.rawf("\x1b[6%d;1\"p", e.level)
	}
	w.raw(w.national(true))
	if e.extent != 0 {
		w.rawf("\x1b[%d*x", e.extent)
	}
	if e.sys.EightBit {
		w.raw("\x1b G")
	}
}

// national returns the sequence that sets or resets mode 42, if a national character set has
// to be designated.
func (w *writer) national(on bool) string {
	for _, cs := range []*control.Charsets{&w.e.cur.charsets, &w.e.screens[0].saved.charsets, &w.e.screens[1].saved.charsets} {
		for _, s := range cs.G {
			if s >= control.National94 {
				return fmt.Sprintf("\x1b[?42%c", control.SetReset(on))
			}
		}
	}
	return ""
}

// pristine reports whether s is as after a reset, so that a snapshot may leave it out.
func (s *screen) pristine() bool {
	for _, r := range s.lines {
		if r.length() > 0 || r.wrapped || r.size != singleSize {
			return false
		}
	}
	return s.saved == cursor{} && s.kitty.n == 0 && len(s.pointers) == 0
}

// screen writes a screen's saved cursor, lines, keyboard stack and pointers, for the main
// screen after the history's lines. The receiver's screen must be blank, its cursor at
// home.
func (w *writer) screen(s *screen, history int) {
	w.savedCursor(&s.saved)
	w.flow = flow{}
	if s == &w.e.screens[0] && history != 0 {
		n := w.e.hist.len()
		first := 0
		if history > 0 && history < n {
			first = n - history
		}
		if floor := w.e.hist.floor; floor > first {
			w.history(first, floor)
			w.clearScreen(min(floor-first, w.e.rows))
			first = floor
		}
		w.history(first, n)
	}
	rows := s.lines
	for n := len(rows); !w.started && n > 0 && rows[n-1].length() == 0 && rows[n-1].size == singleSize && (n < 2 || !rows[n-2].wrapped); n-- {
		if w.cutting && len(rows[n-1].marks) > 0 {
			break
		}
		rows = rows[:n-1]
	}
	for _, r := range rows {
		if w.marks = w.marks[:0]; w.cutting {
			w.marks = r.textMarks(w.marks)
		}
		w.e.textBuf = w.e.appendLine(w.e.textBuf[:0], r, r.length())
		w.line(w.e.textBuf, r.flags(), w.marks)
	}
	for i := range s.kitty.n {
		w.rawf("\x1b[>%du", s.kitty.stack[i])
	}
	w.buf = s.pointers.Append(w.buf)
}

// savedCursor rebuilds the saved cursor (DECSC). It uses the screen, which is blank before
// and after.
func (w *writer) savedCursor(c *cursor) {
	if *c == (cursor{}) {
		return
	}
	side := c.pending && c.x < w.e.cols-1
	if side {
		w.rawf("\x1b[?69h\x1b[1;%ds", c.x+1)
	}
	if c.origin {
		w.raw("\x1b[?6h")
	}
	w.rawf("\x1b[%d;%dH", c.y+1, c.x+1)
	if c.pending {
		w.raw("x")
	}
	w.charsets(&c.charsets)
	w.style(style{Style: c.pen})
	w.raw("\x1b7")
	w.style(style{})
	if c.charsets != (control.Charsets{}) {
		w.raw("\x1b(B\x1b)B\x1b*B\x1b+B\x0f")
	}
	if c.origin {
		w.raw("\x1b[?6l")
	}
	if side {
		w.raw("\x1b[?69l")
	}
	w.raw("\x1b[2J\x1b[H")
}

var (
	designators = [2][4]byte{{'(', ')', '*', '+'}, {0, '-', '.', '/'}} // by the set's size: 94 or 96 characters
	shifts      = [...]string{"\x0f", "\x0e", "\x1bn", "\x1bo"}
)

// charsets writes the character sets that differ from a reset.
func (w *writer) charsets(c *control.Charsets) {
	for i, set := range c.G {
		if set != control.ASCII {
			kind := 0
			if set == control.Latin1 {
				kind = 1
			}
			w.buf = append(append(w.buf, 0x1b, designators[kind][i]), set.Name()...)
		}
	}
	if c.GL != 0 {
		w.raw(shifts[c.GL])
	}
}

// lateFlags are set after the character before the cursor is printed again.
const lateFlags = control.Insert | control.Graphemes

// modes writes the modes and margins that differ from a reset, except lateFlags, which would
// disturb the printing that follows.
func (w *writer) modes() {
	e := w.e
	w.buf = e.modes.Append(w.buf, lateFlags|control.Columns)
	if e.modes.Has(control.SideMargins) {
		w.rawf("\x1b[%d;%ds", e.left+1, e.right+1)
	}
	if e.top > 0 || e.bot < e.rows-1 {
		w.rawf("\x1b[%d;%dr", e.top+1, e.bot+1)
	}
	if e.cur.origin {
		w.raw("\x1b[?6h")
	}
}

// cursor places the cursor. If it waits to wrap, or the cluster before it may still grow, the
// cell before it is printed again.
func (w *writer) cursor() {
	e := w.e
	x, y := e.cur.x, e.cur.y
	var c cell
	switch {
	case e.lastValid():
		x = e.last.x
		c = e.scr.lines[y].cells[x]
	case e.cur.pending:
		c = e.scr.lines[y].cells[x]
		if c&kindMask == wideTail {
			x--
			c = e.scr.lines[y].cells[x]
		}
	}
	if e.cur.origin {
		w.rawf("\x1b[%d;%dH", y-e.top+1, x-e.left+1)
	} else {
		w.rawf("\x1b[%d;%dH", y+1, x+1)
	}
	switch {
	case c.empty() && e.cur.pending:
		// The character that filled the line was erased.
		w.style(style{Style: emulator.Style{BG: e.styles.list[c.style()].BG}})
		w.raw(" \x1b[X")
		return
	case c.empty():
		return
	}
	w.style(e.styles.list[c.style()])
	if e.lastValid() && e.last.r != 0 {
		w.guard()
	}
	w.buf = e.texts.appendText(w.buf, c)
	switch {
	case !e.lastValid():
		w.raw("\u200b") // shows nothing and ends the cluster
	case e.last.r == 0:
		w.raw("\x1b\\") // REP must not repeat it
	}
}

// pen writes the state for printing the next character: lateFlags, style and character sets.
func (w *writer) pen() {
	e := w.e
	w.buf = e.modes.AppendFlags(w.buf, lateFlags)
	w.style(style{e.cur.pen, e.link})
	if e.last.r == 0 || !e.lastValid() {
		w.guard() // else cursor wrote it before the last character
	}
	w.charsets(&e.cur.charsets)
	if !e.modes.Has(control.National) {
		w.raw(w.national(false))
	}
	if s := e.cur.charsets.Single; s != 0 {
		w.raw([...]string{2: "\x1bN", 3: "\x1bO"}[s])
	}
}

// guard writes SPA, and EPA if the pen is not protected, if protected cells are of SPA's
// kind.
func (w *writer) guard() {
	if w.e.modes.Has(control.ISOProtect) {
		w.raw("\x1bV")
		if w.e.cur.pen.Attrs&emulator.Protected == 0 {
			w.raw("\x1bW")
		}
	}
}
