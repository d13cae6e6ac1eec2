package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/input"
	"tandemux/keymap"
	"tandemux/ui/command"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/tty"
)

// hintTime is how long the prefix has to stand alone until the hint shows what
// can follow.
const hintTime = 500 * time.Millisecond

// maxHeld bounds how many keys wait for a terminal that is being created.
const maxHeld = 4096

// maxInput bounds one terminal/input, in bytes; longer pastes go in pieces.
const maxInput = 32 << 10

// keyboard is what has been pressed and not come to an end.
type keyboard struct {
	typed   time.Time    // when something was typed that no frame has answered yet; else zero
	pending []keymap.Key // of a chord
	hint    bool         // what can follow is shown
	page    int          // of the hint
	chord   int          // number of the chord, so that an old timer is known

	repeat []keymap.Key // all but the last key of a chord that may be repeated
	until  time.Time    // for how long

	held []tea.Msg // input that waits for terminals being created

	count int    // typed in copy mode before a command, 0 for none
	asked *asked // what waits for a character, nil for nothing

	escaped bool          // the last thing a program got was ESC alone
	down    map[rune]bool // keys whose press went to a program
	out     []outgoing
	flows   map[ahp.URI]*flow // input that takes more than one message
}

// outgoing is input for a terminal, gathered during an update.
type outgoing struct {
	uri  ahp.URI
	data []byte
	keys int  // how many it is, for people
	part bool // of a paste that comes in several reads: the host may not have room for all
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
		m.key(tea.Key(msg.KeyPressMsg), m.kb.escaped)
	case tea.KeyReleaseMsg:
		m.keyReleased(tea.Key(msg))
	case tty.Paste:
		m.paste(msg)
	case tea.MouseClickMsg:
		m.mousePress(tea.Mouse(msg))
	case tea.MouseReleaseMsg:
		m.mouseRelease(tea.Mouse(msg))
	case tea.MouseMotionMsg:
		m.mouseMotion(tea.Mouse(msg))
	case tea.MouseWheelMsg:
		m.mouseWheel(tea.Mouse(msg))
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
	if m.picking.uri != "" {
		m.unhover() // ctrl is let go, or means something else
	}
	if m.loop.Overlay != nil {
		o := m.loop.Overlay
		if o.Key(k) && m.loop.Overlay == o {
			m.loop.Close()
		}
		m.loop.Dirty |= loop.Panes
		return
	}
	if m.kb.asked != nil {
		m.answer(k)
		return
	}
	key := keymap.Press(k.Keystroke(), k.Text)
	if key != (keymap.Key{}) && m.chord(key) {
		return
	}
	m.typeKey(k, rest)
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
	if m.kb.count > 0 && b.Command != "copy-count" {
		m.kb.count = 0 // it was for a command that takes none
		m.loop.Dirty |= loop.Chrome
	}
	m.kb.repeat = nil
	if b.Repeat {
		m.kb.repeat = b.Chord[:len(b.Chord)-1]
		m.kb.until = m.env.Now().Add(keymap.RepeatTime)
	}
}

// typeKey sends a key to the focused program.
func (m *Model) typeKey(k tea.Key, rest bool) {
	if e := m.agents.Focused(); e != nil {
		m.agents.Type(e, k)
		return
	}
	_, t, v := m.panes.Focused()
	if t == nil || v == nil {
		return
	}
	if t.Exited() {
		if k.Code == tea.KeyEnter || k.Text == "x" {
			m.closeExited(t)
		}
		return
	}
	modes := v.Feed.Modes()
	data := encode(k, input.Press, rest, modes)
	if len(data) == 0 {
		return
	}
	if m.typeInto(t, v, data) {
		m.panes.Repeat(func(t *terminals.Terminal, v *pane.View) {
			modes.Kitty |= v.Feed.Modes().Kitty
			m.typeInto(t, v, encode(k, input.Press, rest, v.Feed.Modes()))
		})
		m.kb.escaped = k.Code == tea.KeyEscape && k.Mod == 0
		if modes.Kitty != 0 {
			m.pressed(k.Code, true)
		}
	}
}

func (m *Model) pressed(code rune, down bool) {
	if m.kb.down == nil {
		m.kb.down = map[rune]bool{}
	}
	if down && len(m.kb.down) < 64 {
		m.kb.down[code] = true
	} else if !down {
		delete(m.kb.down, code)
	}
}

// keyReleased tells a program that wants to know; it gets the releases of keys
// whose press it got.
func (m *Model) keyReleased(k tea.Key) {
	if !m.kb.down[k.Code] {
		return
	}
	m.pressed(k.Code, false)
	_, t, v := m.panes.Focused()
	if v == nil || !m.panes.Terms.Typable(t) {
		return
	}
	release := func(t *terminals.Terminal, v *pane.View) {
		if data := input.AppendKey(nil, k, input.Release, v.Feed.Modes()); len(data) > 0 {
			m.send(t.URI, data)
		}
	}
	release(t, v)
	m.panes.Repeat(release)
}

