package layout

import "slices"

// Preset is the name of an arrangement of a tab's panes. The names are tmux's.
type Preset string

// The presets, in NextPreset's order. NextPreset omits Stacked, which tmux doesn't have.
const (
	EvenHorizontal Preset = "even-horizontal" // side by side
	EvenVertical   Preset = "even-vertical"   // one above the other
	MainHorizontal Preset = "main-horizontal" // the first on top, the others below
	MainVertical   Preset = "main-vertical"   // the first on the left
	Tiled          Preset = "tiled"           // as square as possible
	Stacked        Preset = "stacked"         // a stack
)

// The weights of the main pane and of the others.
const mainWeight, otherWeight = 3, 2

// presetRow is a preset. build gets two panes or more.
type presetRow struct {
	name  Preset
	build func([]*Node) *Node
}

var presets = []presetRow{
	{EvenHorizontal, func(p []*Node) *Node { return line(Row, p) }},
	{EvenVertical, func(p []*Node) *Node { return line(Column, p) }},
	{MainHorizontal, func(p []*Node) *Node { return around(Column, p) }},
	{MainVertical, func(p []*Node) *Node { return around(Row, p) }},
	{Tiled, tile},
	{Stacked, stackOf},
}

// line puts nodes next to each other.
func line(axis Axis, nodes []*Node) *Node {
	if len(nodes) == 1 {
		return nodes[0]
	}
	return split(axis, ones(len(nodes)), nodes...)
}

// around puts the first pane beside or above all others.
func around(axis Axis, panes []*Node) *Node {
	across := Row
	if axis == Row {
		across = Column
	}
	return split(axis, []int{mainWeight, otherWeight}, panes[0], line(across, panes[1:]))
}

// tile makes rows of equal height. All but the last have the same number of panes.
func tile(panes []*Node) *Node {
	rows, columns := 1, 1
	for rows*columns < len(panes) {
		rows++
		if rows*columns < len(panes) {
			columns++
		}
	}
	var lines []*Node
	for len(panes) > 0 {
		n := min(columns, len(panes))
		lines = append(lines, line(Row, panes[:n:n]))
		panes = panes[n:]
	}
	return line(Column, lines)
}

// Apply arranges the active tab's panes, in their order, by a preset. For an unknown name nothing
// changes.
func (l Layout) Apply(p Preset) Layout {
	return l.inTab(func(t Tab) Tab { return t.apply(p) })
}

func (t Tab) apply(p Preset) Tab {
	row, ok := first(presets, func(row presetRow) bool { return row.name == p })
	if !ok || t.Root.leaf() {
		return t
	}
	t.Root, t.Preset = row.build(t.Root.leaves(nil)), p
	return t.unzoomed()
}

// NextPreset applies the next preset after the tab's that fits the area. If none fits, nothing
// changes.
func (l Layout) NextPreset(area Rect) Layout {
	return l.inTab(func(t Tab) Tab {
		turns := presets[:len(presets)-1]
		last := slices.IndexFunc(turns, func(p presetRow) bool { return p.name == t.Preset })
		for i := range turns {
			next := t.apply(turns[wrap(last+1+i, len(turns))].name)
			if area.Empty() || next.Root.fits(area) {
				return next
			}
		}
		return t
	})
}

// Even gives the active tab's panes equal sizes, as far as their arrangement allows: the weight
// of a split's child is the number of its panes along the split.
func (l Layout) Even() Layout {
	return l.inTab(func(t Tab) Tab {
		t.Root = t.Root.even()
		return t.unzoomed()
	})
}

func (n *Node) even() *Node {
	if n.leaf() {
		return n
	}
	children := make([]*Node, len(n.Children))
	weights := make([]int, len(n.Children))
	for i, c := range n.Children {
		children[i] = c.even()
		weights[i] = c.span(n.Axis)
	}
	return n.with(children, weights)
}

// span returns the number of panes next to each other along an axis.
func (n *Node) span(axis Axis) int {
	if n.leaf() || n.Stack {
		return 1
	}
	sum, most := 0, 0
	for _, c := range n.Children {
		s := c.span(axis)
		sum += s
		most = max(most, s)
	}
	if n.Axis == axis {
		return sum
	}
	return most
}
