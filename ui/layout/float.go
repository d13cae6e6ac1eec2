package layout

import (
	"fmt"
	"slices"
)

// Float is a pane above the tiled ones of its tab. X, Y, W and H are the place of its frame, in
// units of 1/Whole of the area's width or height, so that it keeps its place on another screen.
type Float struct {
	Leaf       *Node
	X, Y, W, H int
}

// Whole is the whole width or height of the area, in the units of Float.
const Whole = 10000

// The smallest frame, with its border of one cell on each side. A smaller area shows no floats.
const (
	minFrameW = MinWidth + 2
	minFrameH = MinHeight + 2
)

// float returns the index of the pane's float, -1 for a tiled pane.
func (t Tab) float(id PaneID) int {
	return slices.IndexFunc(t.Floats, func(f Float) bool { return f.Leaf.Pane == id })
}

// Floating reports whether the pane is a float.
func (t Tab) Floating(id PaneID) bool { return t.float(id) >= 0 }

// find returns the leaf of a pane of the tab, nil if there is none.
func (t Tab) find(id PaneID) *Node {
	if i := t.float(id); i >= 0 {
		return t.Floats[i].Leaf
	}
	return t.Root.find(id)
}

func (t Tab) count() int { return len(t.Panes()) }

// swap returns the tab with leaves replaced according to the map.
func (t Tab) swap(by map[PaneID]*Node) Tab {
	t.Root = t.Root.swap(by)
	t.Floats = slices.Clone(t.Floats)
	for i, f := range t.Floats {
		if other, ok := by[f.Leaf.Pane]; ok {
			t.Floats[i].Leaf = other
		}
	}
	return t
}

// tiled returns the pane itself if it is tiled. For a float it returns the tiled pane that was
// focused last.
func (t Tab) tiled(id PaneID) PaneID {
	if !t.Floating(id) {
		return id
	}
	for _, r := range t.Recent {
		if !t.Floating(r) {
			return r
		}
	}
	return t.Root.first()
}

// raised moves a float to the top and shows the floats. For a tiled pane nothing changes.
func (t Tab) raised(id PaneID) Tab {
	i := t.float(id)
	if i < 0 {
		return t
	}
	t.Hidden = false
	f := t.Floats[i]
	t.Floats = append(slices.Delete(slices.Clone(t.Floats), i, i+1), f)
	return t
}

// Frame returns the float's rectangle, with its border, within an area. ok is false if the area
// is too small for a body.
func (f Float) Frame(area Rect) (r Rect, ok bool) {
	if area.W < minFrameW || area.H < minFrameH {
		return Rect{}, false
	}
	cells := func(part, of int) int { return (part*of + Whole/2) / Whole }
	r.W = min(max(cells(f.W, area.W), minFrameW), area.W)
	r.H = min(max(cells(f.H, area.H), minFrameH), area.H)
	r.X = area.X + min(max(cells(f.X, area.W), 0), area.W-r.W)
	r.Y = area.Y + min(max(cells(f.Y, area.H), 0), area.H-r.H)
	return r, true
}

// at returns the float with its frame at a rectangle of the area.
func (f Float) at(area, r Rect) Float {
	share := func(n, of int) int { return min(max((n*Whole+of/2)/of, 0), Whole) }
	r.W, r.H = min(max(r.W, minFrameW), area.W), min(max(r.H, minFrameH), area.H)
	r.X = min(max(r.X, area.X), area.X+area.W-r.W)
	r.Y = min(max(r.Y, area.Y), area.Y+area.H-r.H)
	f.X, f.W = share(r.X-area.X, area.W), share(r.W, area.W)
	f.Y, f.H = share(r.Y-area.Y, area.H), share(r.H, area.H)
	return f
}

// floated returns a new float in the middle of the area, moved a little down and right for each
// float that exists.
func (t Tab) floated(leaf *Node) Float {
	off := len(t.Floats) % 5 * (Whole / 40)
	return Float{Leaf: leaf, X: Whole/5 + off, Y: Whole/5 + off, W: Whole * 3 / 5, H: Whole * 3 / 5}
}

// NewFloat adds a new float with focus to the active tab. Without a tab it makes one. The error
// says which bound was reached.
func (l Layout) NewFloat(uri URI) (Layout, PaneID, error) {
	t, ok := l.Tab()
	if !ok {
		return l.NewTab(uri)
	}
	if err := l.room(&t); err != nil {
		return l, "", err
	}
	next, leaf := l.leaf(uri)
	t.Floats = append(slices.Clone(t.Floats), t.floated(leaf))
	return next.withTab(l.Active, t.focus(leaf.Pane).unzoomed()), leaf.Pane, nil
}

