package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/keymap"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
	"tandemux/ui/tty"
)

// hintTime is how long the prefix has to stand alone until the hint shows what
// can follow.
const hintTime = 500 * time.Millisecond

// maxHeld bounds how many keys wait for a terminal that is being created.
const maxHeld = 4096

// keyboard is what has been pressed and not come to an end.
type keyboard struct {
	pending []keymap.Key // of a chord
	hint    bool         // what can follow is shown
	page    int          // of the hint
	chord   int          // number of the chord, so that an old timer is known

	repeat []keymap.Key // all but the last key of a chord that may be repeated
	until  time.Time    // for how long

	held []tea.Msg // input that waits for terminals being created
}

// read handles what one read of the outer terminal brought.
func (m *Model) read(in tty.Input) {
	for i, msg := range in {
		if m.waiting() && held(msg) {
			if len(m.kb.held) < maxHeld {
				m.kb.held = append(m.kb.held, in[i])
			}
			continue
		}
		m.event(msg)
	}
}

// waiting reports whether what is typed has no terminal to go to yet: at the
// start, and while one is being created.
func (m *Model) waiting() bool { return m.panes.Holding > 0 || !m.panes.Begun }

// held reports whether a message waits for a terminal.
func held(msg tea.Msg) bool {
	switch msg.(type) {
	case tea.KeyPressMsg, tea.KeyReleaseMsg, tty.Paste, tty.Continued:
		return true
	}
	return false
}

// release handles what waited for a terminal, now that it shows or has failed.
func (m *Model) release() {
	if m.waiting() || len(m.kb.held) == 0 {
		return
	}
	msgs := m.kb.held
	m.kb.held = nil
	m.read(msgs)
}

// event handles one message of the outer terminal.
func (m *Model) event(msg tea.Msg) {
	m.panes.Freshen() // a key of the same read may have moved the focus
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		m.key(tea.Key(msg), false)
	case tty.Continued:
		m.key(tea.Key(msg.KeyPressMsg), m.typing.Escaped)
	case tea.KeyReleaseMsg:
		m.typing.Release(tea.Key(msg))
	case tty.Paste:
		m.paste(msg)
	case tea.MouseClickMsg:
		m.mouse.Press(tea.Mouse(msg))
	case tea.MouseReleaseMsg:
		m.mouse.Release(tea.Mouse(msg))
	case tea.MouseMotionMsg:
		m.mouse.Motion(tea.Mouse(msg))
	case tea.MouseWheelMsg:
		m.mouse.Wheel(tea.Mouse(msg))
	case tea.FocusMsg:
		m.outerFocus(true)
	case tea.BlurMsg:
		m.outerFocus(false)
	default:
		m.outer.Learn(msg)
	}
}

// mode is the table of bindings that is in force.
func (m *Model) mode() keymap.Mode {
	if mode, ok := m.agents.Mode(); ok {
		return mode
	}
	if _, _, v := m.panes.Focused(); v != nil && v.Copying() {
		return keymap.Copy
	}
	return keymap.Normal
}

// key handles a key: an overlay's, part of a chord, or the program's. With rest
// set its ESC went to the program already.
func (m *Model) key(k tea.Key, rest bool) {
	m.mouse.Keyed()
	if m.loop.Overlay != nil {
		o := m.loop.Overlay
		if o.Key(k) && m.loop.Overlay == o {
			m.loop.Close()
		}
		m.loop.Dirty |= loop.Panes
		return
	}
	if m.copying.Asks() {
		m.copying.Answer(k)
		return
	}
	key := keymap.Press(k.Keystroke(), k.Text)
	if key != (keymap.Key{}) && m.chord(key) {
		return
	}
	if c := m.agents.Focused(); c != nil {
		m.agents.Type(c, k)
		return
	}
	if _, t, _ := m.panes.Focused(); t != nil && t.Exited() {
		if k.Code == tea.KeyEnter || k.Text == "x" {
			m.closeExited(t)
		}
		return
	}
	m.typing.Key(k, rest)
}

