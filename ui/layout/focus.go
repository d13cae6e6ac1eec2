package layout

import "slices"

// FocusPane focuses a pane and activates its tab. If there is no such pane nothing changes.
// Leaving a zoomed pane ends the zoom.
func (l Layout) FocusPane(id PaneID) Layout {
	i, _, ok := l.Find(id)
	if !ok {
		return l
	}
	return l.withTab(i, l.Tabs[i].focus(id)).GoTab(i)
}

func (t Tab) focus(id PaneID) Tab {
	t = t.raised(id)
	if id == t.Focus {
		return t
	}
	t.Recent = push(t.Recent, t.Focus, id)
	t.Focus = id
	t.Zoom = false
	return t
}

// push puts front first in a list without duplicates, and removes gone.
func push[T comparable](list []T, front, gone T) []T {
	out := []T{front}
	for _, e := range list {
		if e != front && e != gone {
			out = append(out, e)
		}
	}
	return out
}

func without[T comparable](list []T, gone T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(e T) bool { return e == gone })
}

// Focus moves the active tab's focus to its neighbour in a direction. Without a neighbour nothing
// changes.
func (l Layout) Focus(area Rect, d Direction) Layout {
	return l.inTab(func(t Tab) Tab {
		if to, ok := t.Neighbour(area, t.Focus, d); ok {
			t = t.focus(to)
		}
		return t
	})
}

// FocusNext moves the active tab's focus by n panes in order, around the ends; n may be negative.
func (l Layout) FocusNext(n int) Layout {
	return l.inTab(func(t Tab) Tab { return t.focus(t.further(t.Focus, n)) })
}

// further returns the pane n places after a pane of the tab, around the ends.
func (t Tab) further(id PaneID, n int) PaneID {
	panes := t.Panes()
	if t.Hidden {
		panes = t.Root.leaves(nil)
	}
	i := slices.IndexFunc(panes, func(n *Node) bool { return n.Pane == id })
	return panes[wrap(i+n, len(panes))].Pane
}

func wrap(i, n int) int { return (i%n + n) % n }

// FocusLast focuses the pane of the active tab that had the focus before.
func (l Layout) FocusLast() Layout {
	return l.inTab(func(t Tab) Tab {
		if len(t.Recent) > 0 {
			t = t.focus(t.Recent[0])
		}
		return t
	})
}

// Neighbour returns the pane that Focus goes to from a pane. Of the panes whose border touches
// its border on that side, that is the one focused last; if none was ever focused, the one with
// the longest common border, and of equal ones the first. It doesn't wrap around the screen's
// edges, and ignores zoom, also where the panes don't fit into the area. From a float it goes to
// the tiled pane beside it; it never goes to a float. Up and down go through a stack; left and
// right go to its open pane, and leave it as if it were one pane.
func (t Tab) Neighbour(area Rect, from PaneID, d Direction) (PaneID, bool) {
	if i := t.float(from); i >= 0 {
		return t.besideFloat(area, i, d)
	}
	a := t.geometry(area)
	all := a.Panes
	rect := Placed.Rect
	if d.axis() == Column {
		all = slices.Concat(a.Panes, a.Bars)
	} else {
		rect = Placed.whole
	}
	at := slices.IndexFunc(all, func(p Placed) bool { return p.Pane == from })
	if at < 0 {
		return "", false
	}
	here := rect(all[at])
	best, bestRecent, bestOverlap := PaneID(""), len(t.Recent), 0
	for _, q := range all {
		overlap := here.touch(rect(q), d)
		if overlap <= 0 {
			continue
		}
		recent := slices.Index(t.Recent, q.Pane)
		if recent < 0 {
			recent = len(t.Recent)
		}
		if best == "" || recent < bestRecent || recent == bestRecent && overlap > bestOverlap {
			best, bestRecent, bestOverlap = q.Pane, recent, overlap
		}
	}
	return best, best != ""
}

// touch returns the length in cells of the common border if o is beside r on that side, else 0.
func (r Rect) touch(o Rect, d Direction) int {
	touching := false
	switch d {
	case Left:
		touching = o.X+o.W+1 == r.X
	case Right:
		touching = r.X+r.W+1 == o.X
	case Up:
		touching = o.Y+o.H == r.Y
	case Down:
		touching = r.Y+r.H == o.Y
	}
	if !touching {
		return 0
	}
	if d.axis() == Row {
		return min(r.Y+r.H, o.Y+o.H) - max(r.Y, o.Y)
	}
	return min(r.X+r.W, o.X+o.W) - max(r.X, o.X)
}

// geometry arranges the tiled panes of the tab, ignoring zoom, in the area or, if they don't fit,
// in the smallest area with room for them.
func (t Tab) geometry(area Rect) Arrangement {
	w, h := t.Root.least()
	t.Focus = t.tiled(t.Focus)
	t.Zoom, t.Floats = false, nil
	return t.Arrange(Rect{area.X, area.Y, max(area.W, w), max(area.H, h)})
}

// Refocused returns the layout with the focus of another version of it: the active tab, and in
// each tab the focused pane, the recent ones, and the zoom and hidden floats that go with that
// focus. If a tab or pane is gone, the focus stays.
func (l Layout) Refocused(was Layout) Layout {
	for _, old := range was.Tabs {
		if i := l.tabIndex(old.ID); i >= 0 && l.Tabs[i].find(old.Focus) != nil {
			l = l.withTab(i, l.Tabs[i].refocused(old))
		}
	}
	if len(was.Tabs) == 0 {
		return l
	}
	if i := l.tabIndex(was.Tabs[was.Active].ID); i >= 0 {
		l.Active = i
		l.Recent = known(was.Recent, func(id string) bool { return l.tabIndex(id) >= 0 && l.tabIndex(id) != i })
	}
	return l
}

func (t Tab) refocused(was Tab) Tab {
	if t.Focus != was.Focus {
		t = t.focus(was.Focus)
		t.Zoom, t.Hidden = was.Zoom, was.Hidden
		t = t.sound()
	}
	t.Recent = known(was.Recent, func(id PaneID) bool { return id != t.Focus && t.find(id) != nil })
	return t
}
