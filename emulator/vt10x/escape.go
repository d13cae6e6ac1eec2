package vt10x

import (
	"slices"

	"tandemux/emulator"
)

// control runs a C0 control.
func (e *engine) control(b byte) {
	e.last = 0
	switch b {
	case 0x07:
		e.event(emulator.EventBell, "", "")
	case '\t':
		if _, _, pending := e.at(); !pending { // A tab at the margin leaves that.
			e.sendString("\t")
		}
	case '\b', '\r':
		e.sendString(string(rune(b)))
	case '\n', '\v', '\f':
		if e.modes.Newline {
			e.lineFeed("\r\n")
		} else {
			e.lineFeed("\n")
		}
	case 0x0e:
		e.charset.gl = 1
	case 0x0f:
		e.charset.gl = 0
	}
}

// escapes are the escape sequences, intermediates first.
var escapes map[string]func(*engine)

func init() {
	escapes = map[string]func(*engine){
		"D":  func(e *engine) { e.lineFeed("\x1bD") },
		"E":  func(e *engine) { e.lineFeed("\x1bE") },
		"M":  func(e *engine) { e.settle(); e.sendPen(); e.sendString("\x1bM"); e.endBottom() },
		"H":  (*engine).setTab,
		"7":  (*engine).save,
		"8":  (*engine).restore,
		"c":  (*engine).reset,
		"=":  func(e *engine) { e.modes.AppKeypad = true },
		">":  func(e *engine) { e.modes.AppKeypad = false },
		"Z":  func(e *engine) { e.reply(deviceAttributes) },
		"n":  func(e *engine) { e.charset.gl = 2 },
		"o":  func(e *engine) { e.charset.gl = 3 },
		"#8": (*engine).align,
	}
	for i, set := range []string{"(", ")", "*", "+"} {
		for final, drawing := range map[string]bool{"0": true, "B": false, "A": false, "@": false, "1": false} {
			escapes[set+final] = func(e *engine) { e.charset.drawing[i] = drawing }
		}
	}
}

// save is DECSC.
func (e *engine) save() {
	s := saved{id: e.penID, origin: e.flags.origin, charset: e.charset}
	s.x, s.y, s.pending = e.at()
	e.saved[e.screen()] = s
}

// restore is DECRC. The hyperlink is not part of what is saved.
func (e *engine) restore() {
	s := e.saved[e.screen()]
	pen := e.styles.list[s.id]
	pen.Link, pen.LinkID = e.pen.Link, e.pen.LinkID
	e.setPen(pen)
	e.charset = s.charset
	if s.origin != e.flags.origin {
		e.setOrigin(s.origin)
	}
	e.putBack(s.x, s.y, s.pending && s.x == e.cols-1)
}

// setOrigin is DECOM, which moves the cursor home.
func (e *engine) setOrigin(on bool) {
	e.flags.origin = on
	if on {
		e.sendString("\x1b[?6h")
	} else {
		e.sendString("\x1b[?6l")
	}
}

// align is DECALN: the screen full of E, margins reset, cursor home.
func (e *engine) align() {
	e.setOrigin(false)
	e.sendRegion(0, e.rows-1)
	e.sendID(0)
	e.sendString("\x1b#8")
}

// softReset is DECSTR.
func (e *engine) softReset() {
	x, y, _ := e.at()
	e.setPen(emulator.Pen{Link: e.pen.Link, LinkID: e.pen.LinkID})
	e.charset = charset{}
	e.setOrigin(false)
	e.sendRegion(0, e.rows-1)
	e.place(x, y)
	e.sendString("\x1b[?7h")
	e.flags = flags{}
	e.modes.AppCursor, e.modes.AppKeypad = false, false
	e.cursor = emulator.Cursor{Visible: true, Default: true}
	e.saved[e.screen()] = saved{}
}

func setDefaultTabs(tabs []bool, from int) {
	for i := range tabs {
		if i >= from {
			tabs[i] = i > 0 && i%8 == 0
		}
	}
}

// sendTabs sets vt10x's tab stops to ours.
func (e *engine) sendTabs() {
	x, _, _ := e.at()
	e.sendString("\x1b[3g")
	for i, set := range e.tabs {
		if set {
			e.sendCSI(i+1, 'G')
			e.sendString("\x1bH")
		}
	}
	e.sendCSI(x+1, 'G')
}

func (e *engine) setTab() {
	x, _, _ := e.at()
	e.tabs[x] = true
	e.sendString("\x1bH")
}

func (e *engine) clearTabs(mode int) {
	switch mode {
	case 0:
		x, _, _ := e.at()
		e.tabs[x] = false
	case 3:
		e.tabs = slices.Repeat([]bool{false}, e.cols)
	default:
		return
	}
	e.sendCSI(mode, 'g')
}
