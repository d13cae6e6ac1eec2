package layout

// Resize moves a pane's border by n cells in a direction, as tmux does: the right or bottom
// border, or the other one if the pane is the last in its split. What the neighbour can't give,
// the panes behind it do. The tab is unzoomed. Without a split along that direction, or if the
// panes don't fit, nothing else changes.
func (l Layout) Resize(area Rect, id PaneID, d Direction, n int) Layout {
	i, _, ok := l.Find(id)
	if !ok || n <= 0 {
		return l
	}
	if f := l.Tabs[i].float(id); f >= 0 {
		return l.resizeFloat(area, i, f, d, n)
	}
	t := l.Tabs[i].unzoomed()
	p, _ := t.Root.pathTo(id)
	for k := len(p) - 1; k >= 0; k-- {
		s := t.Root.at(p[:k])
		if s.Axis != d.axis() || s.Stack {
			continue
		}
		edge := min(p[k], len(s.Children)-2)
		if d.back() {
			n = -n
		}
		t.Root = t.Root.moveEdge(area, p[:k], edge, n)
		break
	}
	return l.withTab(i, t)
}

// Drag moves an edge as far as there is room: a divider to column x, a header to row y. If the
// edge no longer exists, because someone else changed the layout, nothing changes.
func (l Layout) Drag(area Rect, e Edge, x, y int) Layout {
	i, _, ok := l.Find(e.Before)
	if !ok || l.Tabs[i].Zoom {
		return l
	}
	t := l.Tabs[i]
	p, at, ok := t.Root.edge(e)
	if !ok || !t.Root.fits(area) {
		return l
	}
	s := t.Root.at(p)
	rects := s.rects(t.Root.rectAt(area, p))
	n := y - rects[at+1].Y
	if s.Axis == Row {
		n = x - (rects[at+1].X - 1)
	}
	t.Root = t.Root.moveEdge(area, p, at, n)
	return l.withTab(i, t)
}

// edge returns the path of an edge's split, and the index of the child before the edge.
func (n *Node) edge(e Edge) (p path, at int, ok bool) {
	before, ok1 := n.pathTo(e.Before)
	after, ok2 := n.pathTo(e.After)
	if !ok1 || !ok2 {
		return nil, 0, false
	}
	k := 0
	for k < len(before) && k < len(after) && before[k] == after[k] {
		k++
	}
	if k == len(before) || k == len(after) || after[k] != before[k]+1 || n.at(before[:k]).Axis != e.Axis {
		return nil, 0, false
	}
	return before[:k], before[k], true
}

// rectAt returns the rectangle of the node at the path.
func (n *Node) rectAt(area Rect, p path) Rect {
	for _, i := range p {
		area = n.rects(area)[i]
		n = n.Children[i]
	}
	return area
}

// moveEdge returns the tree with the border after child at, of the split at path p, moved by n
// cells as far as there is room. Positive is right or down.
func (n *Node) moveEdge(area Rect, p path, at, by int) *Node {
	if !n.fits(area) {
		return n
	}
	s := n.at(p)
	sizes := s.sizes(s.length(n.rectAt(area, p)))
	leasts := s.leasts()
	grows, shrinks, step := at, at+1, 1
	if by < 0 {
		grows, shrinks, step, by = at+1, at, -1, -by
	}
	for i := shrinks; i >= 0 && i < len(sizes) && by > 0; i += step {
		give := min(by, sizes[i]-leasts[i])
		sizes[i] -= give
		sizes[grows] += give
		by -= give
	}
	return n.replace(space{}, p, s.with(s.Children, sizes))
}
