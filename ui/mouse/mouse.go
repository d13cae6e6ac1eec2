package mouse

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
	"tandemux/emulator/input"
	"tandemux/ui/agents"
	"tandemux/ui/clipboard"
	"tandemux/ui/copying"
	"tandemux/ui/layout"
	"tandemux/ui/link"
	"tandemux/ui/loop"
	"tandemux/ui/outer"
	"tandemux/ui/overlay"
	"tandemux/ui/pane"
	"tandemux/ui/panes"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/typing"
)

// grab is what a pressed button holds until it is released.
type grab uint8

const (
	grabNone    grab = iota
	grabEdge         // a border between panes
	grabText         // text of a pane
	grabProgram      // a program that follows the mouse
	grabBar          // a scroll bar
	grabFloat        // the frame of a floating pane
	grabChat         // text of a chat
	grabTab          // a tab's label
)

// button is the state of a pressed button.
type button struct {
	grab  grab
	edge  layout.Edge
	grip  grip
	pane  layout.PaneID
	x, y  int  // where it was pressed
	moved bool // the mouse has moved since
}

// With is what the mouse works with.
type With struct {
	Loop    *loop.Loop
	Link    *link.Link
	Panes   *panes.Panes
	Outer   *outer.Terminal
	Clip    *clipboard.Clipboard
	Agents  *agents.Agents
	Typing  *typing.Typing
	Copying *copying.Copying
	// Run runs a command by name. Menu opens the menu of a pane, a tab or the status line.
	Run  func(name string, args []string)
	Menu func(of string, x, y int)
}

// Mouse is the state of the mouse.
type Mouse struct {
	With
	// Tabs is where the status line shows tabs.
	Tabs []status.Hit

	button  button
	picking picking
}

// New makes a Mouse without a pressed button.
func New(w With) *Mouse { return &Mouse{With: w} }

// Drop releases what a pressed button holds.
func (ms *Mouse) Drop() {
	if v := ms.Panes.Views[ms.button.pane]; v != nil && v.Held {
		v.Held = false
		ms.Loop.Dirty |= loop.Panes
	}
	ms.button = button{}
}

// Pointed returns the address of the link under the mouse, "" for none.
func (ms *Mouse) Pointed() string { return ms.picking.uri }

// Keyed ends the highlight of a link when a key is pressed: ctrl was released, or has another
// meaning now.
func (ms *Mouse) Keyed() {
	if ms.picking.uri == "" {
		return
	}
	if v := ms.picking.hovered; v != nil {
		v.Hover(-1, -1, false)
	}
	ms.picking.hovered, ms.picking.uri = nil, ""
	ms.Loop.Dirty |= loop.Panes | loop.Chrome
}

// forward sends a mouse event to the program of a view, if it follows the mouse and the person
// may type there. It reports whether the event was the program's.
func (ms *Mouse) forward(t *terminals.Terminal, v *pane.View, ev tea.Mouse, kind input.MouseKind) bool {
	if t == nil || v == nil || v.Copying() || v.Back() > 0 || ev.Mod&tea.ModShift != 0 {
		return false
	}
	modes := v.Feed.Modes()
	if modes.Mouse == emulator.MouseOff || !ms.Panes.Terms.Typable(t) || !ms.Link.UpAt(t.URI) {
		return false
	}
	x, y, inside := v.Cell(ev.X, ev.Y)
	if !inside && ms.button.grab != grabProgram {
		return false
	}
	ev.X, ev.Y = x, y
	if data := input.AppendMouse(nil, input.MouseEvent{Mouse: ev, Kind: kind}, modes); len(data) > 0 {
		ms.Typing.Send(t.URI, data)
	}
	return true
}

func (ms *Mouse) Press(ev tea.Mouse) {
	ms.Drop()
	ms.button = button{x: ev.X, y: ev.Y}
	if ms.Loop.Overlay != nil {
		ms.clickOverlay(ev)
		return
	}
	if ev.Y == ms.Outer.Status().Y {
		ms.pressLine(ev)
		return
	}
	h := ms.Panes.Arr.At(ev.X, ev.Y)
	if h.Pane != "" {
		ms.Panes.Change(func(l layout.Layout) layout.Layout { return l.FocusPane(h.Pane) })
	}
	if ev.Button == tea.MouseRight {
		ms.pressMenu(h, ev)
		return
	}
	if h.Kind == layout.HitHeader && ev.Button == tea.MouseLeft && ms.count(ev) == 2 {
		ms.Run("rename-pane", nil)
		return
	}
	if ms.grabFrame(h, ev) {
		return
	}
	if h.Edge != (layout.Edge{}) && ev.Button == tea.MouseLeft {
		ms.button.grab, ms.button.edge = grabEdge, h.Edge
		return
	}
	if ms.pressBadge(h, ev) || ms.pressChat(h, ev) {
		return
	}
	_, t, v := ms.Panes.Under(ev.X, ev.Y)
	if v == nil {
		return
	}
	ms.button.pane = h.Pane
	if ms.pressView(v, ev) {
		return
	}
	if ms.forward(t, v, ev, input.MousePress) {
		ms.button.grab = grabProgram
		return
	}
	ms.pressText(v, ev)
}

