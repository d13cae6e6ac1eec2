package native

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"tandemux/emulator"
)

// Snapshot implements emulator.Emulator. Lines are written as a child would
// write them, wrapping and scrolling into history by themselves; the rest is
// set by sequences in an order in which none disturbs what is there already.
// Marks are left out of the bytes; SnapshotMarks says where they lie.
func (e *Engine) Snapshot(buf []byte, history int) []byte {
	w := &writer{e: e, buf: buf}
	w.snapshot(history)
	return w.buf
}

func (w *writer) snapshot(history int) {
	e := w.e
	if e.flags.has(flagColumns) {
		w.raw("\x1b[?3h") // It clears the screen.
	}
	w.level()
	w.tabs()
	w.titles()
	w.savedModes()
	w.palette()
	w.pictures()
	if alt := &e.screens[1]; !e.alt() && !alt.pristine() {
		w.raw("\x1b[?47h")
		w.screen(alt, 0)
		w.raw("\x1b[?47l\x1b[H")
	}
	w.screen(&e.screens[0], history)
	if e.alt() {
		w.raw("\x1b[?1047h\x1b[H")
		w.screen(&e.screens[1], 0)
	}
	w.modes()
	w.cursor()
	w.pen()
	w.pending()
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

// style gives the receiver a pen.
func (w *writer) style(s style) {
	if w.now == s {
		return
	}
	if w.now.Style != s.Style {
		w.buf = appendPen(w.buf, &w.now.Style, &s.Style)
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

// level sets the conformance level, which resets other things, and what else a
// reset doesn't leave as it should be.
func (w *writer) level() {
	e := w.e
	if e.level != maxLevel {
		w.rawf("\x1b[6%d;1\"p", e.level)
	}
	w.raw(w.national(true))
	if e.extent != 0 {
		w.rawf("\x1b[%d*x", e.extent)
	}
	if e.sumMode != 0 {
		w.rawf("\x1b[%d#y", e.sumMode)
	}
}

// national sets mode 42 while character sets are designated.
func (w *writer) national(on bool) string {
	for _, cs := range []*charsets{&w.e.cur.charsets, &w.e.screens[0].saved.charsets, &w.e.screens[1].saved.charsets} {
		for _, s := range cs.g {
			if s >= setNational {
				return fmt.Sprintf("\x1b[?42%c", setReset(on))
			}
		}
	}
	return ""
}

func (w *writer) tabs() {
	e := w.e
	same := true
	for x, on := range e.tabs {
		same = same && on == (x > 0 && x%8 == 0)
	}
	if same {
		return
	}
	w.raw("\x1b[3g")
	for x, on := range e.tabs {
		if on {
			w.rawf("\x1b[%dG\x1bH", x+1)
		}
	}
	w.raw("\x1b[H")
}

func (w *writer) titles() {
	for _, t := range w.e.titles {
		w.rawf("\x1b]2;%s\x1b\\\x1b[22;2t", t)
	}
	if w.e.title != "" || len(w.e.titles) > 0 {
		w.rawf("\x1b]2;%s\x1b\\", w.e.title)
	}
}

// savedModes rebuilds what XTSAVE kept; none of those modes has an effect of
// its own.
func (w *writer) savedModes() {
	for _, n := range slices.Sorted(maps.Keys(w.e.savedSet)) {
		on := w.e.savedSet[n]
		def := defaultFlags.has(privateModes[n].flag)
		w.rawf("\x1b[?%d%c\x1b[?%ds", n, setReset(on), n)
		if on != def {
			w.rawf("\x1b[?%d%c", n, setReset(def))
		}
	}
}

func setReset(on bool) byte {
	if on {
		return 'h'
	}
	return 'l'
}

func (w *writer) palette() {
	p := &w.e.palette
	for _, i := range slices.Sorted(maps.Keys(p.Indexed)) {
		r, g, b, _ := p.Indexed[i].RGB()
		w.rawf("\x1b]4;%d;rgb:%02x/%02x/%02x\x1b\\", i, r, g, b)
	}
	for i, c := range w.e.special {
		if r, g, b, ok := c.RGB(); ok {
			w.rawf("\x1b]5;%d;rgb:%02x/%02x/%02x\x1b\\", i, r, g, b)
		}
	}
	for i, c := range []emulator.Color{p.FG, p.BG, p.Cursor} {
		if r, g, b, ok := c.RGB(); ok {
			w.rawf("\x1b]%d;rgb:%02x/%02x/%02x\x1b\\", 10+i, r, g, b)
		}
	}
}

// pristine reports whether nothing would be lost by leaving s out.
func (s *screen) pristine() bool {
	for _, r := range s.lines {
		if r.length() > 0 || r.wrapped {
			return false
		}
	}
	return s.saved == cursor{} && s.kitty.n == 0
}

// screen writes a blank screen's lines, those of history before them, its saved
// cursor and its keyboard stack. The receiver's cursor is at home before.
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
	for n := len(rows); !w.started && n > 0 && rows[n-1].length() == 0 && (n < 2 || !rows[n-2].wrapped); n-- {
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
		w.line(w.e.textBuf, false, r.wrapped, w.marks)
	}
	for i := range s.kitty.n {
		w.rawf("\x1b[>%du", s.kitty.stack[i])
	}
}

// savedCursor rebuilds what DECSC kept, on a blank screen, and leaves it so.
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
	if c.charsets != (charsets{}) {
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
	designators = [2][4]byte{{'(', ')', '*', '+'}, {0, '-', '.', '/'}} // of 94 and 96 characters
	shifts      = [...]string{"\x0f", "\x0e", "\x1bn", "\x1bo"}
)

// charsets sets a receiver's character sets that differ from a reset.
func (w *writer) charsets(c *charsets) {
	for i, set := range c.g {
		if set != setASCII {
			kind := 0
			if set == setLatin1 {
				kind = 1
			}
			w.buf = append(append(w.buf, 0x1b, designators[kind][i]), setNames[set]...)
		}
	}
	if c.gl != 0 {
		w.raw(shifts[c.gl])
	}
}

// lateFlags are set after the cursor's last character is printed anew.
const lateFlags = flagInsert | flagGraphemes

// modes sets what differs from a reset, except what would be in the way yet.
func (w *writer) modes() {
	e := w.e
	w.table("\x1b[?", privateModes, lateFlags)
	if e.flags.has(flagSideMargins) {
		w.rawf("\x1b[%d;%ds", e.left+1, e.right+1)
	}
	w.table("\x1b[", ansiModes, lateFlags)
	if e.mouse != emulator.MouseOff {
		w.rawf("\x1b[?%dh", [...]int{0, 9, 1000, 1002, 1003}[e.mouse])
	}
	if e.mouseEnc != emulator.MouseDefault {
		w.rawf("\x1b[?%dh", [...]int{0, 1005, 1006, 1015, 1016}[e.mouseEnc])
	}
	if e.keyMods != 0 {
		w.rawf("\x1b[>4;%dm", e.keyMods)
	}
	if e.shape != 0 {
		w.rawf("\x1b[%d q", e.shape)
	}
	if e.top > 0 || e.bot < e.rows-1 {
		w.rawf("\x1b[%d;%dr", e.top+1, e.bot+1)
	}
	if e.cur.origin {
		w.raw("\x1b[?6h")
	}
}

// table sets the modes of a table that are flags.
func (w *writer) table(prefix string, modes map[int]mode, not flags) {
	var done flags
	for _, n := range slices.Sorted(maps.Keys(modes)) {
		f := modes[n].flag
		if f == 0 || f == flagColumns || f&(not|done) != 0 || w.e.flags&f == defaultFlags&f {
			continue
		}
		done |= f
		w.rawf("%s%d%c", prefix, n, setReset(w.e.flags.has(f)))
	}
}

// cursor places the cursor. Where it waits to wrap, or the cluster before it
// may still grow, that cell is printed once more.
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
		w.raw("\u200b") // Shows nothing and ends the cluster.
	case e.last.r == 0:
		w.raw("\x1b\\") // REP has nothing to repeat.
	}
}

