package native

import (
	"tandemux/emulator"
	"tandemux/emulator/control"
)

// csiNames maps a CSI's private prefix, intermediate and final bytes to what it does.
// Lookups use csiTable, which is made from it.
var csiNames = map[string]func(*Engine){
	"@":  func(e *Engine) { e.insertChars(e.parser.Arg(0, 1)) },
	" @": func(e *Engine) { e.editColumns(e.left, -e.parser.Arg(0, 1)) },
	"A":  func(e *Engine) { e.up(e.parser.Arg(0, 1)) },
	" A": func(e *Engine) { e.editColumns(e.left, e.parser.Arg(0, 1)) },
	"B":  func(e *Engine) { e.down(e.parser.Arg(0, 1)) },
	"C":  func(e *Engine) { e.forward(e.parser.Arg(0, 1)) },
	"D":  func(e *Engine) { e.back(e.parser.Arg(0, 1)) },
	"E":  func(e *Engine) { e.down(e.parser.Arg(0, 1)); e.cur.x = e.lineStart() },
	"F":  func(e *Engine) { e.up(e.parser.Arg(0, 1)); e.cur.x = e.lineStart() },
	"G":  func(e *Engine) { e.moveTo(e.parser.Arg(0, 1)-1, e.line()) },
	"H":  func(e *Engine) { e.moveTo(e.parser.Arg(1, 1)-1, e.parser.Arg(0, 1)-1) },
	"I":  func(e *Engine) { e.tab(e.parser.Arg(0, 1)) },
	">I": func(e *Engine) { e.setTab(e.cur.x, e.parser.Arg(0, 1)) },
	"J":  func(e *Engine) { e.eraseDisplay(e.parser.Raw(0), false) },
	"?J": func(e *Engine) { e.eraseDisplay(e.parser.Raw(0), true) },
	"K":  func(e *Engine) { e.eraseLine(e.parser.Raw(0), false) },
	"?K": func(e *Engine) { e.eraseLine(e.parser.Raw(0), true) },
	"L":  func(e *Engine) { e.insertLines(e.parser.Arg(0, 1)) },
	"M":  func(e *Engine) { e.insertLines(-e.parser.Arg(0, 1)) },
	"P":  func(e *Engine) { e.insertChars(-e.parser.Arg(0, 1)) },
	"S":  func(e *Engine) { e.scrollUp(e.top, e.bot, e.parser.Arg(0, 1)) },
	"T": func(e *Engine) {
		if e.parser.NParams == 1 { // with more, it is xterm's highlight mouse tracking, which is not supported
			e.scrollDown(e.top, e.bot, e.parser.Arg(0, 1))
		}
	},
	"^": func(e *Engine) { e.scrollDown(e.top, e.bot, e.parser.Arg(0, 1)) },
	"?W": func(e *Engine) {
		if e.parser.Raw(0) == 5 { // DECST8C
			e.tabs = control.DefaultTabs(e.cols)
		}
	},
	"X":  func(e *Engine) { e.erase(e.cur.y, e.cur.x, min(e.cols, e.cur.x+e.parser.Arg(0, 1)), e.spares(false)) },
	"Z":  func(e *Engine) { e.backTab(e.parser.Arg(0, 1)) },
	"`":  func(e *Engine) { e.moveTo(e.parser.Arg(0, 1)-1, e.line()) },
	"a":  func(e *Engine) { e.moveTo(e.column()+e.parser.Arg(0, 1), e.line()) },
	"b":  func(e *Engine) { e.repeat(e.parser.Arg(0, 1)) },
	"c":  func(e *Engine) { atZero(attributes(e))(e) },
	">c": atZero(deviceAttributes2),
	"=c": atZero(deviceAttributes3),
	"d":  func(e *Engine) { e.moveTo(e.column(), e.parser.Arg(0, 1)-1) },
	"e":  func(e *Engine) { e.moveTo(e.column(), e.line()+e.parser.Arg(0, 1)) },
	"f":  func(e *Engine) { e.moveTo(e.parser.Arg(1, 1)-1, e.parser.Arg(0, 1)-1) },
	"j":  func(e *Engine) { e.back(e.parser.Arg(0, 1)) },
	"k":  func(e *Engine) { e.up(e.parser.Arg(0, 1)) },
	"g":  func(e *Engine) { e.tabs.Clear(e.parser.Raw(0), e.cur.x) },
	"h":  setModes(false, true),
	"?h": setModes(true, true),
	"l":  setModes(false, false),
	"?l": setModes(true, false),
	"m":  (*Engine).sgr,
	">m": (*Engine).keyModifierOptions,
	"?m": func(e *Engine) {
		if e.parser.Raw(0) == 4 {
			e.sys.Replyf("\x1b[>4;%dm", e.modes.KeyMods)
		}
	},
	">n": func(e *Engine) {
		if e.parser.Raw(0) == 4 {
			e.modes.KeyMods = 0
		}
	},
	"n":   func(e *Engine) { e.sys.Status(&e.parser, e.line(), e.column()) },
	"?n":  func(e *Engine) { e.sys.PrivateStatus(&e.parser, e.line(), e.column(), e.level) },
	"!p":  (*Engine).softReset,
	"\"p": (*Engine).setLevel,
	"$p":  func(e *Engine) { e.reportMode(false) },
	"?$p": func(e *Engine) { e.reportMode(true) },
	" q":  func(e *Engine) { e.modes.SetShape(e.parser.Raw(0)) },
	"\"q": func(e *Engine) { e.protect(e.parser.Raw(0) == 1, false) },
	">q":  func(e *Engine) { e.sys.Version(&e.parser, e.version) },
	"r":   (*Engine).setMargins,
	"?r":  modesOf((*Engine).restoreMode),
	"s": func(e *Engine) { // SCOSC, as in xterm also with parameters
		if e.modes.Has(control.SideMargins) {
			e.setSideMargins()
		} else {
			e.saveCursor()
		}
	},
	"?s": modesOf(func(e *Engine, n int) { e.modes.Save(n) }),
	"?S": func(e *Engine) { e.sys.Graphics(&e.parser, e.cols, e.rows) },
	"t":  window,
	"$|": func(e *Engine) { askSize(e, e.parser.Arg(0, 80), e.rows) },
	"*|": func(e *Engine) { askSize(e, e.cols, e.parser.Arg(0, e.rows)) },
	"u":  (*Engine).restoreCursor,
	">u": func(e *Engine) { e.scr.kitty.push(e.parser.Raw(0)) },
	"<u": func(e *Engine) { e.scr.kitty.n = max(0, e.scr.kitty.n-e.parser.Arg(0, 1)) },
	"=u": func(e *Engine) { e.scr.kitty.set(e.parser.Raw(0), e.parser.Arg(1, 1)) },
	"?u": func(e *Engine) { e.sys.Replyf("\x1b[?%du", e.scr.kitty.flags()) },
	"x": func(e *Engine) { // DECREQTPARM
		if n := e.parser.Raw(0); n <= 1 {
			e.sys.Replyf("\x1b[%d;1;1;128;128;1;0x", n+2)
		}
	},
	"$r": func(e *Engine) { e.restyleRect(changeAttr) },
	"$t": func(e *Engine) { e.restyleRect(reverseAttr) },
	"$v": (*Engine).copyRect,
	"$w": requestPresentation,
	"$x": (*Engine).fillRect,
	"$z": eraseRect(false),
	"${": eraseRect(true),
	"*x": (*Engine).setExtent,
	"*y": checksum,
	"#{": pushPen,
	"#p": pushPen,
	"#}": popPen,
	"#q": popPen,
	"#|": onRect(0, reportPen),
	"#P": modesOf(func(e *Engine, n int) { e.sys.PushColors(n) }),
	"#Q": modesOf(func(e *Engine, n int) { e.sys.PopColors(n); repaint(e) }),
	"#R": func(e *Engine) { e.sys.ReportColors() },
	"'}": func(e *Engine) { e.editColumns(e.cur.x, e.parser.Arg(0, 1)) },
	"'~": func(e *Engine) { e.editColumns(e.cur.x, -e.parser.Arg(0, 1)) },
}

