package vt10x

import (
	"tandemux/emulator"
	"tandemux/emulator/control"
)

// Control implements control.Handler.
func (e *engine) Control(b byte) {
	e.last = 0
	switch b {
	case 0x07:
		e.sys.Event(emulator.EventBell, "", "")
	case '\t':
		e.tab(1)
	case '\b', '\r':
		e.sendString(string(rune(b)))
	case '\n', '\v', '\f':
		if e.modes.Has(control.Newline) {
			e.lineFeed("\r\n")
		} else {
			e.lineFeed("\n")
		}
	case 0x0e, 0x0f:
		e.charset.gl = 0x0f - b
	}
}

// What this terminal says it is: a VT220 with ANSI colour.
const (
	deviceAttributes    = "\x1b[?62;22c"
	secondaryAttributes = "\x1b[>1;10;0c"
	level               = 2
)

// sequences are the control functions: ESC with intermediates and final byte, CSI with
// "[", prefix, intermediate and final byte. Those that vt10x reads rightly are sent on
// with a bounded count.
var sequences map[string]func(*engine)

func init() {
	position := func(e *engine) { e.moveTo(e.parser.Arg(0, 1), e.parser.Arg(1, 1)) }
	column := func(e *engine) { e.sendCSI('G', e.count(e.cols)) }
	sequences = map[string]func(*engine){
		"D":  func(e *engine) { e.lineFeed("\x1bD") },
		"E":  func(e *engine) { e.lineFeed("\x1bE") },
		"M":  func(e *engine) { e.settle(); e.sendPen(); e.sendString("\x1bM") },
		"H":  func(e *engine) { x, _, _ := e.at(); e.tabs[x] = true },
		"7":  (*engine).save,
		"8":  (*engine).restore,
		"c":  (*engine).reset,
		"=":  func(e *engine) { e.modes.Put(control.AppKeypad, true) },
		">":  func(e *engine) { e.modes.Put(control.AppKeypad, false) },
		"Z":  func(e *engine) { e.sys.Reply(deviceAttributes) },
		"#8": (*engine).align,

		"[@": across('@'), "[P": across('P'), "[X": func(e *engine) { e.sendPen(); e.sendCSI('X', e.count(e.cols)) },
		"[C": move('C'), "[a": move('C'), "[D": move('D'),
		"[I": func(e *engine) { e.tab(e.count(e.cols)) },
		"[Z": func(e *engine) { x, _, _ := e.at(); e.sendCSI('G', e.tabs.Prev(x, e.count(e.cols), 0)+1) },
		"[A": (*engine).up, "[B": (*engine).down, "[e": (*engine).down,
		"[E": func(e *engine) { e.down(); e.sendString("\r") },
		"[F": func(e *engine) { e.up(); e.sendString("\r") },
		"[G": column, "[`": column,
		"[d": func(e *engine) { x, _, _ := e.at(); e.moveTo(e.parser.Arg(0, 1), x+1) },
		"[H": position, "[f": position,
		"[J": (*engine).eraseDisplay, "[?J": (*engine).eraseDisplay,
		"[K": (*engine).eraseLine, "[?K": (*engine).eraseLine,
		"[L": lines('L'), "[M": lines('M'),
		"[S": (*engine).scrollUp,
		"[T": func(e *engine) {
			if e.parser.NParams == 1 { // Else it is highlight tracking.
				e.sendPen()
				e.sendCSI('T', e.count(e.rows))
			}
		},
		"[b":   (*engine).repeat,
		"[g":   func(e *engine) { x, _, _ := e.at(); e.tabs.Clear(e.parser.Raw(0), x) },
		"[h":   setModes(false, true),
		"[l":   setModes(false, false),
		"[?h":  setModes(true, true),
		"[?l":  setModes(true, false),
		"[m":   func(e *engine) { p := e.pen; e.parser.SGR(&p.Style); e.setPen(p) },
		"[r":   (*engine).margins,
		"[s":   (*engine).save,
		"[u":   (*engine).restore,
		"[!p":  (*engine).softReset,
		"[ q":  func(e *engine) { e.modes.SetShape(e.parser.Raw(0)) },
		"[t":   func(e *engine) { e.sys.Window(&e.parser, e.cols, e.rows) },
		"[n":   func(e *engine) { x, y := e.position(); e.sys.Status(&e.parser, y, x) },
		"[?n":  func(e *engine) { x, y := e.position(); e.sys.PrivateStatus(&e.parser, y, x, level) },
		"[c":   func(e *engine) { e.identify(deviceAttributes) },
		"[>c":  func(e *engine) { e.identify(secondaryAttributes) },
		"[>q":  func(e *engine) { e.sys.Version(&e.parser, e.version) },
		"[$p":  func(e *engine) { e.modes.Report(&e.sys, false, e.parser.Raw(0), false, false) },
		"[?$p": (*engine).reportMode,
	}
	for i, set := range []string{"(", ")"} {
		for final, drawing := range map[string]bool{"0": true, "B": false, "A": false} {
			sequences[set+final] = func(e *engine) { e.charset.drawing[i] = drawing }
		}
	}
}