// PlaceFloat moves and resizes a float to a rectangle, as far as the area has room. For a tiled
// pane, and in an unknown area, nothing changes.
func (l Layout) PlaceFloat(area Rect, id PaneID, r Rect) Layout {
	k, _, ok := l.Find(id)
	if !ok || area.W < minFrameW || area.H < minFrameH {
		return l
	}
	t := l.Tabs[k]
	i := t.float(id)
	if i < 0 {
		return l
	}
	t.Floats = slices.Clone(t.Floats)
	t.Floats[i] = t.Floats[i].at(area, r)
	return l.withTab(k, t)
}

// HideFloats hides the active tab's floats and focuses a tiled pane.
func (l Layout) HideFloats() Layout {
	return l.inTab(func(t Tab) Tab {
		if !t.Hidden && len(t.Floats) > 0 {
			t = t.focus(t.tiled(t.Focus))
			t.Hidden = true
		}
		return t
	})
}

// ShowFloats shows the active tab's floats and focuses the topmost.
func (l Layout) ShowFloats() Layout {
	return l.inTab(func(t Tab) Tab {
		if n := len(t.Floats); n > 0 {
			t = t.focus(t.Floats[n-1].Leaf.Pane)
		}
		return t
	})
}

// Lift turns a tiled pane into a float, or a float into a tiled pane beside the tiled pane that
// was focused last. It keeps the focus.
func (l Layout) Lift(area Rect, id PaneID) (Layout, error) {
	k, leaf, ok := l.Find(id)
	if !ok {
		return l, fmt.Errorf("float: there is no pane %q", id)
	}
	t := l.Tabs[k]
	if i := t.float(id); i >= 0 {
		d, ok := t.sideWithRoom(area, t.tiled(id))
		if !ok {
			return l, fmt.Errorf("there is no room beside the other panes")
		}
		beside := t.tiled(id)
		t, _ = t.remove(area, id)
		return l.withTab(k, t).insert(area, k, beside, d, leaf)
	}
	if t.Root.leaf() {
		return l, fmt.Errorf("this is the only pane that does not float")
	}
	t, _ = t.remove(area, id)
	t.Floats = append(slices.Clone(t.Floats), t.floated(leaf))
	return l.withTab(k, t.focus(id).unzoomed()), nil
}

// sideWithRoom returns a side of a tiled pane on which another one fits.
func (t Tab) sideWithRoom(area Rect, at PaneID) (Direction, bool) {
	if area.Empty() {
		return Right, true
	}
	for _, d := range []Direction{Right, Down} {
		if t.CanSplit(area, at, d) {
			return d, true
		}
	}
	return 0, false
}

// resizeFloat makes a float larger or smaller by n cells, by moving its right or bottom border.
func (l Layout) resizeFloat(area Rect, k, i int, d Direction, n int) Layout {
	f := l.Tabs[k].Floats[i]
	r, ok := f.Frame(area)
	if !ok {
		return l
	}
	if d.back() {
		n = -n
	}
	if d.axis() == Row {
		r.W = min(r.W+n, area.X+area.W-r.X)
	} else {
		r.H = min(r.H+n, area.Y+area.H-r.Y)
	}
	return l.PlaceFloat(area, f.Leaf.Pane, r)
}

// besideFloat returns the tiled pane on a side of a float's frame.
func (t Tab) besideFloat(area Rect, i int, d Direction) (PaneID, bool) {
	r, ok := t.Floats[i].Frame(area)
	if !ok {
		return "", false
	}
	x, y := r.X+r.W/2, r.Y+r.H/2
	step := 1
	switch d {
	case Left:
		x, step = r.X-1, -1
	case Right:
		x = r.X + r.W
	case Up:
		y, step = r.Y-1, -1
	case Down:
		y = r.Y + r.H
	}
	a := t.geometry(area)
	for range 2 { // a divider has no pane: look one cell further
		if h := a.At(x, y); h.Pane != "" {
			return h.Pane, true
		}
		if d.axis() == Row {
			x += step
		} else {
			y += step
		}
	}
	return "", false
}

// float lays out a float: a frame of one cell around the body, whose top row is the header.
func (a *Arrangement) float(f Float) {
	r, ok := f.Frame(a.Area)
	if !ok {
		return
	}
	a.Panes = append(a.Panes, Placed{
		Pane: f.Leaf.Pane, Terminal: f.Leaf.Terminal, Name: f.Leaf.Name, Frame: r,
		Header: Rect{r.X, r.Y, r.W, 1},
		Body:   Rect{r.X + 1, r.Y + 1, r.W - 2, r.H - 2},
	})
}

// Floating reports whether the pane is a float.
func (p Placed) Floating() bool { return !p.Frame.Empty() }

// Tiled returns the arrangement without its floats.
func (a Arrangement) Tiled() Arrangement {
	for len(a.Panes) > 0 && a.Panes[len(a.Panes)-1].Floating() {
		a.Panes = a.Panes[:len(a.Panes)-1]
	}
	return a
}

// Floats reports whether there are floats.
func (a Arrangement) Floats() bool {
	return len(a.Panes) > 0 && a.Panes[len(a.Panes)-1].Floating()
}
