package vt10x

import (
	"fmt"
	"strings"

	"tandemux/emulator"
	"tandemux/emulator/control"
)

// What the terminal says it is, to programs that ask: a VT220 with colours.
const (
	deviceAttributes    = "\x1b[?62;22c"
	secondaryAttributes = "\x1b[>1;10;0c"
	level               = 2
)

func (e *engine) sendf(format string, args ...any) {
	e.out = fmt.Appendf(e.out[:0], format, args...)
	e.send(e.out)
}

// place moves the cursor, whatever the origin is.
func (e *engine) place(x, y int) {
	if e.vt.Cursor().State&origin != 0 {
		y -= e.top
	}
	e.sendf("\x1b[%d;%dH", y+1, x+1)
}

// erase has vt10x fill with the pen's background.
func (e *engine) erase() { e.style(emulator.Style{BG: e.pen.BG}) }

// Control implements control.Handler.
func (e *engine) Control(b byte) {
	e.last = 0
	switch b {
	case 0x07:
		e.sys.Event(emulator.EventBell, "", "")
	case '\t':
		e.tab(1)
	case '\b', '\r':
		e.sendf("%c", b)
	case '\n', '\v', '\f':
		e.lineFeed("\n")
	}
}

// settle ends the wait for a wrap.
func (e *engine) settle() {
	if x, y, pending := e.at(); pending {
		e.place(x, y)
	}
}

// lineFeed sends what moves the cursor down a line and may scroll.
func (e *engine) lineFeed(sequence string) {
	if _, y, _ := e.at(); y == e.bottom {
		e.saveTop(1)
	}
	e.settle()
	e.erase()
	e.sendf("%s", sequence)
}

func (e *engine) tab(n int) {
	x, _, _ := e.at()
	if to := e.tabs.Next(x, n, e.cols-1); to != x {
		e.sendf("\x1b[%dG", to+1)
	}
}

// Esc implements control.Handler.
func (e *engine) Esc(final byte) {
	e.last = 0
	switch name := string(e.parser.Inter[:e.parser.NInter]) + string(rune(final)); name {
	case "D", "E":
		e.lineFeed("\x1b" + name)
	case "M":
		e.settle()
		e.erase()
		e.sendf("\x1bM")
	case "H":
		x, _, _ := e.at()
		e.tabs[x] = true
	case "7":
		e.save()
	case "8":
		e.restore()
	case "c":
		e.reset()
	case "=", ">":
		e.modes.Put(control.AppKeypad, name == "=")
	case "Z":
		e.sys.Reply(deviceAttributes)
	case "#8":
		e.style(emulator.Style{})
		e.sendf("\x1b#8")
	case "(0", "(B":
		e.sendf("\x1b%s", name)
	}
}

// CSI implements control.Handler.
func (e *engine) CSI(final byte) {
	ps := &e.parser
	name := string(ps.Inter[:ps.NInter]) + string(rune(final))
	if ps.Prefix != 0 {
		name = string(rune(ps.Prefix)) + name
	}
	last := e.last
	e.last = 0
	n := min(ps.Arg(0, 1), emulator.MaxCols)
	x, y, _ := e.at()
	switch name {
	case "A", "B", "C", "D", "E", "F", "G", "a", "d", "e", "`":
		e.sendf("\x1b[%d%s", n, name)
	case "H", "f":
		e.sendf("\x1b[%d;%dH", n, min(ps.Arg(1, 1), emulator.MaxCols))
	case "I":
		e.tab(n)
	case "Z":
		e.sendf("\x1b[%dG", e.tabs.Prev(x, n, 0)+1)
	case "g":
		e.tabs.Clear(ps.Raw(0), x)
	case "@", "P", "X", "L", "M", "S", "T":
		if name == "T" && ps.NParams != 1 {
			return // highlight tracking
		}
		if name == "S" || name == "M" && y == 0 {
			e.saveTop(n)
		}
		if name == "@" || name == "P" {
			e.settle()
		}
		e.erase()
		e.sendf("\x1b[%d%s", n, name)
	case "J", "K":
		switch mode := ps.Raw(0); {
		case mode <= 2:
			e.erase()
			e.sendf("\x1b[%d%s", mode, name)
		case mode == 3 && name == "J":
			e.history, e.changed = nil, true
		}
	case "b":
		if last != 0 {
			e.print([]rune(strings.Repeat(string(last), min(n, e.cols*e.rows))))
			e.last = 0
		}
	case "m":
		ps.SGR(&e.pen)
	case "r":
		if top, bottom := n, min(ps.Arg(1, e.rows), e.rows); top < bottom {
			e.region(top-1, bottom-1)
		}
	case "s":
		e.save()
	case "u":
		e.restore()
	case "h", "l", "?h", "?l":
		for i := range ps.NParams {
			e.setMode(ps.Prefix != 0, ps.Raw(i), final == 'h')
		}
	case "!p":
		e.softReset(x, y)
	default:
		e.report(name)
	}
}