// Esc implements control.Handler.
func (e *engine) Esc(final byte) { e.execute("", final) }

// CSI implements control.Handler.
func (e *engine) CSI(final byte) {
	name := "["
	if p := e.parser.Prefix; p != 0 {
		name += string(rune(p))
	}
	e.execute(name, final)
}

func (e *engine) execute(name string, final byte) {
	name += string(e.parser.Inter[:e.parser.NInter]) + string(rune(final))
	if name != "[b" {
		e.last = 0
	}
	if do := sequences[name]; do != nil {
		do(e)
	}
	e.last = 0 // REP comes but once, too.
}

// ControlString implements control.Handler: OSC, titles, and that no capability or setting
// is told.
func (e *engine) ControlString(c control.Command) {
	e.last = 0
	switch c.Kind {
	case 'k':
		e.sys.SetTitle(c.Body)
	case 'P':
		switch string(e.parser.Inter[:e.parser.NInter]) + string(rune(e.parser.Final)) {
		case "+q":
			e.sys.Reply("\x1bP0+r\x1b\\")
		case "$q":
			e.sys.Reply("\x1bP0$r\x1b\\")
		}
	case ']':
		if n, body := e.sys.OSC(c); n == 8 {
			if uri, id, ok := control.ParseLink(body); ok {
				e.setPen(pen{e.pen.Style, uri, id})
			}
		}
		e.changed = e.changed || e.sys.Repaint
		e.sys.Repaint = false
	}
}

// count is the first parameter as a count, at most n.
func (e *engine) count(n int) int { return min(e.parser.Arg(0, 1), n) }

func (e *engine) identify(answer string) {
	if e.parser.Raw(0) == 0 {
		e.sys.Reply(answer)
	}
}

// position is the cursor's place as it is told, which origin mode counts from the region.
func (e *engine) position() (x, y int) {
	x, y, _ = e.at()
	if e.origin {
		y -= e.top
	}
	return x, y
}

func (e *engine) reportMode() {
	n := e.parser.Raw(0)
	own := map[int]bool{6: e.origin, 1048: true, 1049: e.alt > 0}
	on, ok := own[n]
	e.modes.Report(&e.sys, true, n, on, ok)
}

func setModes(private, on bool) func(*engine) {
	return func(e *engine) {
		for i := range e.parser.NParams {
			n := e.parser.Raw(i)
			switch e.modes.Set(private, n, on); {
			case !private:
			case n == 5:
				e.changed = true
			case n == 6:
				e.setOrigin(on)
			case n == 7:
				e.sendWrap()
			case n == 1048 && on:
				e.save()
			case n == 1048:
				e.restore()
			case n == 1049:
				e.switchScreen(on)
			}
		}
	}
}

// switchScreen goes to the alternate screen, which is empty then, or back. Going back
// from the main screen restores the cursor, too, as xterm and tmux do.
func (e *engine) switchScreen(on bool) {
	switch {
	case !on:
		if e.alt > 0 {
			e.show(0)
		}
		e.restore()
	case e.alt == 0:
		x, y, pending := e.at()
		e.save()
		e.show(1)
		e.sendPen()
		e.sendCSI('J', 2)
		e.putBack(x, y, pending)
	}
}

// save is DECSC.
func (e *engine) save() {
	s := saved{writer: e.writer}
	s.x, s.y, s.pending = e.at()
	e.saved[e.alt] = s
}

// restore is DECRC. The hyperlink is not part of what is saved.
func (e *engine) restore() {
	s := e.saved[e.alt]
	s.pen.link, s.pen.linkID = e.pen.link, e.pen.linkID
	e.setPen(s.pen)
	e.origin, e.charset = s.origin, s.charset
	if e.origin {
		s.y = min(max(s.y, e.top), e.bottom)
	}
	e.putBack(s.x, s.y, s.pending && s.x == e.cols-1)
}

// setOrigin is DECOM, which moves the cursor home. vt10x is not told.
func (e *engine) setOrigin(on bool) {
	e.origin = on
	e.moveTo(1, 1)
}

// align is DECALN: the screen full of E, margins reset, cursor home.
func (e *engine) align() {
	e.origin = false
	e.setRegion(0, e.rows-1)
	e.sendID(0)
	e.sendString("\x1b#8")
}

// softReset is DECSTR.
func (e *engine) softReset() {
	x, y, _ := e.at()
	e.setPen(pen{link: e.pen.link, linkID: e.pen.linkID})
	e.charset, e.origin, e.saved[e.alt] = charset{}, false, saved{}
	e.setRegion(0, e.rows-1)
	e.place(x, y)
	e.modes.Flags = e.modes.Flags&^(control.AppCursor|control.AppKeypad|control.Insert) | control.Wrap | control.CursorVisible
	e.modes.Shape = 0
	e.sendWrap()
}