// typeInto sends what the person typed to a terminal, if it is theirs to type
// into; else it says what to do. The view goes back to the newest output and
// the terminal gets this client's size.
func (m *Model) typeInto(t *terminals.Terminal, v *pane.View, data []byte) bool {
	if !m.mayType(t) || !m.mayKeep(len(data)) {
		return false
	}
	if v.Back() > 0 {
		v.Follow()
		m.loop.Dirty |= loop.Panes
	}
	if v.Unselect() {
		m.loop.Dirty |= loop.Panes
	}
	if p, ok := m.panes.Showing(t.URI); ok {
		m.panes.Fit(p, true)
	}
	m.loop.Unsay()
	t.Typed = true
	m.send(t.URI, data)
	m.kb.out[len(m.kb.out)-1].keys++
	return true
}

// mayType reports whether the person may type into a terminal; if not it says
// why.
func (m *Model) mayType(t *terminals.Terminal) bool {
	if m.panes.Terms.Typable(t) {
		return true
	}
	keys := m.keysOf("reclaim")
	switch m.panes.Terms.Holder(t) {
	case command.Agent:
		m.loop.Say(status.Warning, "%s runs %s here: %s takes it", t.AgentName(), t.Doing(), keys)
	case command.Background:
		m.loop.Say(status.Warning, "%s holds this terminal: %s takes it", t.AgentName(), keys)
	case command.Other:
		m.loop.Say(status.Warning, "%s holds this terminal: %s takes it", t.PersonName(), keys)
	}
	return false
}

// send gathers input for a terminal; it leaves at the end of the update.
func (m *Model) send(uri ahp.URI, data []byte) {
	m.kb.escaped = false
	if m.cfg.RecordInput {
		m.recordings.Input(uri, data)
	}
	if n := len(m.kb.out); n > 0 && m.kb.out[n-1].uri == uri {
		m.kb.out[n-1].data = append(m.kb.out[n-1].data, data...)
		return
	}
	m.kb.out = append(m.kb.out, outgoing{uri: uri, data: data})
}

// cutRune is the length of b without a character cut at its end.
func cutRune(b []byte) int {
	for n := len(b); n > len(b)-4; n-- {
		if b[n-1] < 0x80 {
			return n
		}
		if b[n-1] >= 0xc0 {
			return n - 1
		}
	}
	return len(b)
}

// paste hands pasted text to an overlay or the focused program.
func (m *Model) paste(p tty.Paste) {
	if m.loop.Overlay != nil {
		m.loop.Overlay.Paste(p.Text)
		m.loop.Dirty |= loop.Panes
		return
	}
	if e := m.agents.Focused(); e != nil {
		e.Paste(p.Text, m.env.Now())
		m.loop.Dirty |= loop.Panes
		return
	}
	_, t, v := m.panes.Focused()
	if t == nil || v == nil || t.Exited() {
		return
	}
	if !m.mayPaste(p) {
		return
	}
	defer m.pasted(p)
	typed := false
	into := func(t *terminals.Terminal, v *pane.View) {
		text := input.Paste(p.Text, p.First, p.Last, v.Feed.Modes())
		if text == "" || !m.typeInto(t, v, []byte(text)) {
			return
		}
		typed = true
		if !(p.First && p.Last) {
			m.kb.out[len(m.kb.out)-1].part = true
		}
	}
	if into(t, v); typed {
		m.panes.Repeat(into)
	}
}

// outerFocus tells the focused program that the outer terminal gained or lost
// the focus.
func (m *Model) outerFocus(gained bool) {
	m.outer.Blurred = !gained
	m.attending.stale = true
	m.loop.Dirty |= loop.Chrome
	if gained {
		m.outer.CheckColors()
	}
	if p, ok := m.panes.Arr.Focused(); ok {
		m.tellFocus(p.Terminal, gained)
	}
}

// focusMoved tells the programs that the focus went from one pane to another.
func (m *Model) focusMoved(from, to ahp.URI) {
	m.loop.Dirty |= loop.Chrome
	if m.outer.Blurred || from == to {
		return
	}
	m.tellFocus(from, false)
	m.tellFocus(to, true)
}

// tellFocus reports the focus to a program that asked for it, in a terminal of
// this client: moving the focus is no reason to take one from another client.
func (m *Model) tellFocus(uri ahp.URI, gained bool) {
	t := m.panes.Terms.Get(uri)
	if t == nil || t.Feed == nil || t.Exited() || !m.link.Up() || m.panes.Terms.Holder(t) != command.Me {
		return
	}
	if s := input.Focus(gained, t.Feed.Modes()); s != "" {
		m.send(uri, []byte(s))
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

// encode gives the bytes of a key as a program in those modes expects it. With
// rest set its ESC went to the program already.
func encode(k tea.Key, ev input.Event, rest bool, modes emulator.Modes) []byte {
	data := input.AppendKey(nil, k, ev, modes)
	if rest && len(data) > 1 && data[0] == 0x1b {
		data = data[1:]
	}
	return data
}
