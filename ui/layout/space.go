package layout

// The smallest body of a pane that is drawn. A header needs one more row.
const (
	MinWidth  = 2
	MinHeight = 1
)

// headed is the smallest height of a pane with a header.
const headed = MinHeight + 1

// Rect is a rectangle of cells.
type Rect struct{ X, Y, W, H int }

// Contains reports whether r has the cell.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// Empty reports whether r has no cell.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// space is the area of a node while its tree is changed. It is empty if the area is unknown or
// too small; the weights are changed then, without sizes in cells.
type space Rect

func (s space) known() bool { return !Rect(s).Empty() }

func (s space) child(n *Node, i int) space {
	if !s.known() || n.Stack { // a stack's panes are leaves
		return space{}
	}
	return space(n.rects(Rect(s))[i])
}

// weights returns the split's weights. If the area is known, they are its children's sizes in
// cells, which share the area in the same way. The caller may modify the slice.
func (s space) weights(n *Node) []int {
	if !s.known() || n.Stack { // a stack shares nothing out
		return append([]int(nil), n.Weights...)
	}
	return n.sizes(n.length(Rect(s)))
}

// spaceFor returns the space of a tree in an area, empty if it doesn't fit.
func spaceFor(root *Node, area Rect) space {
	if area.Empty() || !root.fits(area) {
		return space{}
	}
	return space(area)
}

// least returns the smallest width and height in which the tree can be drawn, with headers.
func (n *Node) least() (w, h int) {
	if n.leaf() {
		return MinWidth, headed
	}
	if n.Stack {
		return MinWidth, len(n.Children) + MinHeight
	}
	for i, c := range n.Children {
		cw, ch := c.least()
		switch {
		case n.Axis == Row:
			w += cw
			h = max(h, ch)
			if i > 0 {
				w++
			}
		default:
			w = max(w, cw)
			h += ch
		}
	}
	return w, h
}

func (n *Node) fits(area Rect) bool {
	w, h := n.least()
	return w <= area.W && h <= area.H
}

// length returns the rectangle's size along the split's axis.
func (n *Node) length(r Rect) int {
	if n.Axis == Row {
		return r.W
	}
	return r.H
}

// leasts returns the smallest sizes of the children along the split's axis.
func (n *Node) leasts() []int {
	mins := make([]int, len(n.Children))
	for i, c := range n.Children {
		w, h := c.least()
		if n.Axis == Row {
			mins[i] = w
		} else {
			mins[i] = h
		}
	}
	return mins
}

// sizes returns the children's sizes in cells along the split's axis, without dividers. The split
// must fit into length.
func (n *Node) sizes(length int) []int {
	if n.Axis == Row {
		length -= len(n.Children) - 1
	}
	return share(length, n.Weights, n.leasts())
}

func (n *Node) rects(r Rect) []Rect {
	rects := make([]Rect, len(n.Children))
	for i, size := range n.sizes(n.length(r)) {
		rects[i] = r
		if n.Axis == Row {
			rects[i].W = size
			r.X += size + 1
		} else {
			rects[i].H = size
			r.Y += size
		}
	}
	return rects
}

// share shares out cells by weight, but gives nobody less than its least. The cells left by
// rounding go to the largest remainders, of equal ones to the first. The sum of leasts must not
// exceed cells.
func share(cells int, weights, leasts []int) []int {
	sizes := make([]int, len(weights))
	fixed := make([]bool, len(weights))
	var sum int64
	for again := true; again; {
		again = false
		sum = 0
		for i, w := range weights {
			if !fixed[i] {
				sum += int64(w)
			}
		}
		left := cells
		for i, w := range weights {
			if !fixed[i] && int64(cells)*int64(w) < int64(leasts[i])*sum {
				sizes[i], fixed[i], again = leasts[i], true, true
				left -= leasts[i]
			}
		}
		cells = left
	}
	left := cells
	remainders := make([]int64, len(weights))
	for i, w := range weights {
		if !fixed[i] {
			exact := int64(cells) * int64(w)
			sizes[i] = int(exact / sum)
			remainders[i] = exact % sum
			left -= sizes[i]
		}
	}
	for ; left > 0; left-- {
		best := -1
		for i := range weights {
			if !fixed[i] && (best < 0 || remainders[i] > remainders[best]) {
				best = i
			}
		}
		sizes[best]++
		remainders[best] = -1
	}
	return sizes
}
