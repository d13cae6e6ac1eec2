package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
	"tandemux/ui/loop"
	"tandemux/ui/pane"
)

const (
	// clickTime is how long after a click another one makes two.
	clickTime = 400 * time.Millisecond
	// edgeTime is how often a view scrolls while text is dragged beyond it.
	edgeTime = 40 * time.Millisecond
)

// picking is text that the mouse selects, and what it points at.
type picking struct {
	clicks int // in a row, 1 to 3
	x, y   int // of the last one
	at     time.Time

	hovered *pane.View
	uri     string // of the link pointed at
	scrolls bool   // a timer runs that scrolls while text is dragged
	held    int    // how often it has run for this time beyond the edge
	ev      tea.Mouse
}

// pressView handles what a button does over a view before its program is asked:
// a link opens with ctrl, the scroll bar is taken hold of.
func (m *Model) pressView(v *pane.View, ev tea.Mouse) bool {
	if ev.Button != tea.MouseLeft {
		return false
	}
	if ev.Mod&tea.ModCtrl != 0 {
		if uri, ok := v.LinkAt(ev.X, ev.Y); ok {
			if ev.Mod&tea.ModAlt != 0 {
				m.copyLink(uri)
			} else {
				m.openLink(uri)
			}
			return true
		}
	}
	if id, ok := v.Stuck(ev.X, ev.Y); ok && v.GoTo(id) == nil {
		m.loop.Dirty |= loop.Panes | loop.Chrome
		return true
	}
	if v.OnBar(ev.X, ev.Y) {
		v.DragBar(ev.Y)
		m.mouse.grab = grabBar
		m.loop.Dirty |= loop.Panes
		return true
	}
	return false
}

// pressText takes hold of text: by characters, words with two clicks, lines with
// three, a block with alt. The middle button pastes what was copied last.
func (m *Model) pressText(v *pane.View, ev tea.Mouse) {
	if v.Unselect() {
		m.loop.Dirty |= loop.Panes
	}
	p := &m.picking
	now := m.env.Now()
	if ev.Button != tea.MouseLeft {
		p.clicks = 0
		if ev.Button == tea.MouseMiddle && m.clip.Len() > 0 {
			m.panes.Freshen() // the click moved the focus here
			m.clip.Paste(0)
		}
		return
	}
	if p.clicks > 0 && p.clicks < 3 && ev.X == p.x && ev.Y == p.y && now.Sub(p.at) <= clickTime {
		p.clicks++
	} else {
		p.clicks = 1
	}
	p.x, p.y, p.at, p.held = ev.X, ev.Y, now, 0
	v.Separators = m.cfg.WordSeparators
	v.Grip(ev.X, ev.Y, pane.Unit(p.clicks-1), ev.Mod&tea.ModAlt != 0)
	m.mouse.grab = grabText
	m.loop.Dirty |= loop.Panes
}

// dragText selects up to where the mouse is; beyond the view's edge it scrolls
// until the mouse comes back or the button is released.
func (m *Model) dragText(ev tea.Mouse) {
	v := m.panes.Views[m.mouse.pane]
	if v == nil {
		return
	}
	m.mouse.moved = m.mouse.moved || ev.X != m.mouse.x || ev.Y != m.mouse.y
	if !m.mouse.moved {
		return
	}
	v.Drag(ev.X, ev.Y)
	m.loop.Dirty |= loop.Panes
	m.picking.ev = ev
	m.scrollEdge()
}

// scrollEdge starts the timer that scrolls while text is dragged beyond its
// view.
func (m *Model) scrollEdge() {
	v := m.panes.Views[m.mouse.pane]
	p := &m.picking
	if p.scrolls || m.mouse.grab != grabText || v == nil {
		return
	}
	if v.Beyond(p.ev.Y, m.outer.H) == 0 {
		p.held = 0
		return
	}
	p.scrolls = true
	m.loop.After(edgeTime, func() {
		m.picking.scrolls = false
		v := m.panes.Views[m.mouse.pane]
		if m.mouse.grab != grabText || v == nil {
			return
		}
		p := &m.picking
		n := v.Beyond(p.ev.Y, m.outer.H)
		if n < 0 {
			n -= p.held / 10
		} else if n > 0 {
			n += p.held / 10
		}
		if n == 0 || !v.Scroll(min(max(n, -maxEdge), maxEdge)) {
			return // it is back, or there is no more text: the next motion tries again
		}
		p.held++
		v.Drag(m.picking.ev.X, m.picking.ev.Y)
		m.loop.Dirty |= loop.Panes
		m.scrollEdge()
	})
}

// maxEdge bounds how many lines are scrolled at once, however far the mouse is
// and however long it has been there.
const maxEdge = 20

// releaseText copies what was selected, unless that is left to a command.
func (m *Model) releaseText() {
	v := m.panes.Views[m.mouse.pane]
	if v == nil || !v.Selected() || m.cfg.NoCopyOnSelect {
		return
	}
	if text := v.SelectedText(); text != "" {
		m.clip.CopyText(text)
	}
}

// unhover forgets what the mouse points at until it moves.
func (m *Model) unhover() {
	if v := m.picking.hovered; v != nil {
		v.Hover(-1, -1, false)
	}
	m.picking.hovered, m.picking.uri = nil, ""
	m.loop.Dirty |= loop.Panes | loop.Chrome
}

// hover underlines the link under the mouse while ctrl is held, and shows the
// scroll bar where the mouse is on its column.
func (m *Model) hover(ev tea.Mouse) {
	_, _, v := m.panes.Under(ev.X, ev.Y)
	p := &m.picking
	if p.hovered != nil && p.hovered != v {
		if _, changed := p.hovered.Hover(-1, -1, false); changed {
			m.loop.Dirty |= loop.Panes
		}
		p.hovered = nil
	}
	uri := ""
	if v != nil {
		links := ev.Mod&tea.ModCtrl != 0
		programs := v.Feed.Modes().Mouse != emulator.MouseOff && v.Back() == 0 && !v.Copying()
		x := ev.X
		if programs && !links {
			x = -1
		}
		var changed bool
		if uri, changed = v.Hover(x, ev.Y, links); changed {
			m.loop.Dirty |= loop.Panes
		}
		p.hovered = v
	}
	if uri != p.uri {
		p.uri = uri
		m.loop.Dirty |= loop.Chrome
	}
}
