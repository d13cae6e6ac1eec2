package layout

import (
	"errors"
	"fmt"
	"slices"
)

// The area that operations take is where tabs are drawn. With it, panes that an operation doesn't
// concern keep their size to the cell. The zero Rect means that it is unknown.

// Split adds a new pane beside a pane and focuses it. The pane gives up half of its cells;
// CanSplit reports whether both have enough then. A pane beside a float goes beside the tiled
// pane that was focused last. The error says which bound was reached.
func (l Layout) Split(area Rect, at PaneID, d Direction, uri URI) (Layout, PaneID, error) {
	i, _, ok := l.Find(at)
	if !ok {
		return l, "", fmt.Errorf("split: there is no pane %q", at)
	}
	if err := l.room(&l.Tabs[i]); err != nil {
		return l, "", err
	}
	next, leaf := l.leaf(uri)
	next, err := next.insert(area, i, at, d, leaf)
	if err != nil {
		return l, "", err
	}
	return next, leaf.Pane, nil
}

// leaf makes a new pane. It returns the layout with the next NextID.
func (l Layout) leaf(uri URI) (Layout, *Node) {
	l, id := l.mint("p")
	return l, &Node{Pane: PaneID(id), Terminal: uri}
}

// insert adds a leaf beside a pane of tab i and focuses it.
func (l Layout) insert(area Rect, i int, at PaneID, d Direction, leaf *Node) (Layout, error) {
	t := l.Tabs[i]
	p, _ := t.Root.pathTo(t.tiled(at))
	t.Root = t.Root.insert(spaceFor(t.Root, area), t.Root.beside(p, d), d, leaf)
	if t.Root.depth() > MaxDepth {
		return l, fmt.Errorf("panes can be split %d levels deep at most", MaxDepth-1)
	}
	return l.withTab(i, t.focus(leaf.Pane).unzoomed()).GoTab(i), nil
}

func (t Tab) unzoomed() Tab {
	t.Zoom = false
	return t
}

// CanSplit reports whether both halves would have room.
func (t Tab) CanSplit(area Rect, at PaneID, d Direction) bool {
	if t.count() >= MaxPanes || !t.Root.fits(area) {
		return false
	}
	p, ok := t.Root.pathTo(t.tiled(at))
	if !ok {
		return false
	}
	r := t.Root.rectAt(area, t.Root.unit(p))
	if n := t.Root.at(t.Root.unit(p)); n.Stack && d.axis() == Column {
		return r.H > len(n.Children)+MinHeight
	}
	if d.axis() == Row {
		return r.W >= 2*MinWidth+1 && r.H >= headed
	}
	return r.W >= MinWidth && r.H >= 2*headed
}

// RoomBeside returns a side of a pane on which another one fits: it prefers the right of wide
// panes, and below others.
func (t Tab) RoomBeside(area Rect, at PaneID) (Direction, bool) {
	sides := []Direction{Down, Right}
	if p, ok := t.Arrange(area).Pane(at); ok && p.Body.W > 3*p.Body.H {
		sides = []Direction{Right, Down}
	}
	for _, d := range sides {
		if t.CanSplit(area, at, d) {
			return d, true
		}
	}
	return 0, false
}

// Beside adds a new pane beside the pane that shows a terminal, on a side with room, and keeps
// the focus. size returns terminals' sizes as for Seen. The error says that there is no such
// pane, or no room.
func (l Layout) Beside(beside, uri URI, size func(URI) (cols, rows int)) (Layout, PaneID, error) {
	at, ok := l.Showing(beside)
	if !ok {
		return l, "", errors.New("nothing shows there")
	}
	i, _, _ := l.Find(at)
	t := l.Tabs[i].unzoomed() // the pane may be hidden by a zoomed one
	area := t.Seen(size)
	d, ok := t.RoomBeside(area, t.tiled(at))
	if !ok {
		return l, "", errors.New("there is no room beside it")
	}
	next, id, err := l.Split(area, at, d, uri)
	if err != nil {
		return l, "", err
	}
	return next.Refocused(l), id, nil
}

// Close removes the pane, and the tab with its last pane. The focus goes to the pane that had it
// before, else to a neighbour in order.
func (l Layout) Close(area Rect, id PaneID) Layout {
	i, _, ok := l.Find(id)
	if !ok {
		return l
	}
	t, left := l.Tabs[i].remove(area, id)
	if !left {
		return l.CloseTab(i)
	}
	return l.withTab(i, t)
}

// remove removes a pane from the tab. ok is false if it is the last one.
func (t Tab) remove(area Rect, id PaneID) (Tab, bool) {
	if t.count() == 1 {
		return t, false
	}
	focus := t.Focus
	if focus == id {
		focus = t.further(id, -1)
		if t.Root.first() == id {
			focus = t.further(id, 1)
		}
		if len(t.Recent) > 0 {
			focus = t.Recent[0]
		}
		t.Zoom = false
	}
	switch i := t.float(id); {
	case i >= 0:
		t.Floats = slices.Delete(slices.Clone(t.Floats), i, i+1)
	case t.Root.leaf():
		// The lowest float replaces the last tiled pane.
		t.Root, t.Floats = t.Floats[0].Leaf, slices.Clone(t.Floats[1:])
	default:
		p, _ := t.Root.pathTo(id)
		t.Root = t.Root.remove(spaceFor(t.Root, area), p)
	}
	if focus == id {
		focus = t.Root.first() // the removed pane was the only visible one
	}
	t.Focus = focus
	t.Recent = without(without(t.Recent, id), t.Focus)
	return t.sound(), true
}

