package control

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tandemux/emulator"
)

// Flags is a set of modes that are on.
type Flags uint64

// The flags. Those without an effect can only be queried.
const (
	AppCursor Flags = 1 << iota
	Reverse
	Wrap
	CursorVisible
	CursorBlink
	ReverseWrap
	ReverseWrapExt
	AppKeypad
	Backspace
	SideMargins
	Focus
	AltScroll
	Paste
	Sync
	Scheme
	Insert
	Newline
	Columns    // 3: only setting it has an effect
	Smooth     // 4
	AutoRepeat // 8
	Allow80    // 40
	Meta       // 1034
	AltEsc     // 1036, 1039
	Echo       // 12, SRM
	MoreFix    // 41
	National   // 42: no effect
	Lock       // 2, KAM: no effect
	FormFeed   // 18: no effect, there is no printer
	Extent     // 19: no effect, likewise
	InBand     // 2048
	Graphemes
	ISOProtect // protected cells are those of SPA; this is no mode
)

// Has reports whether any of b is set.
func (f Flags) Has(b Flags) bool { return f&b != 0 }

// Put sets or clears b.
func (f *Flags) Put(b Flags, on bool) {
	if on {
		*f |= b
	} else {
		*f &^= b
	}
}

// The modes that are flags: those of SM and RM (ECMA-48), and those of DECSET and DECRST.
var (
	ansiFlags    = map[int]Flags{2: Lock, 4: Insert, 12: Echo, 20: Newline}
	privateFlags = map[int]Flags{
		1: AppCursor, 3: Columns, 4: Smooth, 5: Reverse, 7: Wrap, 8: AutoRepeat, 12: CursorBlink,
		18: FormFeed, 19: Extent, 25: CursorVisible, 40: Allow80, 41: MoreFix, 42: National,
		45: ReverseWrap, 66: AppKeypad, 67: Backspace, 69: SideMargins,
		1004: Focus, 1007: AltScroll, 1034: Meta, 1036: AltEsc, 1039: AltEsc, 1045: ReverseWrapExt,
		2004: Paste, 2026: Sync, 2027: Graphemes, 2031: Scheme, 2048: InBand,
	}
	mouseModes = map[int]emulator.Mouse{
		9: emulator.MouseX10, 1000: emulator.MouseNormal, 1002: emulator.MouseButton, 1003: emulator.MouseAny,
	}
	mouseEncodings = map[int]emulator.MouseEncoding{
		1005: emulator.MouseUTF8, 1006: emulator.MouseSGR, 1015: emulator.MouseURXVT, 1016: emulator.MouseSGRPixels,
	}
)

// Modes is what a program has set in its terminal. The zero value is not ready: use NewModes.
type Modes struct {
	Flags
	Mouse    emulator.Mouse
	Encoding emulator.MouseEncoding
	KeyMods  int // modifyOtherKeys
	Shape    int // DECSCUSR, 0 is the default

	known, initial Flags
	saved          map[int]bool // XTSAVE
}

// NewModes returns the modes of an engine that knows the flags known, and has those of initial set at
// first and after a reset.
func NewModes(known, initial Flags) Modes {
	m := Modes{known: known, initial: initial}
	m.Reset()
	return m
}

// Reset resets all modes (RIS).
func (m *Modes) Reset() { *m = Modes{Flags: m.initial, known: m.known, initial: m.initial} }

// flag returns the flag of a mode, 0 if the engine has none.
func (m *Modes) flag(private bool, n int) Flags {
	if private {
		return privateFlags[n] & m.known
	}
	return ansiFlags[n] & m.known
}

// Set sets or resets a mode; unknown modes are ignored.
func (m *Modes) Set(private bool, n int, on bool) {
	f := m.flag(private, n)
	mouse, encoding := mouseModes[n], mouseEncodings[n]
	switch {
	case f != 0:
		m.Put(f, on)
	case !private:
	case mouse != 0 && on:
		m.Mouse = mouse
	case mouse != 0:
		m.Mouse = emulator.MouseOff
	case encoding != 0 && on:
		m.Encoding = encoding
	case m.Encoding == encoding:
		m.Encoding = emulator.MouseDefault
	}
}

