package native

import "tandemux/emulator"

// flags is the set of modes that are on or off and nothing else.
type flags uint64

const (
	flagAppCursor flags = 1 << iota
	flagReverse
	flagWrap
	flagCursor
	flagCursorBlink
	flagReverseWrap
	flagReverseWrapExt
	flagAppKeypad
	flagBackspace
	flagSideMargins
	flagFocus
	flagAltScroll
	flagPaste
	flagSync
	flagScheme
	flagInsert
	flagNewline
	flagColumns    // 3: no effect beyond what setting it does
	flagSmooth     // 4
	flagAutoRepeat // 8
	flagAllow80    // 40
	flagMeta       // 1034
	flagAltEsc     // 1036, 1039
	flagEcho       // 12, SRM
	flagMoreFix    // 41
	flagNational   // 42: no effect
	flagLock       // 2, KAM: no effect
	flagFormFeed   // 18: no effect, there is no printer
	flagExtent     // 19: the same
	flagInBand     // 2048
	flagISOProtect // protected cells are those of SPA
	flagGraphemes

	// defaultFlags is a terminal after a reset.
	defaultFlags = flagWrap | flagCursor | flagAutoRepeat | flagMeta | flagAltEsc | flagEcho | flagAltScroll | flagGraphemes
)

func (f flags) has(b flags) bool { return f&b != 0 }

func (f *flags) set(b flags, on bool) {
	if on {
		*f |= b
	} else {
		*f &^= b
	}
}

// What DECRQM answers.
const (
	modeUnknown = 0
	modeSet     = 1
	modeReset   = 2
	modeAlways  = 3
	modeNever   = 4
)

// mode is a row of the mode tables.
type mode struct {
	flag  flags               // kept here, unless
	set   func(*Engine, bool) // does more than keep the flag
	get   func(*Engine) bool  // instead of flag
	fixed int                 // modeAlways or modeNever
}

// ansiModes are those of SM and RM (ECMA-48).
var ansiModes = map[int]mode{
	2:  {flag: flagLock},
	4:  {flag: flagInsert, set: func(e *Engine, on bool) { e.flags.set(flagInsert, on); e.setPlain() }},
	12: {flag: flagEcho},
	20: {flag: flagNewline},

	// What no terminal has (ECMA-48).
	1: {fixed: modeNever}, 5: {fixed: modeNever}, 7: {fixed: modeNever}, 10: {fixed: modeNever},
	11: {fixed: modeNever}, 13: {fixed: modeNever}, 14: {fixed: modeNever}, 15: {fixed: modeNever},
	16: {fixed: modeNever}, 17: {fixed: modeNever}, 18: {fixed: modeNever}, 19: {fixed: modeNever},
}

// privateModes are those of DECSET and DECRST. It is filled in init, since
// some rows refer to it.
var privateModes map[int]mode

func init() {
	privateModes = map[int]mode{
		1:    {flag: flagAppCursor},
		3:    {flag: flagColumns, set: (*Engine).setColumnMode},
		4:    {flag: flagSmooth},
		5:    {flag: flagReverse, set: func(e *Engine, on bool) { e.flags.set(flagReverse, on); e.damageAll = true }},
		6:    {set: (*Engine).setOrigin, get: func(e *Engine) bool { return e.cur.origin }},
		7:    {flag: flagWrap},
		8:    {flag: flagAutoRepeat},
		18:   {flag: flagFormFeed},
		19:   {flag: flagExtent},
		9:    mouseMode(emulator.MouseX10),
		12:   {flag: flagCursorBlink},
		25:   {flag: flagCursor},
		40:   {flag: flagAllow80},
		41:   {flag: flagMoreFix},
		42:   {flag: flagNational},
		60:   {fixed: modeNever},
		45:   {flag: flagReverseWrap},
		47:   {set: (*Engine).setAlt47, get: (*Engine).alt},
		66:   {flag: flagAppKeypad},
		67:   {flag: flagBackspace},
		69:   {flag: flagSideMargins, set: (*Engine).setSideMode},
		1000: mouseMode(emulator.MouseNormal),
		1002: mouseMode(emulator.MouseButton),
		1003: mouseMode(emulator.MouseAny),
		1004: {flag: flagFocus},
		1005: mouseEncoding(emulator.MouseUTF8),
		1006: mouseEncoding(emulator.MouseSGR),
		1007: {flag: flagAltScroll},
		1015: mouseEncoding(emulator.MouseURXVT),
		1016: mouseEncoding(emulator.MouseSGRPixels),
		1034: {flag: flagMeta},
		1036: {flag: flagAltEsc},
		1039: {flag: flagAltEsc},
		1045: {flag: flagReverseWrapExt},
		1047: {set: (*Engine).setAlt1047, get: (*Engine).alt},
		1048: {set: (*Engine).setSaved, get: func(*Engine) bool { return true }},
		1049: {set: (*Engine).setAlt1049, get: (*Engine).alt},
		2004: {flag: flagPaste},
		2026: {flag: flagSync},
		2027: {flag: flagGraphemes},
		2031: {flag: flagScheme},
		2048: {flag: flagInBand, set: (*Engine).setInBand},
	}
}

func mouseMode(m emulator.Mouse) mode {
	return mode{
		set: func(e *Engine, on bool) {
			if on {
				e.mouse = m
			} else {
				e.mouse = emulator.MouseOff
			}
		},
		get: func(e *Engine) bool { return e.mouse == m },
	}
}

