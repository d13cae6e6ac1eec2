package panes

import (
	"tandemux/ahp"
	"tandemux/ui/layout"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
)

// Show goes to the pane that shows a terminal, or splits the focused pane to
// Show it.
func (ps *Panes) Show(t *terminals.Terminal) {
	uri, area := t.URI, ps.Area()
	ps.Bare = false
	ps.Apply(func(l layout.Layout) (layout.Layout, error) {
		if id, ok := l.Showing(uri); ok {
			return l.FocusPane(id), nil
		}
		return besideFocus(l, area, uri)
	})
}

// Bring takes a terminal into the active tab, out of another one if that shows
// it.
func (ps *Panes) Bring(t *terminals.Terminal) {
	id, shown := ps.Doc.Shown.Showing(t.URI)
	if !shown {
		ps.Show(t)
		return
	}
	tab, _ := ps.Doc.Shown.Tab()
	if i, _, _ := ps.Doc.Shown.Find(id); i == ps.Doc.Shown.Active {
		ps.loop.Say(status.Info, "%s is in this tab already", t.Quoted())
		return
	}
	d, ok := roomBeside(tab, ps.Area(), tab.Focus)
	if !ok {
		ps.loop.Say(status.Warning, "there is no room in this tab")
		return
	}
	ps.movePane(id, tab.Focus, d)
}

// besideFocus shows a terminal in a pane beside the focused one, or in a tab of its
// own where there is no room.
func besideFocus(l layout.Layout, area layout.Rect, uri ahp.URI) (layout.Layout, error) {
	if tab, ok := l.Tab(); ok {
		if d, ok := roomBeside(tab, area, tab.Focus); ok {
			l, _, err := l.Split(area, tab.Focus, d, uri)
			return l, err
		}
	}
	l, _, err := l.NewTab(uri)
	return l, err
}

// OpenChat goes to the pane that shows a chat, or makes one beside the focused one.
func (ps *Panes) OpenChat(uri ahp.URI) {
	area := ps.Area()
	ps.Bare = false
	ps.Apply(func(l layout.Layout) (layout.Layout, error) {
		if id, ok := l.Showing(uri); ok {
			return l.FocusPane(id), nil
		}
		return besideWide(l, area, uri)
	})
}

// leastChat is how wide a chat is at least, in cells, to be put beside another
// pane.
const leastChat = 60

// besideWide shows a chat to the right of the focused pane if both have room to be
// read, else in a tab of its own.
func besideWide(l layout.Layout, area layout.Rect, uri ahp.URI) (layout.Layout, error) {
	if tab, ok := l.Tab(); ok {
		p, _ := tab.Arrange(area).Pane(tab.Focus)
		if (p.Body.W-1)/2 >= leastChat && tab.CanSplit(area, tab.Focus, layout.Right) {
			l, _, err := l.Split(area, tab.Focus, layout.Right, uri)
			return l, err
		}
	}
	l, _, err := l.NewTab(uri)
	return l, err
}

// BringChat takes a chat into the active tab.
func (ps *Panes) BringChat(uri ahp.URI) {
	id, shown := ps.Doc.Shown.Showing(uri)
	if i, _, _ := ps.Doc.Shown.Find(id); !shown || i == ps.Doc.Shown.Active {
		ps.OpenChat(uri)
		return
	}
	tab, _ := ps.Doc.Shown.Tab()
	if d, ok := roomBeside(tab, ps.Area(), tab.Focus); ok {
		ps.movePane(id, tab.Focus, d)
		return
	}
	ps.loop.Say(status.Warning, "there is no room in this tab")
}

// roomBeside gives the side of a pane where another one fits: the right where it
// is wide, below where it is not.
func roomBeside(tab layout.Tab, area layout.Rect, at layout.PaneID) (layout.Direction, bool) {
	sides := []layout.Direction{layout.Down, layout.Right}
	if p, ok := tab.Arrange(area).Pane(at); ok && p.Body.W > 3*p.Body.H {
		sides = []layout.Direction{layout.Right, layout.Down}
	}
	for _, d := range sides {
		if tab.CanSplit(area, at, d) {
			return d, true
		}
	}
	return 0, false
}

// movePane puts a pane beside another one, of any tab.
func (ps *Panes) movePane(id, beside layout.PaneID, d layout.Direction) bool {
	area := ps.Area()
	return ps.Apply(func(l layout.Layout) (layout.Layout, error) { return l.Move(area, id, beside, d) })
}