// report answers what a program asks, and does what is not about the screen.
func (e *engine) report(name string) {
	ps := &e.parser
	c := e.vt.Cursor()
	row := c.Y
	if c.State&origin != 0 {
		row -= e.top
	}
	switch name {
	case " q":
		e.modes.SetShape(ps.Raw(0))
	case "t":
		e.sys.Window(ps, e.cols, e.rows)
	case "n":
		e.sys.Status(ps, row, c.X)
	case "?n":
		e.sys.PrivateStatus(ps, row, c.X, level)
	case "c", ">c":
		if ps.Raw(0) == 0 {
			e.sys.Reply(map[string]string{"c": deviceAttributes, ">c": secondaryAttributes}[name])
		}
	case ">q":
		e.sys.Version(ps, e.version)
	case "$p":
		e.modes.Report(&e.sys, false, ps.Raw(0), false, false)
	case "?$p":
		on, ok := map[int]bool{6: c.State&origin != 0, 1048: true, 1049: e.main != nil}[ps.Raw(0)]
		e.modes.Report(&e.sys, true, ps.Raw(0), on, ok)
	}
}

// ControlString implements control.Handler.
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
		e.sys.OSC(c)
		e.changed = e.changed || e.sys.Repaint
		e.sys.Repaint = false
	}
}

// region is DECSTBM.
func (e *engine) region(top, bottom int) {
	e.top, e.bottom = top, bottom
	e.sendf("\x1b[%d;%dr", top+1, bottom+1)
}

func (e *engine) setMode(private bool, n int, on bool) {
	e.modes.Set(private, n, on)
	switch final := control.SetReset(on); {
	case !private && n == 20:
		e.sendf("\x1b[20%c", final)
	case !private:
	case n == 5:
		e.changed = true
	case n == 6 || n == 7:
		e.sendf("\x1b[?%d%c", n, final)
	case n == 1048 && on:
		e.save()
	case n == 1048:
		e.restore()
	case n == 1049:
		e.alternate(on)
	}
}

// alternate goes to the alternate screen or back; vt10x changes at each time it is told.
func (e *engine) alternate(on bool) {
	if on != (e.main != nil) {
		e.style(emulator.Style{})
		if e.main = nil; on {
			e.save()
			for y := range e.rows {
				e.main = append(e.main, e.row(y))
			}
		}
		e.sendf("\x1b[?1047%c", control.SetReset(on))
	}
	if !on {
		e.restore()
	}
}

// save is DECSC.
func (e *engine) save() {
	e.saved = saved{e.vt.Cursor(), e.pen}
	e.sendf("\x1b7")
}

// restore is DECRC.
func (e *engine) restore() {
	e.sendf("\x1b8\x1b[m")
	e.pen, e.sent = e.saved.pen, emulator.Style{}
}

// softReset is DECSTR, with the cursor where it is.
func (e *engine) softReset(x, y int) {
	e.modes.Flags = e.modes.Flags&^(control.AppCursor|control.AppKeypad) | control.Wrap | control.CursorVisible
	e.modes.Shape, e.pen = 0, emulator.Style{}
	e.sendf("\x1b[?6l\x1b(B")
	e.region(0, e.rows-1)
	e.setWrap()
	e.place(x, y)
}
