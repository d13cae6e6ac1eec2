package layout

import (
	"errors"
	"fmt"
	"slices"
)

// unit returns the path to the stack of the leaf at p, or p if it is in none.
func (n *Node) unit(p path) path {
	if len(p) > 0 && n.at(p[:len(p)-1]).Stack {
		return p[:len(p)-1]
	}
	return p
}

// beside returns the path of the node beside which a new pane is put: to the left and right of a
// stack that is the whole stack.
func (n *Node) beside(p path, d Direction) path {
	if d.axis() == Row {
		return n.unit(p)
	}
	return p
}

// Open returns the open pane of a stack: the one focused last, else the first.
func (t Tab) Open(stack *Node) *Node {
	for _, id := range append([]PaneID{t.Focus}, t.Recent...) {
		if i := slices.IndexFunc(stack.Children, func(c *Node) bool { return c.Pane == id }); i >= 0 {
			return stack.Children[i]
		}
	}
	return stack.Children[0]
}

func (t Tab) Stacked(id PaneID) bool {
	p, ok := t.Root.pathTo(id)
	return ok && len(t.Root.unit(p)) < len(p)
}

// stack lays out a stack. The open pane gets the rows that the headers leave.
func (a *Arrangement) stack(n, open *Node, r Rect, above Edge) {
	y := r.Y
	for _, c := range n.Children {
		p := Placed{
			Pane: c.Pane, Terminal: c.Terminal, Name: c.Name, Edge: above, Stack: r,
			Header: Rect{r.X, y, r.W, 1}, Body: Rect{r.X, y + 1, r.W, 0},
		}
		above = Edge{} // only the topmost header is at the edge
		if c == open {
			p.Body.H = r.H - len(n.Children)
			a.Panes = append(a.Panes, p)
		} else {
			a.Bars = append(a.Bars, p)
		}
		y += 1 + p.Body.H
	}
}

func stackOf(panes []*Node) *Node {
	return &Node{Axis: Column, Stack: true, Children: panes, Weights: ones(len(panes))}
}

var errNoRoom = errors.New("there is no room for that")

// restacked returns the layout with the node at path p of tab i replaced. The error says that it
// doesn't fit into the area.
func (l Layout) restacked(area Rect, i int, p path, by *Node) (Layout, error) {
	t := l.Tabs[i].unzoomed()
	r := spaceFor(t.Root, area)
	if r.known() && !by.fits(t.Root.rectAt(area, p)) {
		r = space{} // the other panes make room
	}
	t.Root = t.Root.replace(r, p, by)
	if !area.Empty() && !t.Root.fits(area) {
		return l, errNoRoom
	}
	if t.Root.depth() > MaxDepth {
		return l, fmt.Errorf("panes can be split %d levels deep at most", MaxDepth-1)
	}
	return l.withTab(i, t), nil
}

// Stack makes one stack of a pane, or of its stack, and the panes beside that in its split. The
// error says that there are none, or no room.
func (l Layout) Stack(area Rect, id PaneID) (Layout, error) {
	i, _, ok := l.Find(id)
	if !ok {
		return l, fmt.Errorf("stack: there is no pane %q", id)
	}
	root := l.Tabs[i].Root
	p, ok := root.pathTo(id)
	if !ok {
		return l, errors.New("a floating pane is in no stack")
	}
	if p = root.unit(p); len(p) == 0 {
		return l, errors.New("no pane stands beside this one")
	}
	p = p[:len(p)-1]
	s := root.at(p)
	stack := stackOf(s.leaves(nil))
	if stack.Unknown = s.Unknown; s.Axis == Column && len(stack.Children) == len(s.Children) {
		stack.Weights = s.Weights
	}
	return l.restacked(area, i, p, stack)
}

// Unstack turns a pane's stack into a column. The error says that the pane is in no stack, or
// that there is no room.
func (l Layout) Unstack(area Rect, id PaneID) (Layout, error) {
	i, _, ok := l.Find(id)
	if !ok || !l.Tabs[i].Stacked(id) {
		return l, errors.New("this pane is in no stack")
	}
	p, _ := l.Tabs[i].Root.pathTo(id)
	p = p[:len(p)-1]
	column := *l.Tabs[i].Root.at(p)
	column.Stack = false
	return l.restacked(area, i, p, &column)
}

// NewStacked adds a new pane to the stack of a pane, below it, or makes a stack of the two, and
// focuses it. The error says which bound was reached, or that there is no room.
func (l Layout) NewStacked(area Rect, at PaneID, uri URI) (Layout, PaneID, error) {
	i, _, ok := l.Find(at)
	if !ok {
		return l, "", fmt.Errorf("stack: there is no pane %q", at)
	}
	if err := l.room(&l.Tabs[i]); err != nil {
		return l, "", err
	}
	next, leaf := l.leaf(uri)
	root := l.Tabs[i].Root
	p, _ := root.pathTo(l.Tabs[i].tiled(at))
	by := stackOf([]*Node{root.at(p), leaf})
	if unit := root.unit(p); len(unit) < len(p) {
		by = root.at(unit).insert(space{}, p[len(unit):], Down, leaf)
		p = unit
	}
	next, err := next.restacked(area, i, p, by)
	if err != nil {
		return l, "", err
	}
	return next.FocusPane(leaf.Pane), leaf.Pane, nil
}
