package native

import (
	"tandemux/emulator"
	"tandemux/emulator/control"
)

// defaultFlags are the modes that are set after a reset.
const defaultFlags = control.Wrap | control.CursorVisible | control.AutoRepeat | control.Meta | control.AltEsc |
	control.Echo | control.AltScroll | control.Graphemes

// modeEffects are the private modes that do more than set a flag. init fills it, since some
// of the functions refer to it.
var modeEffects map[int]func(*Engine, bool)

func init() {
	modeEffects = map[int]func(*Engine, bool){
		3:    (*Engine).setColumnMode,
		5:    func(e *Engine, on bool) { e.modes.Put(control.Reverse, on); e.damageAll = true },
		6:    (*Engine).setOrigin,
		47:   (*Engine).show,
		69:   (*Engine).setSideMode,
		1047: (*Engine).setAlt1047,
		1048: (*Engine).setSaved,
		1049: (*Engine).setAlt1049,
		2048: func(e *Engine, on bool) {
			if e.modes.Put(control.InBand, on); on {
				e.reportResize() // also at once
			}
		},
	}
}

// modesOf makes a sequence that calls do with each of its parameters (SM, RM and the like).
func modesOf(do func(e *Engine, n int)) func(*Engine) {
	return func(e *Engine) {
		for i := range e.parser.NParams {
			do(e, e.parser.Raw(i))
		}
	}
}

// setModes is SM, RM, DECSET, DECRST.
func setModes(private, on bool) func(*Engine) {
	return modesOf(func(e *Engine, n int) { e.setMode(private, n, on) })
}

func (e *Engine) setMode(private bool, n int, on bool) {
	if do := modeEffects[n]; private && do != nil {
		do(e, on)
	} else {
		e.modes.Set(private, n, on)
	}
	e.setPlain()
}

// reportMode is DECRQM.
func (e *Engine) reportMode(private bool) {
	if e.level < 3 {
		return
	}
	n := e.parser.Raw(0)
	own := map[int]bool{6: e.cur.origin, 47: e.alt(), 1047: e.alt(), 1048: true, 1049: e.alt()}
	on, ok := own[n]
	e.modes.Report(&e.sys, private, n, private && on, private && ok)
}

// restoreMode is XTRESTORE of one mode.
func (e *Engine) restoreMode(n int) {
	if on, ok := e.modes.Saved(n); ok {
		e.setMode(true, n, on)
	}
}

// askSize reports the size that the program wants to the caller (EventResize), if
// emulator.Resizes is allowed.
func askSize(e *Engine, cols, rows int) {
	if e.allow&emulator.Resizes != 0 {
		e.sys.Resize(clamp(cols, 1, emulator.MaxCols), clamp(rows, 1, emulator.MaxRows))
	}
}

// window is XTWINOPS and DECSLPP. A width or height of zero, or left out, is the present
// one.
func window(e *Engine) {
	ps := &e.parser
	switch n := ps.Raw(0); {
	case n == 4:
		askSize(e, ps.Arg(2, e.cols*cellWidth)/cellWidth, ps.Arg(1, e.rows*cellHeight)/cellHeight)
	case n == 8:
		askSize(e, ps.Arg(2, e.cols), ps.Arg(1, e.rows))
	case n >= 24:
		askSize(e, e.cols, n)
	default:
		e.sys.Window(ps, e.cols, e.rows)
	}
}

// setColumnMode is DECCOLM: in mode 40 it asks for 80 or 132 columns. It clears the screen,
// resets the margins and moves the cursor home whatever comes of that, and also without
// mode 40, as in Alacritty (its recording deccolm_reset).
func (e *Engine) setColumnMode(on bool) {
	e.modes.Put(control.Columns, on)
	if cols := 80; e.modes.Has(control.Allow80) {
		if on {
			cols = 132
		}
		askSize(e, cols, e.rows)
	}
	e.resetMargins()
	e.modes.Put(control.SideMargins, false)
	e.eraseDisplay(2, false)
	e.moveTo(0, 0)
}

func (e *Engine) setOrigin(on bool) {
	e.cur.origin = on
	e.moveTo(0, 0)
}

// setSideMode is DECLRMM; resetting it removes the side margins.
func (e *Engine) setSideMode(on bool) {
	if e.level < 4 {
		return
	}
	e.modes.Put(control.SideMargins, on)
	if on {
		singleLines(e)
	} else {
		e.left, e.right = 0, e.cols-1
	}
}

// show switches between the main and the alternate screen. The cursor keeps its place and
// its wait to wrap.
func (e *Engine) show(alt bool) {
	if alt == e.alt() {
		return
	}
	e.last.ok = false
	e.scr = &e.screens[0]
	if alt {
		if e.scr = &e.screens[1]; e.scr.lines == nil { // most terminals never need it
			e.scr.resize(e.cols, e.rows)
		}
	}
	if e.modes.Has(control.SideMargins) {
		singleLines(e)
	}
	e.damageAll = true
}

