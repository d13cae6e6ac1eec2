package native

import (
	"tandemux/emulator"
	"tandemux/emulator/control"
)

// Control implements control.Handler.
func (e *Engine) Control(b byte) {
	if b != 0x0e && b != 0x0f {
		e.intervene()
	}
	switch b {
	case 0x07:
		e.sys.Event(emulator.EventBell, "", "")
	case 0x08:
		e.back(1)
	case 0x09:
		if e.cur.pending && e.modes.Has(control.MoreFix) {
			e.last.ok = false
			e.wrapLine()
		}
		e.printTab()
	case 0x0a, 0x0b, 0x0c:
		e.index()
		if e.modes.Has(control.Newline) {
			e.cur.x = e.lineStart()
		}
	case 0x0d:
		e.settle()
		e.cur.x = e.lineStart()
	case 0x0e:
		e.lockShift(1)
	case 0x0f:
		e.lockShift(0)
	}
	if e.doubled {
		fit(e)
	}
}

// lineStart returns the column that CR moves to.
func (e *Engine) lineStart() int {
	if e.cur.x < e.left && !e.cur.origin {
		return 0
	}
	return e.left
}

// lockShift maps character set g into GL.
func (e *Engine) lockShift(g uint8) {
	e.cur.charsets.GL = g
	e.setPlain()
}

// escTable maps an ESC's intermediate and final bytes to what they do.
var escTable = map[string]func(*Engine){
	"D":  (*Engine).index,
	"E":  func(e *Engine) { e.index(); e.cur.x = e.lineStart() },
	"H":  func(e *Engine) { e.tabs[e.cur.x] = true },
	"M":  (*Engine).reverseIndex,
	"V":  func(e *Engine) { e.protect(true, true) },
	"W":  func(e *Engine) { e.protect(false, true) },
	"N":  func(e *Engine) { e.cur.charsets.Single = 2; e.setPlain() },
	"O":  func(e *Engine) { e.cur.charsets.Single = 3; e.setPlain() },
	"Z":  func(e *Engine) { e.sys.Reply(attributes(e)) },
	"c":  (*Engine).reset,
	"n":  func(e *Engine) { e.lockShift(2) },
	"o":  func(e *Engine) { e.lockShift(3) },
	"6":  (*Engine).backIndex,
	"7":  (*Engine).saveCursor,
	"8":  (*Engine).restoreCursor,
	"9":  (*Engine).forwardIndex,
	"=":  func(e *Engine) { e.modes.Put(control.AppKeypad, true) },
	">":  func(e *Engine) { e.modes.Put(control.AppKeypad, false) },
	"#3": lineOf(upperHalf),
	"#4": lineOf(lowerHalf),
	"#5": lineOf(singleSize),
	"#6": lineOf(doubleWidth),
	"#8": (*Engine).alignmentTest,
	" F": func(e *Engine) { e.sys.EightBit = false },
	" G": func(e *Engine) { e.sys.EightBit = true },
	"\\": func(*Engine) {},
}

// Esc implements control.Handler.
func (e *Engine) Esc(final byte) {
	ps := &e.parser
	if ps.NInter > 0 {
		if g := designates(ps.Inter[0]); g >= 0 {
			e.designate(g, ps.Inter[0] > '+', string(append(ps.Inter[1:ps.NInter:ps.NInter], final)))
			return
		}
	}
	var key [control.MaxIntermed + 1]byte
	n := copy(key[:], ps.Inter[:ps.NInter])
	key[n] = final
	if n > 0 || final != 'n' && final != 'o' {
		e.intervene()
	}
	if do := escTable[string(key[:n+1])]; do != nil {
		do(e)
	}
	if e.doubled {
		fit(e)
	}
}

// designates returns the set, 0 to 3, that an intermediate byte designates, or -1.
func designates(b byte) int {
	switch b {
	case '(':
		return 0
	case ')', '-':
		return 1
	case '*', '.':
		return 2
	case '+', '/':
		return 3
	}
	return -1
}

// A cell's size in pixels is nominal: the engine does not know the real one.
const (
	cellWidth  = emulator.CellWidth
	cellHeight = emulator.CellHeight
)

// deviceAttributes answers DECID and DA1, in xterm's order: a VT420 (64) with selective
// erase (6), horizontal scrolling (21), colour (22) and rectangles (28), in sixelAttributes
// also sixel (4). deviceAttributes2 answers DA2 like xterm as a VT420: programs derive
// features from its patch level, 390. deviceAttributes3 answers DA3: the unit's number,
// "ctty" in hexadecimal.
const (
	deviceAttributes  = "\x1b[?64;6;21;22;28c"
	sixelAttributes   = "\x1b[?64;4;6;21;22;28c"
	deviceAttributes2 = "\x1b[>41;390;0c"
	deviceAttributes3 = "\x1bP!|63747479\x1b\\"
)

// attributes returns the answer to DA1 and DECID: with sixel if pictures can be seen.
func attributes(e *Engine) string {
	if e.sys.Outer.Pictures {
		return sixelAttributes
	}
	return deviceAttributes
}

// atZero makes a sequence that replies answer if its first parameter is zero.
func atZero(answer string) func(*Engine) {
	return func(e *Engine) {
		if e.parser.Raw(0) == 0 {
			e.sys.Reply(answer)
		}
	}
}

// reportResize sends the size report of mode 2048.
func (e *Engine) reportResize() {
	e.sys.Replyf("\x1b[48;%d;%d;%d;%dt", e.rows, e.cols, e.rows*cellHeight, e.cols*cellWidth)
}

// keyModifierOptions is XTMODKEYS; only modifyOtherKeys (4) is supported.
func (e *Engine) keyModifierOptions() {
	if e.parser.Raw(0) == 4 {
		e.modes.KeyMods = min(e.parser.Raw(1), 2)
	} else if e.parser.Raw(0) == 0 {
		e.modes.KeyMods = 0
	}
}

// designate makes set g, 0 to 3, the character set of a name.
func (e *Engine) designate(g int, is96 bool, name string) {
	e.cur.charsets.Designate(g, is96, name, e.modes.Has(control.National))
	e.setPlain()
}

// setPlain recomputes plain. Call it after each change of what plain depends on.
func (e *Engine) setPlain() {
	e.plain = !e.cur.charsets.Active() && !e.modes.Has(control.Insert) && !e.doubled
}