// pen sets what the next character is printed with.
func (w *writer) pen() {
	e := w.e
	w.table("\x1b[", map[int]mode{4: ansiModes[4]}, 0)
	w.table("\x1b[?", map[int]mode{2027: privateModes[2027]}, 0)
	w.style(style{e.cur.pen, e.link})
	if e.last.r == 0 || !e.lastValid() {
		w.guard() // Else it was there before the last character.
	}
	w.charsets(&e.cur.charsets)
	if !e.flags.has(flagNational) {
		w.raw(w.national(false))
	}
	if s := e.cur.charsets.single; s != 0 {
		w.raw([...]string{2: "\x1bN", 3: "\x1bO"}[s])
	}
}

// guard makes the protected cells those of SPA where they are.
func (w *writer) guard() {
	if w.e.flags.has(flagISOProtect) {
		w.raw("\x1bV")
		if w.e.cur.pen.Attrs&emulator.Protected == 0 {
			w.raw("\x1bW")
		}
	}
}

// pending writes the beginning of a sequence whose end has not come yet.
func (w *writer) pending() {
	ps := &w.e.parser
	w.buf = append(w.buf, ps.utf8[:ps.nutf8]...)
	switch ps.state {
	case stGround:
		return
	case stEscape, stEscInter:
		w.raw("\x1b")
		w.inter(ps)
	case stCSI, stCSIInter:
		w.raw("\x1b[")
		w.params(ps)
		w.inter(ps)
	case stCSIIgnore:
		w.raw("\x1b[0?")
	case stDCS, stDCSInter:
		w.raw("\x1bP")
		w.params(ps)
		w.inter(ps)
	case stString, stStringEsc:
		switch {
		case !ps.over:
			w.raw("\x1b")
			w.buf = append(w.buf, ps.kind)
			if ps.kind == 'P' {
				w.params(ps)
				w.inter(ps)
				w.buf = append(w.buf, ps.final)
			}
			w.buf = append(w.buf, ps.str...)
		case ps.kind == ']':
			w.raw("\x1b]999999;") // An OSC that is ignored as well.
		case ps.kind == 'k':
			w.raw("\x1bk")
		default:
			w.raw("\x1bX") // Ends as DCS, APC and PM do.
		}
		if ps.state == stStringEsc {
			w.raw("\x1b")
		}
	}
}

func (w *writer) inter(ps *parser) {
	w.buf = append(w.buf, ps.inter[:ps.ninter]...)
	if ps.bad {
		// Too many, as they may not be the reason.
		for range maxIntermed + 1 - ps.ninter {
			w.raw(" ")
		}
	}
}

func (w *writer) params(ps *parser) {
	if ps.prefix != 0 {
		w.buf = append(w.buf, ps.prefix)
	}
	for i := range min(ps.nparams, maxParams) {
		if i > 0 {
			sep := byte(';')
			if ps.sub>>i&1 != 0 {
				sep = ':'
			}
			w.buf = append(w.buf, sep)
		}
		if v := ps.params[i]; v >= 0 {
			w.buf = strconv.AppendInt(w.buf, int64(v), 10)
		}
	}
	if ps.nparams > maxParams {
		w.raw(";")
	}
}