func mouseEncoding(m emulator.MouseEncoding) mode {
	return mode{
		set: func(e *Engine, on bool) {
			if on {
				e.mouseEnc = m
			} else if e.mouseEnc == m {
				e.mouseEnc = emulator.MouseDefault
			}
		},
		get: func(e *Engine) bool { return e.mouseEnc == m },
	}
}

// setModes is SM, RM, DECSET, DECRST.
func (e *Engine) setModes(table map[int]mode, on bool) {
	for i := range e.parser.nparams {
		e.setMode(table, e.raw(i), on)
	}
}

func (e *Engine) setMode(table map[int]mode, n int, on bool) {
	m, ok := table[n]
	switch {
	case !ok || m.flag == 0 && m.set == nil:
		e.unhandled++
	case m.set != nil:
		m.set(e, on)
	default:
		e.flags.set(m.flag, on)
	}
}

// state is what DECRQM says of mode n.
func (e *Engine) modeState(table map[int]mode, n int) int {
	m, ok := table[n]
	switch {
	case !ok:
		return modeUnknown
	case m.fixed != 0:
		return m.fixed
	case m.get != nil && m.get(e), m.get == nil && e.flags.has(m.flag):
		return modeSet
	}
	return modeReset
}

// saveModes and restoreModes are XTSAVE and XTRESTORE, of the modes that are
// nothing but flags.
func (e *Engine) saveModes() {
	for i := range e.parser.nparams {
		n := e.raw(i)
		if m := privateModes[n]; m.flag != 0 && m.set == nil {
			if e.savedSet == nil {
				e.savedSet = map[int]bool{}
			}
			e.savedSet[n] = e.flags.has(m.flag)
		}
	}
}

func (e *Engine) restoreModes() {
	for i := range e.parser.nparams {
		if on, ok := e.savedSet[e.raw(i)]; ok {
			e.setMode(privateModes, e.raw(i), on)
		}
	}
}

// setColumnMode is DECCOLM. The window is not the child's to resize: it stays
// as it is, and what comes with it does happen: screen cleared, margins reset,
// cursor home. Not only in mode 40, as in Alacritty (its recording
// deccolm_reset).
func (e *Engine) setColumnMode(on bool) {
	e.flags.set(flagColumns, on)
	e.resetMargins()
	e.flags.set(flagSideMargins, false)
	e.eraseDisplay(2, false)
	e.moveTo(0, 0)
}

func (e *Engine) setOrigin(on bool) {
	e.cur.origin = on
	e.moveTo(0, 0)
}

// setSideMode is DECLRMM; leaving it takes the side margins away.
func (e *Engine) setSideMode(on bool) {
	if e.level < 4 {
		return
	}
	e.flags.set(flagSideMargins, on)
	if !on {
		e.left, e.right = 0, e.cols-1
	}
}

// show switches between the main and the alternate screen. The cursor stays,
// and its wait to wrap.
func (e *Engine) show(alt bool) {
	if alt == e.alt() {
		return
	}
	e.last.ok = false
	e.scr = &e.screens[0]
	if alt {
		e.scr = &e.screens[1]
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

// The three ways to the alternate screen, as xterm's ctlseqs has them: 47
// switches; 1047 clears it when leaving; 1049 saves the cursor, clears when
// entering, and restores the cursor when leaving, also when the screen shows
// already, or the main one; here it clears when leaving, too, so that nobody
// carries a screen along that nothing will show.
func (e *Engine) setAlt47(on bool) { e.show(on) }

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

// reset is RIS: everything as new, history and screens included. The title
// stays, as in xterm.
func (e *Engine) reset() {
	e.scr = &e.screens[0]
	e.hist.clear()
	for i := range e.screens {
		s := &e.screens[i]
		for _, r := range s.lines {
			r.reset(0)
		}
		s.saved = cursor{}
		s.kitty = kittyStack{}
	}
	e.cur = cursor{}
	e.last = lastPrint{}
	e.link = nil
	e.resetMargins()
	e.defaultTabs()
	e.flags = defaultFlags
	e.savedSet = nil
	e.mouse, e.mouseEnc, e.keyMods, e.shape = 0, 0, 0, 0
	e.level, e.extent, e.sumMode = maxLevel, 0, 0
	e.special = [maxSpecial]emulator.Color{}
	e.titles = nil
	e.palette = emulator.Palette{}
	e.pics = pictures{}
	e.damageAll = true
	e.penChanged()
	e.setPlain()
}

// softReset is DECSTR, as in xterm.
func (e *Engine) softReset() {
	e.settle()
	e.flags = e.flags&^(flagAppCursor|flagAppKeypad|flagInsert|flagReverseWrap|flagReverseWrapExt|flagSideMargins|flagISOProtect) |
		flagCursor | flagWrap
	e.resetMargins()
	x, y := e.cur.x, e.cur.y
	e.cur = cursor{x: x, y: y}
	e.scr.saved = cursor{}
	e.keyMods, e.shape, e.extent = 0, 0, 0
	e.penChanged()
	e.setPlain()
}

// maxLevel is the conformance level, that of a VT420.
const maxLevel = 4

// setLevel is DECSCL: a soft reset, as in xterm, and a lower level; what is asked
// of a VT500 is given a VT420. Controls stay 7-bit.
func (e *Engine) setLevel() {
	n := e.raw(0) - 60
	if n < 1 || n > maxLevel+1 {
		return
	}
	e.softReset()
	e.level = min(n, maxLevel)
}

// setInBand is in-band resize notification (mode 2048); the size is reported
// at once.
func (e *Engine) setInBand(on bool) {
	if e.flags.set(flagInBand, on); on {
		e.reportResize()
	}
}