// clearAlt blanks the alternate screen.
func (e *Engine) clearAlt() {
	b := e.blank()
	for _, r := range e.screens[1].lines {
		r.reset(b)
	}
	if e.alt() {
		e.last.ok = false
		e.damageAll = true
	}
}

// Three modes switch to the alternate screen, as in xterm's ctlseqs. 47 only switches. 1047
// clears it before leaving. 1049 saves the cursor and clears the screen on entering, and
// restores the cursor on leaving, even if that screen is shown already. Here 1049 also
// clears before leaving, so that snapshots don't have a screen that is never shown again.
func (e *Engine) setAlt1047(on bool) {
	if !on && e.alt() {
		e.clearAlt()
	}
	e.show(on)
}

func (e *Engine) setAlt1049(on bool) {
	if on {
		e.saveCursor()
		e.show(true)
		e.clearAlt()
		return
	}
	if e.alt() {
		e.clearAlt()
	}
	e.show(false)
	e.restoreCursor()
}

func (e *Engine) setSaved(on bool) {
	if on {
		e.saveCursor()
	} else {
		e.restoreCursor()
	}
}

func (e *Engine) resetMargins() {
	e.top, e.bot = 0, e.rows-1
	e.left, e.right = 0, e.cols-1
}

// reset is RIS: it resets everything, history and screens included, except the title, as in
// xterm.
func (e *Engine) reset() {
	e.scr = &e.screens[0]
	e.hist.clear()
	for i := range e.screens {
		s := &e.screens[i]
		for _, r := range s.lines {
			r.reset(0)
		}
		s.saved = cursor{}
		s.kitty, s.pointers = kittyStack{}, nil
	}
	e.cur = cursor{}
	e.last = lastPrint{}
	e.link = nil
	e.resetMargins()
	e.tabs = control.DefaultTabs(e.cols)
	if e.modes.Has(control.Columns) {
		askSize(e, 80, e.rows)
	}
	e.modes.Reset()
	e.sys.Reset()
	e.level, e.extent = maxLevel, 0
	e.pens = control.Pens{}
	e.pics = pictures{}
	e.damageAll = true
	e.penChanged()
	e.setPlain()
}

// softReset is DECSTR, as in xterm.
func (e *Engine) softReset() {
	e.settle()
	e.modes.Flags = e.modes.Flags&^(control.AppCursor|control.AppKeypad|control.Insert|control.ReverseWrap|control.ReverseWrapExt|control.SideMargins|control.ISOProtect) |
		control.CursorVisible | control.Wrap
	e.resetMargins()
	x, y := e.cur.x, e.cur.y
	e.cur = cursor{x: x, y: y}
	e.scr.saved = cursor{}
	e.modes.KeyMods, e.modes.Shape, e.extent = 0, 0, 0
	e.penChanged()
	e.setPlain()
}

// maxLevel is the highest conformance level, a VT420's.
const maxLevel = 4

// setLevel is DECSCL: it does a soft reset, as in xterm, and sets the level. For a VT500's
// level it sets maxLevel. Replies are 7-bit from then on, whatever is asked.
func (e *Engine) setLevel() {
	n := e.parser.Raw(0) - 60
	if n < 1 || n > maxLevel+1 {
		return
	}
	e.softReset()
	e.level, e.sys.EightBit = min(n, maxLevel), false
}

// maxKitty bounds the keyboard stack. A full one drops its oldest entry, as the protocol
// demands.
const maxKitty = 16

// kittyAll has all flags of the kitty keyboard protocol.
const kittyAll = 31

// kittyStack is the kitty keyboard protocol's stack of flags; each screen has
// one.
type kittyStack struct {
	stack [maxKitty]uint8
	n     int
}

func (k *kittyStack) flags() int {
	if k.n == 0 {
		return 0
	}
	return int(k.stack[k.n-1])
}

func (k *kittyStack) push(flags int) {
	if k.n == maxKitty {
		copy(k.stack[:], k.stack[1:])
		k.n--
	}
	k.stack[k.n] = uint8(flags & kittyAll)
	k.n++
}

// set changes the current flags. how is 1 to replace, 2 to add, 3 to remove.
func (k *kittyStack) set(flags, how int) {
	flags &= kittyAll
	switch now := k.flags(); how {
	case 2:
		flags |= now
	case 3:
		flags = now &^ flags
	}
	if k.n == 0 {
		k.n = 1
	}
	k.stack[k.n-1] = uint8(flags)
}