// csiTable is csiNames indexed by prefix, intermediate and final byte.
var csiTable = func() (t [5][17][63]func(*Engine)) {
	for name, do := range csiNames {
		b := []byte(name)
		prefix := 0
		if b[0] >= '<' && b[0] <= '?' && len(b) > 1 {
			prefix = int(b[0]-'<') + 1
			b = b[1:]
		}
		inter := 0
		if len(b) == 2 {
			inter = int(b[0]-0x20) + 1
			b = b[1:]
		}
		t[prefix][inter][b[0]-0x40] = do
	}
	return t
}()

// CSI implements control.Handler.
func (e *Engine) CSI(final byte) {
	ps := &e.parser
	prefix, inter := 0, 0
	if ps.Prefix != 0 {
		prefix = int(ps.Prefix-'<') + 1
	}
	if ps.NInter == 1 {
		inter = int(ps.Inter[0]-0x20) + 1
	}
	if final < 0x7f && ps.NInter < 2 {
		if do := csiTable[prefix][inter][final-0x40]; do != nil {
			do(e)
			if e.doubled {
				fit(e)
			}
			if final != 'h' && final != 'l' || prefix != 0 {
				e.intervene()
			}
			return
		}
	}
	e.intervene()
}

// editColumns shifts the scroll region's cells from column x on by n, left for a negative
// n, if the cursor is inside the region (SL, SR, DECIC, DECDC).
func (e *Engine) editColumns(x, n int) {
	if e.inside() {
		e.moveColumns(x, n)
	}
}

// protect is DECSCA and, with iso, SPA and EPA. As in xterm, all protected cells are of
// the kind that came last, SPA's or DECSCA's; see spares.
func (e *Engine) protect(on, iso bool) {
	e.cur.pen.Attrs &^= emulator.Protected
	if on {
		e.cur.pen.Attrs |= emulator.Protected
		e.modes.Put(control.ISOProtect, iso)
	}
	e.penChanged()
}