func (ms *Mouse) clickOverlay(ev tea.Mouse) {
	o, ok := ms.Loop.Overlay.(overlay.Clicker)
	if !ok || ev.Button != tea.MouseLeft {
		return
	}
	top := ms.Loop.Overlay
	if o.Click(ev.X, ev.Y) && ms.Loop.Overlay == top {
		ms.Loop.Close()
	}
	ms.Loop.Dirty |= loop.Panes
}

func (ms *Mouse) Motion(ev tea.Mouse) {
	if ms.Loop.Overlay != nil {
		if o, ok := ms.Loop.Overlay.(overlay.Pointing); ok && o.Point(ev.X, ev.Y) {
			ms.Loop.Dirty |= loop.Panes
		}
		return
	}
	switch ms.button.grab {
	case grabTab:
		ms.dragTab(ev.X)
	case grabEdge:
		edge, area := ms.button.edge, ms.Panes.Area()
		ms.Panes.Change(func(l layout.Layout) layout.Layout { return l.Drag(area, edge, ev.X, ev.Y) })
	case grabFloat:
		ms.dragFrame(ev.X, ev.Y)
	case grabText:
		ms.dragText(ev)
	case grabChat:
		ms.dragChat(ev)
	case grabBar:
		if v := ms.Panes.Views[ms.button.pane]; v != nil {
			v.DragBar(ev.Y)
			ms.Loop.Dirty |= loop.Panes
		}
	case grabProgram:
		ms.forwardGrabbed(ev, input.MouseMotion)
	default:
		ms.hover(ev)
		_, t, v := ms.Panes.Under(ev.X, ev.Y)
		ms.forward(t, v, ev, input.MouseMotion)
	}
}

// forwardGrabbed sends an event to the program over which the button was pressed, also from
// outside its pane.
func (ms *Mouse) forwardGrabbed(ev tea.Mouse, kind input.MouseKind) {
	if p, ok := ms.Panes.Arr.Pane(ms.button.pane); ok {
		ms.forward(ms.Panes.Terms.Get(p.Terminal), ms.Panes.Views[p.Pane], ev, kind)
	}
}

func (ms *Mouse) Release(ev tea.Mouse) {
	grab := ms.button.grab
	switch grab {
	case grabProgram:
		ms.forwardGrabbed(ev, input.MouseRelease)
	case grabText:
		ms.releaseText()
	case grabChat:
		ms.releaseChat(ev)
	case grabEdge, grabFloat:
		if ev.X == ms.button.x && ev.Y == ms.button.y {
			ms.pressSign(ev.X, ev.Y)
		}
	case grabNone:
		if top := ms.Loop.Overlay; top != nil {
			if o, ok := top.(overlay.Pointing); ok && o.Release(ev.X, ev.Y) && ms.Loop.Overlay == top {
				ms.Loop.Close()
			}
			ms.Loop.Dirty |= loop.Panes
		} else {
			_, t, v := ms.Panes.Under(ev.X, ev.Y)
			ms.forward(t, v, ev, input.MouseRelease)
		}
	}
	ms.Drop()
}

// Wheel scrolls: the program if it follows the mouse; on the alternate screen with cursor keys;
// else the history.
func (ms *Mouse) Wheel(ev tea.Mouse) {
	n := 1
	if ev.Button == tea.MouseWheelUp {
		n = -1
	}
	if ms.Loop.Overlay != nil {
		if o, ok := ms.Loop.Overlay.(overlay.Clicker); ok {
			o.Wheel(n)
			ms.Loop.Dirty |= loop.Panes
		}
		return
	}
	if ms.wheelChat(ev) {
		return
	}
	_, t, v := ms.Panes.Under(ev.X, ev.Y)
	if t == nil || v == nil || ms.forward(t, v, ev, input.MouseWheel) {
		return
	}
	if ev.Button != tea.MouseWheelUp && ev.Button != tea.MouseWheelDown {
		return
	}
	modes := v.Feed.Modes()
	if modes.AltScreen && !v.Copying() && v.Back() == 0 {
		if modes.AltScroll && ms.Panes.Terms.Typable(t) && ms.Link.UpAt(t.URI) {
			ms.Typing.Send(t.URI, input.AppendWheelKeys(nil, n < 0, modes))
		}
		return
	}
	if v.Scroll(n * input.WheelLines) {
		ms.Loop.Dirty |= loop.Panes
	}
}