// chord handles a key as part of a chord and reports whether it was one.
func (m *Model) chord(key keymap.Key) bool {
	kb := &m.kb
	if len(kb.pending) == 0 && len(kb.repeat) > 0 {
		again := append(kb.repeat[:len(kb.repeat):len(kb.repeat)], key)
		soon := m.env.Now().Before(kb.until)
		if b, match := m.keys.Lookup(keymap.Normal, again...); soon && match == keymap.Full && b.Repeat {
			m.runBinding(b)
			return true
		}
		kb.repeat = nil
	}
	seq := append(kb.pending, key)
	b, match := m.keys.Lookup(m.mode(), seq...)
	switch match {
	case keymap.Full:
		m.endChord()
		m.runBinding(b)
	case keymap.Prefix:
		m.startChord(seq)
	default:
		if len(kb.pending) == 0 {
			return m.mode() == keymap.Copy || m.mode() == keymap.Reading // which keep what they don't know
		}
		if kb.hint && key.String() == overlay.MoreKey {
			kb.page++
			m.loop.Dirty |= loop.Places
			return true
		}
		m.endChord()
		if key != (keymap.Key{Code: keymap.Esc}) {
			m.loop.Say(status.Info, "%s is bound to nothing", keymap.Chord(seq))
		}
	}
	return true
}

func (m *Model) startChord(seq []keymap.Key) {
	kb := &m.kb
	kb.pending, kb.page = seq, 0
	kb.chord++
	m.learnt()
	m.loop.Unsay()
	m.loop.Dirty |= loop.Chrome
	if kb.hint {
		m.loop.Dirty |= loop.Places
		return
	}
	n := kb.chord
	m.loop.After(hintTime, func() {
		if m.kb.chord == n && len(m.kb.pending) > 0 {
			m.kb.hint = true
			m.loop.Dirty |= loop.Chrome
		}
	})
}

func (m *Model) endChord() {
	kb := &m.kb
	if kb.hint {
		m.loop.Dirty |= loop.Places
	}
	kb.pending, kb.hint = nil, false
	kb.chord++
	m.loop.Dirty |= loop.Chrome
}

func (m *Model) runBinding(b keymap.Binding) {
	m.run(b.Command, b.Args)
	m.copying.Ran(b.Command)
	m.kb.repeat = nil
	if b.Repeat {
		m.kb.repeat = b.Chord[:len(b.Chord)-1]
		m.kb.until = m.env.Now().Add(keymap.RepeatTime)
	}
}

// ask opens a question; with nothing to ask about it goes on at once.
func (m *Model) askFirst(question string, yes func()) {
	if question == "" {
		yes()
		return
	}
	m.loop.Confirm(question, yes)
}

// outerFocus tells the focused program that the outer terminal gained or lost
// the focus.
func (m *Model) outerFocus(gained bool) {
	m.outer.Blurred = !gained
	m.alerts.Stale = true
	m.loop.Dirty |= loop.Chrome
	if gained {
		m.outer.CheckColors()
	}
	if p, ok := m.panes.Arr.Focused(); ok {
		m.typing.Focus(p.Terminal, gained)
	}
}

// paste hands pasted text to an overlay or what has the focus.
func (m *Model) paste(p tty.Paste) {
	switch c := m.agents.Focused(); {
	case m.loop.Overlay != nil:
		m.loop.Overlay.Paste(p.Text)
	case c != nil:
		c.Paste(p.Text, m.env.Now())
	default:
		m.typing.Paste(p)
		return
	}
	m.loop.Dirty |= loop.Panes
}

// namedKeys are Bubble Tea's codes of the keymap's named keys.
var namedKeys = map[rune]rune{
	keymap.Up: tea.KeyUp, keymap.Down: tea.KeyDown, keymap.Right: tea.KeyRight, keymap.Left: tea.KeyLeft,
	keymap.Home: tea.KeyHome, keymap.End: tea.KeyEnd, keymap.PgUp: tea.KeyPgUp, keymap.PgDown: tea.KeyPgDown,
	keymap.Insert: tea.KeyInsert, keymap.Delete: tea.KeyDelete,
}

// PressOf is the press that a key stands for.
func PressOf(k keymap.Key) tea.Key {
	code := k.Code
	if named, ok := namedKeys[code]; ok {
		code = named
	} else if code >= keymap.F1 && code <= keymap.F24 {
		code = tea.KeyF1 + code - keymap.F1
	}
	t := tea.Key{Code: code, Text: k.Types()}
	for from, to := range map[keymap.Mod]tea.KeyMod{
		keymap.Shift: tea.ModShift, keymap.Alt: tea.ModAlt, keymap.Ctrl: tea.ModCtrl,
		keymap.Super: tea.ModSuper, keymap.Hyper: tea.ModHyper, keymap.Meta: tea.ModMeta,
	} {
		if k.Mod&from != 0 {
			t.Mod |= to
		}
	}
	return t
}
