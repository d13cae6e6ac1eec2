package layout

import "slices"

// path leads from a node to one below it: it has the index of the child at each level. Operations
// rebuild a tree along it.
type path []int

func (n *Node) leaf() bool { return len(n.Children) == 0 }

// find returns the leaf of a pane, nil if there is none.
func (n *Node) find(id PaneID) *Node {
	if n.leaf() {
		if n.Pane == id {
			return n
		}
		return nil
	}
	for _, c := range n.Children {
		if f := c.find(id); f != nil {
			return f
		}
	}
	return nil
}

// pathTo returns the path to the leaf of a pane.
func (n *Node) pathTo(id PaneID) (path, bool) {
	if n.leaf() {
		return nil, n.Pane == id
	}
	for i, c := range n.Children {
		if p, ok := c.pathTo(id); ok {
			return append(path{i}, p...), true
		}
	}
	return nil, false
}

func (n *Node) at(p path) *Node {
	for _, i := range p {
		n = n.Children[i]
	}
	return n
}

// leaves appends the leaves in order.
func (n *Node) leaves(to []*Node) []*Node {
	if n.leaf() {
		return append(to, n)
	}
	for _, c := range n.Children {
		to = c.leaves(to)
	}
	return to
}

// depth returns the number of levels, 1 for a leaf.
func (n *Node) depth() int {
	deepest := 0
	for _, c := range n.Children {
		deepest = max(deepest, c.depth())
	}
	return deepest + 1
}

// first returns the first leaf's pane.
func (n *Node) first() PaneID {
	for !n.leaf() {
		n = n.Children[0]
	}
	return n.Pane
}

// split makes a new split, without Unknown members.
func split(axis Axis, weights []int, children ...*Node) *Node {
	return &Node{Axis: axis, Children: children, Weights: bounded(weights)}
}

func ones(n int) []int {
	w := make([]int, n)
	for i := range w {
		w[i] = 1
	}
	return w
}

// bounded halves all weights until they are within 1 and MaxWeight.
func bounded(weights []int) []int {
	largest, halvings := slices.Max(weights), 0
	for largest>>halvings > MaxWeight {
		halvings++
	}
	out := make([]int, len(weights))
	for i, w := range weights {
		out[i] = max(w>>halvings, 1)
	}
	return out
}

// with returns the split with other children and weights.
func (n *Node) with(children []*Node, weights []int) *Node {
	return &Node{Axis: n.Axis, Children: children, Weights: bounded(weights), Stack: n.Stack, Unknown: n.Unknown}
}

// replace returns the tree with the node at the path replaced. A split that replaces a child of
// the same axis is merged into its parent, unless it is a stack. r is where the tree is drawn; if
// it is known the panes keep their places.
func (n *Node) replace(r space, p path, by *Node) *Node {
	if len(p) == 0 {
		return by
	}
	i := p[0]
	return n.put(r, i, n.Children[i].replace(r.child(n, i), p[1:], by))
}

// put returns the split with child i replaced.
func (n *Node) put(r space, i int, kid *Node) *Node {
	children := slices.Clone(n.Children)
	if kid.leaf() || kid.Axis != n.Axis || kid.Stack {
		children[i] = kid
		return n.with(children, n.Weights)
	}
	weights, inner := r.weights(n), r.child(n, i).weights(kid)
	if !r.known() {
		// The child's share is divided in proportion to the inner weights.
		sum := 0
		for _, w := range inner {
			sum += w
		}
		share := weights[i]
		for j := range weights {
			weights[j] *= sum
		}
		for j := range inner {
			inner[j] *= share
		}
	}
	return n.with(slices.Replace(children, i, i+1, kid.Children...), slices.Replace(weights, i, i+1, inner...))
}

// remove returns the tree without the leaf at the path, nil if nothing is left. Its cells go to
// the child before it, for the first child to the one after it.
func (n *Node) remove(r space, p path) *Node {
	if len(p) == 0 {
		return nil
	}
	i := p[0]
	kid := n.Children[i].remove(r.child(n, i), p[1:])
	if kid != nil {
		return n.put(r, i, kid)
	}
	heir := max(i-1, 1-i)
	if len(n.Children) == 2 {
		return n.Children[heir]
	}
	weights := r.weights(n)
	weights[heir] += weights[i]
	if r.known() && n.Axis == Row {
		weights[heir]++ // the divider's column
	}
	return n.with(slices.Delete(slices.Clone(n.Children), i, i+1), slices.Delete(weights, i, i+1))
}

// insert returns the tree with a new leaf beside the node at the path, which gives up half of its
// cells.
func (n *Node) insert(r space, p path, d Direction, leaf *Node) *Node {
	if len(p) > 1 || len(p) == 1 && n.Axis != d.axis() {
		i := p[0]
		children := slices.Clone(n.Children)
		children[i] = n.Children[i].insert(r.child(n, i), p[1:], d, leaf)
		return n.with(children, n.Weights)
	}
	if len(p) == 0 {
		if d.back() {
			return split(d.axis(), ones(2), leaf, n)
		}
		return split(d.axis(), ones(2), n, leaf)
	}
	i, weights := p[0], r.weights(n)
	old := weights[i]
	if !r.known() {
		for j := range weights {
			weights[j] *= 2
		}
		old *= 2
	} else if n.Axis == Row {
		old-- // the new divider's column
	}
	to := i + 1
	if d.back() {
		to = i
	}
	weights[i] = old - old/2
	return n.with(slices.Insert(slices.Clone(n.Children), to, leaf), slices.Insert(weights, to, old/2))
}

// swap returns the tree with leaves replaced according to the map.
func (n *Node) swap(by map[PaneID]*Node) *Node {
	if n.leaf() {
		if other, ok := by[n.Pane]; ok {
			return other
		}
		return n
	}
	children := make([]*Node, len(n.Children))
	for i, c := range n.Children {
		children[i] = c.swap(by)
	}
	return n.with(children, n.Weights)
}
