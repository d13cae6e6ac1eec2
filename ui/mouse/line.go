package mouse

import (
	tea "charm.land/bubbletea/v2"

	"tandemux/emulator/input"
	"tandemux/ui/layout"
	"tandemux/ui/status"
)

// pressLine handles a press on the status line: it goes to a tab and takes hold of it,
// twice names it.
func (ms *Mouse) pressLine(ev tea.Mouse) {
	active := ms.Panes.Doc.Shown.Active
	h, on := ms.tabUnder(ev.X)
	y := max(ev.Y, ms.Outer.Body().Y) // beside the line, wherever that is
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

// dragTab moves the active tab to the place of the one under the mouse, if the mouse is
// over it then: past a wider one it would be moved back and forth.
func (ms *Mouse) dragTab(x int) {
	active, width := ms.Panes.Doc.Shown.Active, 0
	for _, h := range ms.Tabs {
		if h.Tab == active {
			width = h.To - h.From
		}
	}
	h, on := ms.tabUnder(x)
	if !on || h.Tab > active && x < h.To-width || h.Tab < active && x >= h.From+width || h.Tab == active {
		return
	}
	ms.Panes.MoveTab(func(int, int) int { return h.Tab })
	ms.Tabs = nil // until they are drawn at their new places
}

// pressMenu opens the menu of the pane under the mouse, unless its program takes the
// mouse.
func (ms *Mouse) pressMenu(h layout.Hit, ev tea.Mouse) {
	if h.Pane == "" {
		return
	}
	ms.Panes.Freshen() // the press moved the focus here
	if _, t, v := ms.Panes.Under(ev.X, ev.Y); ms.forward(t, v, ev, input.MousePress) {
		ms.button.grab, ms.button.pane = grabProgram, h.Pane
		return
	}
	ms.Menu("pane", ev.X, ev.Y)
}

// TabAt is where the active tab's label begins.
func (ms *Mouse) TabAt() int {
	for _, h := range ms.Tabs {
		if h.Tab == ms.Panes.Doc.Shown.Active {
			return h.From
		}
	}
	return 0
}