// States in the answer to DECRQM.
const (
	modeUnknown = 0
	modeSet     = 1
	modeReset   = 2
	modeNever   = 4
)

// Report answers DECRQM. If ok, the mode is the engine's own and own is its state.
func (m *Modes) Report(s *System, private bool, n int, own, ok bool) {
	state, mark, on := modeReset, "", own
	if f := m.flag(private, n); !ok && f != 0 {
		on, ok = m.Has(f), true
	}
	if private {
		mark = "?"
		if mouse := mouseModes[n]; mouse != 0 {
			on, ok = m.Mouse == mouse, true
		} else if encoding := mouseEncodings[n]; encoding != 0 {
			on, ok = m.Encoding == encoding, true
		}
	}
	switch {
	case on:
		state = modeSet
	case ok:
	case private && n == 60, !private && (n == 1 || n == 5 || n == 7 || n >= 10 && n <= 19):
		state = modeNever // No terminal has these (ECMA-48).
	default:
		state = modeUnknown
	}
	s.Replyf("\x1b[%s%d;%d$y", mark, n, state)
}

// effects are the flags whose setting does more than change the flag.
const effects = Columns | Reverse | SideMargins | InBand

// Save saves a mode (XTSAVE) if it is nothing but a flag.
func (m *Modes) Save(n int) {
	if f := m.flag(true, n); f != 0 && !effects.Has(f) {
		if m.saved == nil {
			m.saved = map[int]bool{}
		}
		m.saved[n] = m.Has(f)
	}
}

// Saved returns the state that XTRESTORE restores.
func (m *Modes) Saved(n int) (on, ok bool) {
	on, ok = m.saved[n]
	return on, ok
}

// SetShape sets the cursor's shape (DECSCUSR).
func (m *Modes) SetShape(n int) {
	if n <= 6 {
		m.Shape = n
	}
}

// Cursor returns how the cursor looks, at a place.
func (m *Modes) Cursor(x, y int) emulator.Cursor {
	c := emulator.Cursor{X: x, Y: y, Visible: m.Has(CursorVisible), Default: m.Shape == 0}
	if c.Default {
		c.Blink = m.Has(CursorBlink)
	} else {
		c.Shape, c.Blink = emulator.CursorShape((m.Shape-1)/2), m.Shape%2 == 1
	}
	return c
}

// Emulator returns the modes as callers see them, without AltScreen and Kitty.
func (m *Modes) Emulator() emulator.Modes {
	return emulator.Modes{
		AppCursor:        m.Has(AppCursor),
		AppKeypad:        m.Has(AppKeypad),
		BracketedPaste:   m.Has(Paste),
		FocusEvents:      m.Has(Focus),
		Mouse:            m.Mouse,
		MouseEncoding:    m.Encoding,
		AltScroll:        m.Has(AltScroll),
		Sync:             m.Has(Sync),
		Graphemes:        m.Has(Graphemes),
		ReverseScreen:    m.Has(Reverse),
		ModifyOtherKeys:  m.KeyMods,
		Newline:          m.Has(Newline),
		BackspaceSendsBS: m.Has(Backspace),
	}
}

// AppendSaved appends to a snapshot what XTSAVE saved; none of those modes has an effect of its own.
func (m *Modes) AppendSaved(buf []byte) []byte {
	for _, n := range slices.Sorted(maps.Keys(m.saved)) {
		on := m.saved[n]
		def := m.initial.Has(m.flag(true, n))
		buf = fmt.Appendf(buf, "\x1b[?%d%c\x1b[?%ds", n, SetReset(on), n)
		if on != def {
			buf = fmt.Appendf(buf, "\x1b[?%d%c", n, SetReset(def))
		}
	}
	return buf
}