// grip is the part of a floating pane's frame that is dragged.
type grip struct {
	frame               layout.Rect // as the button was pressed
	left, right, bottom bool        // the dragged sides; none of them means the whole pane
}

// grabFrame holds a floating pane's frame if the mouse is on one. It reports whether it is.
func (ms *Mouse) grabFrame(h layout.Hit, ev tea.Mouse) bool {
	p, ok := ms.Panes.Arr.Pane(h.Pane)
	if !ok || !p.Floating() || h.Kind == layout.HitBody || ev.Button != tea.MouseLeft {
		return false
	}
	g := grip{frame: p.Frame}
	if h.Kind == layout.HitFrame {
		g.left, g.right = ev.X == p.Frame.X, ev.X == p.Frame.X+p.Frame.W-1
		g.bottom = ev.Y == p.Frame.Y+p.Frame.H-1
	}
	ms.button.grab, ms.button.pane, ms.button.grip = grabFloat, h.Pane, g
	return true
}

// dragFrame moves the held part of a frame to a cell.
func (ms *Mouse) dragFrame(x, y int) {
	g := ms.button.grip
	dx, dy := x-ms.button.x, y-ms.button.y
	r := g.frame
	switch {
	case g.left:
		dx = min(dx, r.W-layout.MinWidth-2)
		r.X, r.W = r.X+dx, r.W-dx
	case g.right:
		r.W += dx
	case !g.bottom:
		r.X, r.Y = r.X+dx, r.Y+dy
	}
	if g.bottom {
		r.H += dy
	}
	ms.Panes.PlaceFloat(ms.button.pane, r)
}

// pressSign folds or unfolds the output of the command whose mark in a pane's frame is clicked.
// It reports whether there was one.
func (ms *Mouse) pressSign(x, y int) bool {
	for _, p := range ms.Panes.Arr.Panes {
		if v := ms.Panes.Views[p.Pane]; v != nil && v.Framed && x == p.Body.X-1 && y >= p.Body.Y && y < p.Body.Y+p.Body.H && v.FoldRow(y) {
			ms.Loop.Dirty |= loop.Places
			return true
		}
	}
	return false
}

// pressLine handles a press on the status line: it activates and holds a tab; a double click
// renames the active tab.
func (ms *Mouse) pressLine(ev tea.Mouse) {
	active := ms.Panes.Doc.Shown.Active
	h, on := ms.tabUnder(ev.X)
	y := max(ev.Y, ms.Outer.Body().Y) // next to the status line
	if on && (ev.Button == tea.MouseLeft || ev.Button == tea.MouseRight) {
		ms.Panes.Change(func(l layout.Layout) layout.Layout { return l.GoTab(h.Tab) })
	}
	switch {
	case ev.Button == tea.MouseRight && on:
		ms.Panes.Freshen()
		ms.Menu("tab", h.From, y)
	case ev.Button == tea.MouseRight:
		ms.Menu("line", ev.X, y)
	case ev.Button != tea.MouseLeft || !on:
	case ms.count(ev) == 2 && h.Tab == active:
		ms.Run("rename-tab", nil)
	default:
		ms.button.grab = grabTab
	}
}

func (ms *Mouse) tabUnder(x int) (status.Hit, bool) {
	for _, h := range ms.Tabs {
		if x >= h.From && x < h.To {
			return h, true
		}
	}
	return status.Hit{}, false
}

// dragTab moves the active tab to the place of the tab under the mouse, if the mouse is then over
// the active tab: past a wider tab it would else move back and forth.
func (ms *Mouse) dragTab(x int) {
	active := ms.Panes.Doc.Shown.Active
	here := ms.ActiveTab()
	width := here.To - here.From
	h, on := ms.tabUnder(x)
	if !on || h.Tab > active && x < h.To-width || h.Tab < active && x >= h.From+width || h.Tab == active {
		return
	}
	ms.Panes.MoveTab(func(int, int) int { return h.Tab })
	ms.Tabs = nil // until they are drawn again
}

// pressMenu opens the menu of the pane under the mouse, unless its program follows the mouse.
func (ms *Mouse) pressMenu(h layout.Hit, ev tea.Mouse) {
	if h.Pane == "" {
		return
	}
	ms.Panes.Freshen() // the press has moved the focus here
	if _, t, v := ms.Panes.Under(ev.X, ev.Y); ms.forward(t, v, ev, input.MousePress) {
		ms.button.grab, ms.button.pane = grabProgram, h.Pane
		return
	}
	ms.Menu("pane", ev.X, ev.Y)
}

// ActiveTab returns where the active tab's label is, empty if it does not show.
func (ms *Mouse) ActiveTab() (h status.Hit) {
	if i := slices.IndexFunc(ms.Tabs, func(h status.Hit) bool { return h.Tab == ms.Panes.Doc.Shown.Active }); i >= 0 {
		h = ms.Tabs[i]
	}
	return h
}