// RemoveTerminal closes the panes that show a terminal.
func (l Layout) RemoveTerminal(area Rect, uri URI) Layout {
	return l.Prune(area, func(u URI) bool { return u != uri })
}

// Prune closes the panes for whose terminal alive returns false.
func (l Layout) Prune(area Rect, alive func(URI) bool) Layout {
	var dead []PaneID
	for _, t := range l.Tabs {
		for _, leaf := range t.Panes() {
			if !alive(leaf.Terminal) {
				dead = append(dead, leaf.Pane)
			}
		}
	}
	for _, id := range dead {
		l = l.Close(area, id)
	}
	return l
}

// RenamePane names a pane; "" removes the name. Control characters, and what exceeds MaxName
// bytes, are dropped.
func (l Layout) RenamePane(id PaneID, name string) Layout {
	return l.change(id, func(n *Node) { n.Name = clean(name) })
}

// Show makes a pane show another terminal. The error says that there is no such pane.
func (l Layout) Show(id PaneID, uri URI) (Layout, error) {
	if _, _, ok := l.Find(id); !ok {
		return l, fmt.Errorf("there is no pane %q", id)
	}
	return l.change(id, func(n *Node) { n.Terminal, n.Folds = uri, nil }), nil
}

// Fold sets the commands, by id, whose output a pane hides. Invalid ids, and those beyond
// MaxFolds, are dropped.
func (l Layout) Fold(id PaneID, commands []string) Layout {
	return l.change(id, func(n *Node) { n.Folds = foldable(commands) })
}

// change returns the layout with a changed copy of a leaf.
func (l Layout) change(id PaneID, f func(*Node)) Layout {
	i, leaf, ok := l.Find(id)
	if !ok {
		return l
	}
	changed := *leaf
	f(&changed)
	t := l.Tabs[i]
	return l.withTab(i, t.swap(map[PaneID]*Node{id: &changed}))
}

// Zoom toggles whether only the active tab's focused pane is shown. A single pane can't be
// zoomed.
func (l Layout) Zoom() Layout {
	return l.inTab(func(t Tab) Tab {
		t.Zoom = !t.Zoom
		return t.sound()
	})
}

// Swap exchanges the places of two panes of any tabs. Within a tab the focus stays with the pane,
// across tabs with the place.
func (l Layout) Swap(a, b PaneID) Layout {
	i, left, okA := l.Find(a)
	j, right, okB := l.Find(b)
	if !okA || !okB || a == b {
		return l
	}
	by := map[PaneID]*Node{a: right, b: left}
	for _, k := range []int{i, j} {
		t := l.Tabs[k].unzoomed()
		t = t.swap(by)
		if i != j {
			from, to := a, b
			if k == j {
				from, to = b, a
			}
			t = t.renamed(from, to)
		}
		t.Hidden = t.Hidden && !t.Floating(t.Focus) // the focused pane may have become a float
		l = l.withTab(k, t)
		if i == j {
			break
		}
	}
	return l
}

// renamed returns the tab with pane from replaced by pane to in Focus and Recent.
func (t Tab) renamed(from, to PaneID) Tab {
	if t.Focus == from {
		t.Focus = to
	}
	t.Recent = slices.Clone(t.Recent)
	for i, id := range t.Recent {
		if id == from {
			t.Recent[i] = to
		}
	}
	return t
}

// SwapNext swaps a pane with the one n places after it in its tab, around the ends; n may be
// negative.
func (l Layout) SwapNext(id PaneID, n int) Layout {
	i, _, ok := l.Find(id)
	if !ok {
		return l
	}
	return l.Swap(id, l.Tabs[i].further(id, n))
}

// Rotate moves to the place of each of the active tab's tiled panes the pane n places after it,
// around the ends; n may be negative. The focus stays at its place on the screen.
func (l Layout) Rotate(n int) Layout {
	return l.inTab(func(t Tab) Tab {
		leaves := t.Root.leaves(nil)
		by := make(map[PaneID]*Node, len(leaves))
		for i, leaf := range leaves {
			by[leaf.Pane] = leaves[wrap(i+n, len(leaves))]
		}
		t.Root = t.Root.swap(by)
		if at, tiled := by[t.Focus]; tiled {
			t = t.focus(at.Pane)
		}
		return t.unzoomed()
	})
}

// Move moves a pane beside another pane of any tab, with its name and the focus: tmux's move-pane
// and join-pane.
func (l Layout) Move(area Rect, id, beside PaneID, d Direction) (Layout, error) {
	i, leaf, ok := l.Find(id)
	if !ok {
		return l, fmt.Errorf("move: there is no pane %q", id)
	}
	j, _, ok := l.Find(beside)
	if !ok {
		return l, fmt.Errorf("move: there is no pane %q", beside)
	}
	if id == beside {
		return l, nil
	}
	if i != j && l.Tabs[j].count() >= MaxPanes {
		return l, fmt.Errorf("a tab can have %d panes at most; close one first", MaxPanes)
	}
	// The pane is never the last of beside's tab, as beside is another pane.
	without := l.Close(area, id)
	j, _, _ = without.Find(beside)
	return without.insert(area, j, beside, d, leaf)
}

// BreakOut moves the pane into a new tab, after the tab that it was in.
func (l Layout) BreakOut(area Rect, id PaneID) (Layout, error) {
	i, leaf, ok := l.Find(id)
	if !ok {
		return l, fmt.Errorf("break out: there is no pane %q", id)
	}
	t, left := l.Tabs[i].remove(area, id)
	if !left {
		return l, fmt.Errorf("break out: this pane has its tab to itself already")
	}
	return l.withTab(i, t).addTab(i+1, leaf)
}
