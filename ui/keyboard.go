package ui

import (
	tea "charm.land/bubbletea/v2"

	"tandemux/keymap"
	"tandemux/ui/link"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/tty"
)

// maxHeld is the largest number of keys that wait for a terminal that is being created.
const maxHeld = 4096

// read handles the messages of one read of the outer terminal.
func (m *Model) read(in tty.Input) {
	for i, msg := range in {
		if m.waiting() && waits(msg) {
			if len(m.held.input) < maxHeld {
				m.held.input = append(m.held.input, in[i])
			}
			continue
		}
		m.event(msg)
	}
}

// waiting reports whether keys must wait for a terminal: at the start, and while one is being
// created.
func (m *Model) waiting() bool { return m.panes.Holding > 0 || !m.panes.Begun }

// waits reports whether a message may have to wait for a terminal.
func waits(msg tea.Msg) bool {
	switch msg.(type) {
	case tea.KeyPressMsg, tea.KeyReleaseMsg, tty.Paste, tty.Continued, after, link.Asked:
		return true
	}
	return false
}

// release handles the messages that waited, if no terminal is being created any more.
func (m *Model) release() {
	if m.waiting() || len(m.held.input) == 0 {
		return
	}
	msgs := m.held.input
	m.held.input = nil
	m.read(msgs)
}

// event handles one message of the outer terminal.
func (m *Model) event(msg tea.Msg) {
	m.panes.Freshen() // an earlier key of the same read may have moved the focus
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		m.key(tea.Key(msg), false)
	case tty.Continued:
		m.key(tea.Key(msg.KeyPressMsg), m.typing.Escaped)
	case tea.KeyReleaseMsg:
		m.typing.Release(tea.Key(msg))
	case tty.Paste:
		m.paste(msg)
	case after:
		m.run(msg[0], msg[1:])
	case link.Asked:
		done, err := m.asked(msg.Params)
		m.held.answers = append(m.held.answers, func() { msg.Reply(done, err) })
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

// mode returns the key table that is in force.
func (m *Model) mode() keymap.Mode {
	if mode, ok := m.agents.Mode(); ok {
		return mode
	}
	if _, _, v := m.panes.Focused(); v != nil && v.Copying() {
		return keymap.Copy
	}
	return keymap.Normal
}

// key gives a key to the overlay, a waiting command, the bindings, the chat or the program. rest
// says that an ESC before it was already sent to the program.
func (m *Model) key(k tea.Key, rest bool) {
	m.mouse.Keyed()
	key := keymap.Press(k.Keystroke, k.Text)
	if p, ok := m.loop.Overlay.(overlay.Passing); ok && p.Passes(k) {
		m.loop.Close()
	} else if list, is := m.loop.Overlay.(*overlay.List); is && !list.Words && key == m.keys.Prefix() {
		m.loop.Close() // a list needs no prefix key, and closing it loses only its filter
	}
	if o := m.loop.Overlay; o != nil {
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
	if key != (keymap.Key{}) && m.keys.Press(key) {
		return
	}
	if c := m.agents.Focused(); c != nil {
		m.agents.Type(c, k)
		return
	}
	if _, t, _ := m.panes.Focused(); t != nil && t.Exited() {
		if k.Code == tea.KeyEnter || k.Text == "x" {
			m.control.CloseExited(t)
		}
		return
	}
	m.typing.Key(k, rest)
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

// paste gives pasted text to the overlay, or else to the chat or program with the focus.
func (m *Model) paste(p tty.Paste) {
	switch c := m.agents.Focused(); {
	case m.loop.Overlay != nil:
		if o, takes := m.loop.Overlay.(overlay.Pasting); takes {
			o.Paste(p.Text)
		}
	case c != nil:
		c.Paste(p.Text, m.loop.Now())
	default:
		m.typing.Paste(p)
		return
	}
	m.loop.Dirty |= loop.Panes
}

// pasteText pastes text into what has the focus. A program that has bracketed paste on gets it
// bracketed.
func (m *Model) pasteText(text string) {
	m.paste(tty.Paste{Text: text, First: true, Last: true})
}