// tab moves to the n-th next tab stop. At the margin it does not end waiting to wrap.
func (e *engine) tab(n int) {
	x, _, _ := e.at()
	if to := e.tabs.Next(x, n, e.cols-1); to != x {
		e.sendCSI('G', to+1)
	}
}

// move sends on a move along the line.
func move(final byte) func(*engine) {
	return func(e *engine) { e.sendCSI(final, e.count(e.cols)) }
}

// across is ICH and DCH.
func across(final byte) func(*engine) {
	return func(e *engine) {
		e.settle()
		e.splitWide(true)
		e.sendPen()
		e.sendCSI(final, e.count(e.cols))
		e.splitWide(false)
	}
}

// splitWide erases the second half of a wide character under the cursor, with
// its first half if both: shifting must not join it to another's first half.
func (e *engine) splitWide(both bool) {
	x, y, _ := e.at()
	g := e.glyph(e.alt, x, y)
	if g.char != secondHalf {
		return
	}
	e.sendID(g.id)
	if both && x > 0 && runeWidth(e.glyph(e.alt, x-1, y).char) == 2 {
		e.sendString("\x1b[D\x1b[2X\x1b[C")
	} else {
		e.sendString("\x1b[X")
	}
}

// up and down (CUU, CUD) stop at the margins when they begin inside them.
func (e *engine) up() {
	_, y, _ := e.at()
	limit := 0
	if y >= e.top {
		limit = e.top
	}
	e.toRow(max(limit, y-e.count(e.rows)))
}

func (e *engine) down() {
	_, y, _ := e.at()
	limit := e.rows - 1
	if y <= e.bottom {
		limit = e.bottom
	}
	e.toRow(min(limit, y+e.count(e.rows)))
}

func (e *engine) toRow(y int) {
	x, _, _ := e.at()
	e.place(x, y)
}

// settle ends waiting to wrap, which vt10x does for moves but not for erasing.
func (e *engine) settle() {
	if x, y, pending := e.at(); pending {
		e.place(x, y)
	}
}

// moveTo is CUP, which origin mode counts from the region and keeps there.
func (e *engine) moveTo(row, col int) {
	y, last := row-1, e.rows-1
	if e.origin {
		y, last = y+e.top, e.bottom
	}
	e.place(min(col, e.cols)-1, min(y, last))
}

// eraseDisplay is ED; 0 goes as line by line, like EL.
func (e *engine) eraseDisplay() {
	x, y, pending := e.at()
	e.sendPen()
	switch mode := e.parser.Raw(0); {
	case mode == 3:
		e.history.lines, e.changed = nil, true
	case mode == 0 && pending:
		if y+1 < e.rows {
			e.place(0, y+1)
			e.sendString("\x1b[J")
			e.putBack(x, y, true)
		}
	case mode == 1 && y == 1: // vt10x forgets row 0 then.
		e.place(0, 0)
		e.sendString("\x1b[2K")
		e.putBack(x, y, pending)
		e.sendPen()
		e.sendCSI('K', 1)
	case mode <= 2:
		e.sendCSI('J', mode)
	}
}

// eraseLine is EL. While the line waits to wrap the cursor is behind its last
// character.
func (e *engine) eraseLine() {
	mode := e.parser.Raw(0)
	if _, _, pending := e.at(); mode <= 2 && !(mode == 0 && pending) {
		e.sendPen()
		e.sendCSI('K', mode)
	}
}

// putBack moves the cursor to where it was; waiting to wrap comes from writing what is
// in the last column once more.
func (e *engine) putBack(x, y int, pending bool) {
	e.place(x, y)
	if pending {
		g := e.glyph(e.alt, x, y)
		e.sendID(g.id)
		e.sendString(string(g.char))
	}
}

// lines is IL and DL, which also move the cursor to the first column. DL on the
// top line scrolls into history, as in xterm.
func lines(final byte) func(*engine) {
	return func(e *engine) {
		_, y, _ := e.at()
		if y < e.top || y > e.bottom {
			return
		}
		n := e.count(e.rows)
		if y == 0 && final == 'M' {
			e.saveTop(n)
		}
		e.sendPen()
		e.sendCSI(final, n)
		e.sendString("\r")
	}
}

func (e *engine) scrollUp() {
	n := e.count(e.rows)
	e.saveTop(n)
	e.sendPen()
	e.sendCSI('S', n)
}

// margins is DECSTBM. A region of less than two lines is refused.
func (e *engine) margins() {
	if top, bottom := e.parser.Arg(0, 1), min(e.parser.Arg(1, e.rows), e.rows); top < bottom {
		e.setRegion(top-1, bottom-1)
		e.moveTo(1, 1)
	}
}

// repeat is REP: the last character n times more, at most as often as the
// screen has room for.
func (e *engine) repeat() {
	if e.last == 0 {
		return
	}
	e.run = e.run[:0]
	for range e.count(e.cols * e.rows) {
		e.run = append(e.run, e.last)
	}
	e.print(e.run)
}
