package native

import "tandemux/emulator"

// control executes a C0 control.
func (e *Engine) control(b byte) {
	if b != 0x0e && b != 0x0f {
		e.intervene()
	}
	switch b {
	case 0x07:
		e.event(emulator.EventBell, "", "")
	case 0x08:
		e.backspace()
	case 0x09:
		if e.cur.pending && e.flags.has(flagMoreFix) {
			e.last.ok = false
			e.wrapLine()
		}
		e.printTab()
	case 0x0a, 0x0b, 0x0c:
		e.index()
		if e.flags.has(flagNewline) {
			e.cur.x = e.lineStart()
		}
	case 0x0d:
		e.settle()
		e.cur.x = e.lineStart()
	case 0x0e:
		e.shift(1)
	case 0x0f:
		e.shift(0)
	}
}

// lineStart is the column that CR goes to.
func (e *Engine) lineStart() int {
	if e.cur.x < e.left && !e.cur.origin {
		return 0
	}
	return e.left
}

// shift makes set g the one in GL.
func (e *Engine) shift(g uint8) {
	e.cur.charsets.gl = g
	e.setPlain()
}

// escTable maps an ESC's intermediate and final bytes to what they do.
var escTable = map[string]func(*Engine){
	"D":  (*Engine).index,
	"E":  func(e *Engine) { e.index(); e.cur.x = e.lineStart() },
	"H":  func(e *Engine) { e.tabs[e.cur.x] = true },
	"M":  (*Engine).reverseIndex,
	"V":  func(e *Engine) { e.guard(true) },
	"W":  func(e *Engine) { e.guard(false) },
	"N":  func(e *Engine) { e.cur.charsets.single = 2; e.setPlain() },
	"O":  func(e *Engine) { e.cur.charsets.single = 3; e.setPlain() },
	"Z":  (*Engine).identify,
	"c":  (*Engine).reset,
	"n":  func(e *Engine) { e.shift(2) },
	"o":  func(e *Engine) { e.shift(3) },
	"6":  (*Engine).backIndex,
	"7":  (*Engine).saveCursor,
	"8":  (*Engine).restoreCursor,
	"9":  (*Engine).forwardIndex,
	"=":  func(e *Engine) { e.flags.set(flagAppKeypad, true) },
	">":  func(e *Engine) { e.flags.set(flagAppKeypad, false) },
	"#8": (*Engine).alignmentTest,
	"\\": func(*Engine) {},
}

// esc executes an ESC sequence.
func (e *Engine) esc(final byte) {
	ps := &e.parser
	if ps.ninter > 0 {
		if g := designates(ps.inter[0]); g >= 0 {
			e.designate(g, ps.inter[0] > '+', string(append(ps.inter[1:ps.ninter:ps.ninter], final)))
			return
		}
	}
	var key [maxIntermed + 1]byte
	n := copy(key[:], ps.inter[:ps.ninter])
	key[n] = final
	if n > 0 || final != 'n' && final != 'o' {
		e.intervene()
	}
	if do := escTable[string(key[:n+1])]; do != nil {
		do(e)
		return
	}
	e.unhandled++
}

// designates gives the set, 0 to 3, that an intermediate byte designates, or -1.
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
