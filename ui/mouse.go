package ui

import (
	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
	"tandemux/emulator/input"
	"tandemux/ui/layout"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/pane"
	"tandemux/ui/terminals"
)

// grab is what a pressed button holds on to until it is released.
type grab uint8

const (
	grabNone    grab = iota
	grabEdge         // a border between panes
	grabText         // text of a pane
	grabProgram      // a program that follows the mouse
	grabBar          // a scroll bar
	grabFloat        // the frame of a floating pane
	grabChat         // text of a chat
)

// mouse is what the mouse is doing.
type mouse struct {
	grab  grab
	edge  layout.Edge
	grip  grip
	pane  layout.PaneID
	x, y  int  // where the button was pressed
	moved bool // since then
}

// forward reports a mouse event to the program of a view, if it asked for such
// and the person may type there; it reports whether it did.
func (m *Model) forward(t *terminals.Terminal, v *pane.View, ev tea.Mouse, kind input.MouseKind) bool {
	if t == nil || v == nil || v.Copying() || v.Back() > 0 || ev.Mod&tea.ModShift != 0 {
		return false
	}
	modes := v.Feed.Modes()
	if modes.Mouse == emulator.MouseOff || !m.panes.Terms.Typable(t) || !m.link.Up() {
		return false
	}
	x, y, inside := v.Cell(ev.X, ev.Y)
	if !inside && m.mouse.grab != grabProgram {
		return false
	}
	ev.X, ev.Y = x, y
	if data := input.AppendMouse(nil, input.MouseEvent{Mouse: ev, Kind: kind}, modes); len(data) > 0 {
		m.typing.Send(t.URI, data)
	}
	return true
}

func (m *Model) mousePress(ev tea.Mouse) {
	m.mouse = mouse{x: ev.X, y: ev.Y}
	if m.loop.Overlay != nil {
		m.clickOverlay(ev)
		return
	}
	if ev.Y == m.outer.H-1 {
		for _, h := range m.line.tabs {
			if ev.X >= h.From && ev.X < h.To && ev.Button == tea.MouseLeft {
				m.panes.Change(func(l layout.Layout) layout.Layout { return l.GoTab(h.Tab) })
			}
		}
		return
	}
	h := m.panes.Arr.At(ev.X, ev.Y)
	if h.Pane != "" {
		m.panes.Change(func(l layout.Layout) layout.Layout { return l.FocusPane(h.Pane) })
	}
	if m.grabFrame(h, ev) {
		return
	}
	if h.Edge != (layout.Edge{}) && ev.Button == tea.MouseLeft {
		m.mouse.grab, m.mouse.edge = grabEdge, h.Edge
		return
	}
	if m.pressBadge(h, ev) || m.pressChat(h, ev) {
		return
	}
	_, t, v := m.panes.Under(ev.X, ev.Y)
	if v == nil {
		return
	}
	m.mouse.pane = h.Pane
	if m.pressView(v, ev) {
		return
	}
	if m.forward(t, v, ev, input.MousePress) {
		m.mouse.grab = grabProgram
		return
	}
	m.pressText(v, ev)
}

func (m *Model) clickOverlay(ev tea.Mouse) {
	o, ok := m.loop.Overlay.(overlay.Clicker)
	if !ok || ev.Button != tea.MouseLeft {
		return
	}
	top := m.loop.Overlay
	if o.Click(ev.X, ev.Y) && m.loop.Overlay == top {
		m.loop.Close()
	}
	m.loop.Dirty |= loop.Panes
}

func (m *Model) mouseMotion(ev tea.Mouse) {
	if m.loop.Overlay != nil {
		return
	}
	switch m.mouse.grab {
	case grabEdge:
		edge, area := m.mouse.edge, m.panes.Area()
		m.panes.Change(func(l layout.Layout) layout.Layout { return l.Drag(area, edge, ev.X, ev.Y) })
	case grabFloat:
		m.dragFrame(ev.X, ev.Y)
	case grabText:
		m.dragText(ev)
	case grabChat:
		m.dragChat(ev)
	case grabBar:
		if v := m.panes.Views[m.mouse.pane]; v != nil {
			v.DragBar(ev.Y)
			m.loop.Dirty |= loop.Panes
		}
	case grabProgram:
		m.forwardGrabbed(ev, input.MouseMotion)
	default:
		m.hover(ev)
		_, t, v := m.panes.Under(ev.X, ev.Y)
		m.forward(t, v, ev, input.MouseMotion)
	}
}

// forwardGrabbed reports to the program that the button was pressed over, also
// from beyond its pane.
func (m *Model) forwardGrabbed(ev tea.Mouse, kind input.MouseKind) {
	if p, ok := m.panes.Arr.Pane(m.mouse.pane); ok {
		m.forward(m.panes.Terms.Get(p.Terminal), m.panes.Views[p.Pane], ev, kind)
	}
}

func (m *Model) mouseRelease(ev tea.Mouse) {
	grab := m.mouse.grab
	switch grab {
	case grabProgram:
		m.forwardGrabbed(ev, input.MouseRelease)
	case grabText:
		m.releaseText()
	case grabChat:
		m.releaseChat(ev)
	case grabEdge, grabFloat:
		if ev.X == m.mouse.x && ev.Y == m.mouse.y {
			m.pressSign(ev.X, ev.Y)
		}
	case grabNone:
		if m.loop.Overlay == nil {
			_, t, v := m.panes.Under(ev.X, ev.Y)
			m.forward(t, v, ev, input.MouseRelease)
		}
	}
	m.mouse = mouse{}
}

// mouseWheel scrolls: the program if it follows the mouse, its cursor keys if
// it takes the whole screen without, else the history.
func (m *Model) mouseWheel(ev tea.Mouse) {
	up := ev.Button == tea.MouseWheelUp
	if m.loop.Overlay != nil {
		if o, ok := m.loop.Overlay.(overlay.Clicker); ok {
			o.Wheel(up)
			m.loop.Dirty |= loop.Panes
		}
		return
	}
	if m.wheelChat(ev) {
		return
	}
	_, t, v := m.panes.Under(ev.X, ev.Y)
	if t == nil || v == nil || m.forward(t, v, ev, input.MouseWheel) {
		return
	}
	if ev.Button != tea.MouseWheelUp && ev.Button != tea.MouseWheelDown {
		return
	}
	modes := v.Feed.Modes()
	if modes.AltScreen && !v.Copying() && v.Back() == 0 {
		if m.panes.Terms.Typable(t) && m.link.Up() {
			m.typing.Send(t.URI, input.AppendWheelKeys(nil, up, modes))
		}
		return
	}
	n := input.WheelLines
	if up {
		n = -n
	}
	if v.Scroll(n) {
		m.loop.Dirty |= loop.Panes
	}
}