// SetReset returns the final byte that sets or resets a mode.
func SetReset(on bool) byte {
	if on {
		return 'h'
	}
	return 'l'
}

// Append appends to a snapshot what sets the modes that differ from a reset, without those in not.
func (m *Modes) Append(buf []byte, not Flags) []byte {
	buf = m.AppendFlags(buf, ^not)
	if m.Mouse != emulator.MouseOff {
		buf = fmt.Appendf(buf, "\x1b[?%dh", [...]int{0, 9, 1000, 1002, 1003}[m.Mouse])
	}
	if m.Encoding != emulator.MouseDefault {
		buf = fmt.Appendf(buf, "\x1b[?%dh", [...]int{0, 1005, 1006, 1015, 1016}[m.Encoding])
	}
	if m.KeyMods != 0 {
		buf = fmt.Appendf(buf, "\x1b[>4;%dm", m.KeyMods)
	}
	if m.Shape != 0 {
		buf = fmt.Appendf(buf, "\x1b[%d q", m.Shape)
	}
	return buf
}

// AppendFlags does what Append does, for some flags only.
func (m *Modes) AppendFlags(buf []byte, these Flags) []byte {
	these &= (m.Flags ^ m.initial) & m.known
	for _, t := range []struct {
		intro string
		flags map[int]Flags
	}{{"\x1b[?", privateFlags}, {"\x1b[", ansiFlags}} {
		for _, n := range slices.Sorted(maps.Keys(t.flags)) {
			if f := t.flags[n]; f&these != 0 {
				buf = fmt.Appendf(buf, "%s%d%c", t.intro, n, SetReset(m.Has(f)))
				these &^= f
			}
		}
	}
	return buf
}

// Tabs tells of each column whether it has a tab stop.
type Tabs []bool

// Report returns the columns that have a stop, in the form of DECTABSR.
func (t Tabs) Report() string {
	var stops []string
	for x, on := range t {
		if on {
			stops = append(stops, strconv.Itoa(x+1))
		}
	}
	return strings.Join(stops, "/")
}

// Restore sets the stops of such a report and clears all others.
func (t Tabs) Restore(report string) {
	clear(t)
	for stop := range strings.SplitSeq(report, "/") {
		if n, err := strconv.Atoi(stop); err == nil && n >= 1 && n <= len(t) {
			t[n-1] = true
		}
	}
}

// DefaultTabs returns tabs with a stop every eight columns.
func DefaultTabs(cols int) Tabs { return Tabs(nil).Resize(cols) }

// Resize keeps the stops that are there, and sets one every eight columns in new columns.
func (t Tabs) Resize(cols int) Tabs {
	tabs := make(Tabs, cols)
	for x := copy(tabs, t); x < cols; x++ {
		tabs[x] = x > 0 && x%8 == 0
	}
	return tabs
}

// Next returns the n-th stop after column x, at most limit.
func (t Tabs) Next(x, n, limit int) int {
	for ; n > 0 && x < limit; n-- {
		for x++; x < limit && !t[x]; x++ {
		}
	}
	return x
}

// Prev returns the n-th stop before column x, at least limit.
func (t Tabs) Prev(x, n, limit int) int {
	for ; n > 0 && x > limit; n-- {
		for x--; x > limit && !t[x]; x-- {
		}
	}
	return x
}

// Clear removes the stop at column x (what 0) or all (3), as TBC does.
func (t Tabs) Clear(what, x int) {
	switch what {
	case 0:
		t[x] = false
	case 3:
		clear(t)
	}
}

// Append appends to a snapshot what sets the stops, and moves the cursor home.
func (t Tabs) Append(buf []byte) []byte {
	same := true
	for x, on := range t {
		same = same && on == (x > 0 && x%8 == 0)
	}
	if same {
		return buf
	}
	buf = append(buf, "\x1b[3g"...)
	for x, on := range t {
		if on {
			buf = fmt.Appendf(buf, "\x1b[%dG\x1bH", x+1)
		}
	}
	return append(buf, "\x1b[H"...)
}
