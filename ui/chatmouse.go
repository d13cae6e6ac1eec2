package ui

import (
	tea "charm.land/bubbletea/v2"

	"tandemux/emulator/input"
	"tandemux/ui/agents"
	"tandemux/ui/layout"
	"tandemux/ui/loop"
	"tandemux/ui/paint"
)

// chatUnder gives the chat whose body lies at a cell, nil for none.
func (m *Model) chatUnder(x, y int) *agents.Chat {
	h := m.panes.Arr.At(x, y)
	if h.Kind != layout.HitBody {
		return nil
	}
	p, _ := m.panes.Arr.Pane(h.Pane)
	return m.agents.Chat(p.Terminal)
}

// pressChat handles a press over a chat.
func (m *Model) pressChat(h layout.Hit, ev tea.Mouse) bool {
	e := m.chatUnder(ev.X, ev.Y)
	if e == nil {
		return false
	}
	m.panes.Freshen() // the click moved the focus here
	m.loop.Dirty |= loop.Panes | loop.Chrome
	if ev.Button == tea.MouseMiddle && m.clip.Len() > 0 {
		m.clip.Paste(0)
		return true
	}
	if ev.Button != tea.MouseLeft {
		return true
	}
	if uri := e.LinkAt(ev.X, ev.Y); uri != "" && ev.Mod&tea.ModCtrl != 0 {
		m.openLink(uri)
		return true
	}
	e.Unselect()
	if !e.Click(ev.X, ev.Y, m.env.Now()) && e.Grip(ev.X, ev.Y) {
		m.mouse.grab, m.mouse.pane = grabChat, h.Pane
	}
	return true
}

// grabbedChat is the chat whose text the mouse holds.
func (m *Model) grabbedChat() *agents.Chat {
	p, _ := m.panes.Arr.Pane(m.mouse.pane)
	return m.agents.Chat(p.Terminal)
}

func (m *Model) dragChat(ev tea.Mouse) {
	if e := m.grabbedChat(); e != nil {
		m.mouse.moved = m.mouse.moved || ev.X != m.mouse.x || ev.Y != m.mouse.y
		if m.mouse.moved {
			e.Drag(ev.X, ev.Y)
			m.loop.Dirty |= loop.Panes
		}
	}
}

// releaseChat copies what was selected; a click that dragged nothing folds.
func (m *Model) releaseChat(ev tea.Mouse) {
	e := m.grabbedChat()
	if e == nil {
		return
	}
	m.loop.Dirty |= loop.Panes
	if !m.mouse.moved {
		e.Hit(ev.X, ev.Y)
		return
	}
	if text := e.Selected(); text != "" && !m.cfg.NoCopyOnSelect {
		m.clip.CopyText(text)
	}
}

func (m *Model) wheelChat(ev tea.Mouse) bool {
	e := m.chatUnder(ev.X, ev.Y)
	if e == nil {
		return false
	}
	e.Scroll(map[tea.MouseButton]int{tea.MouseWheelUp: -input.WheelLines, tea.MouseWheelDown: input.WheelLines}[ev.Button])
	m.loop.Dirty |= loop.Panes | loop.Chrome
	return true
}

// pressBadge goes from a terminal's badge to the chat that it belongs to.
func (m *Model) pressBadge(h layout.Hit, ev tea.Mouse) bool {
	p, ok := m.panes.Arr.Pane(h.Pane)
	if !ok || h.Kind != layout.HitHeader || ev.Button != tea.MouseLeft {
		return false
	}
	t := m.panes.Terms.Get(p.Terminal)
	if t == nil || m.agents.ChatOf(t) == "" {
		return false
	}
	badge, _ := m.panes.Badge(t)
	w := paint.Width(badge)
	if right := p.Header.X + p.Header.W - 1; w == 0 || ev.X < right-w-3 || ev.X > right {
		return false
	}
	m.panes.OpenChat(m.agents.ChatOf(t))
	return true
}
