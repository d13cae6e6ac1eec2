package native

import "tandemux/emulator/control"

// requestPresentation is DECRQPSR: it reports the cursor (DECCIR) or the tab stops
// (DECTABSR) in the form that DECRSPS takes.
func requestPresentation(e *Engine) {
	switch e.parser.Raw(0) {
	case 1:
		c := &e.cur
		s := control.CursorState{X: c.x, Y: c.y, Pending: c.pending, Origin: c.origin, Pen: c.pen, Sets: c.charsets}
		e.sys.Reply("\x1bP1$u" + s.Report() + "\x1b\\")
	case 2:
		e.sys.Reply("\x1bP2$u" + e.tabs.Report() + "\x1b\\")
	}
}

// restorePresentation is DECRSPS. A malformed report is ignored.
func restorePresentation(e *Engine, body string) {
	switch e.parser.Raw(0) {
	case 1:
		s := control.CursorState{Pen: e.cur.pen}
		if !s.Restore(body, e.modes.Has(control.National)) {
			return
		}
		saved := e.scr.saved
		e.scr.saved = cursor{s.X, s.Y, s.Pending, s.Origin, s.Pen, s.Sets}
		e.restoreCursor()
		e.scr.saved = saved
	case 2:
		e.tabs.Restore(body)
	}
}
