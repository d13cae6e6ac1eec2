package layout

import "slices"

// Arrangement says where the parts of a tab are drawn. Every cell of Area belongs to exactly one
// body, header or divider of the tiled panes, unless no pane is shown. Floats are above them.
type Arrangement struct {
	Area     Rect
	Panes    []Placed // the visible panes in order; floats last, the lowest first
	Bars     []Placed // the panes of stacks that are not open: headers without a body
	Dividers []Divider
	// TooSmall says that the panes don't fit, so only the focused one is shown, or none if the
	// area is smaller than MinWidth x MinHeight.
	TooSmall bool
}

// Placed is a pane on the screen. The Header row is directly above the Body; it is empty (H 0) if
// the pane is alone on the screen.
type Placed struct {
	Pane     PaneID
	Terminal URI
	Name     string
	Header   Rect
	Body     Rect
	Focused  bool
	Frame    Rect // a float's rectangle with its border; empty for a tiled pane
	Stack    Rect // the rectangle of the pane's whole stack; empty if it is in none
	Edge     Edge // the edge that dragging the header moves; zero if nothing is above
}

// Rect returns the rectangle of the header and body, and of a float's border.
func (p Placed) Rect() Rect {
	if p.Floating() {
		return p.Frame
	}
	return Rect{p.Body.X, p.Body.Y - p.Header.H, p.Body.W, p.Body.H + p.Header.H}
}

// whole returns the rectangle of the pane's stack, or Rect if it is in none.
func (p Placed) whole() Rect {
	if p.Stack.Empty() {
		return p.Rect()
	}
	return p.Stack
}

// Divider is the column of cells between two children of a row.
type Divider struct {
	Rect
	Edge Edge
}

// Edge is the border between two neighbours in a split. It is named by a pane on each side, so it
// stays valid when something else changes while it is dragged. The zero Edge is none.
type Edge struct {
	Axis          Axis // Row: it moves left and right; Column: up and down
	Before, After PaneID
}

func (t Tab) Arrange(area Rect) Arrangement {
	a := Arrangement{Area: area}
	floats := t.Floats
	if t.Hidden {
		floats = nil
	}
	alone, single := t.Zoom, t.Root.leaf()
	least := area.W >= minFrameW && area.H >= minFrameH
	if !alone && (!single && !t.Root.fits(area) || len(floats) > 0 && !least) {
		a.TooSmall, alone = true, true
	}
	if !alone && (!single || len(floats) > 0) {
		if single {
			a.Panes = []Placed{{Pane: t.Root.Pane, Terminal: t.Root.Terminal, Name: t.Root.Name, Body: area}}
		} else {
			a.place(t, t.Root, area, Edge{})
		}
		for _, f := range floats {
			a.float(f)
		}
	} else if area.W < MinWidth || area.H < MinHeight {
		a.TooSmall = true
	} else {
		leaf := t.Focused()
		a.Panes = []Placed{{Pane: leaf.Pane, Terminal: leaf.Terminal, Name: leaf.Name, Body: area}}
	}
	for i := range a.Panes {
		a.Panes[i].Focused = a.Panes[i].Pane == t.Focus
	}
	return a
}

// place lays out a tree of several panes. above is the edge at its top.
func (a *Arrangement) place(t Tab, n *Node, r Rect, above Edge) {
	if n.Stack {
		a.stack(n, t.Open(n), r, above)
		return
	}
	if n.leaf() {
		a.Panes = append(a.Panes, Placed{
			Pane: n.Pane, Terminal: n.Terminal, Name: n.Name, Edge: above,
			Header: Rect{r.X, r.Y, r.W, 1},
			Body:   Rect{r.X, r.Y + 1, r.W, r.H - 1},
		})
		return
	}
	for i, rect := range n.rects(r) {
		edge := Edge{Axis: n.Axis, After: n.Children[i].first()}
		if i > 0 {
			edge.Before = n.Children[i-1].first()
		}
		if n.Axis == Column {
			if i == 0 {
				edge = above
			}
			a.place(t, n.Children[i], rect, edge)
			continue
		}
		if i > 0 {
			a.Dividers = append(a.Dividers, Divider{Rect{rect.X - 1, r.Y, 1, r.H}, edge})
		}
		a.place(t, n.Children[i], rect, above)
	}
}

// Hit is what is at a cell.
type Hit struct {
	Kind HitKind
	Pane PaneID // of a body or header
	Edge Edge   // of a divider, or of a header that can be dragged
}

// HitKind is the kind of what is at a cell.
type HitKind uint8

// The kinds.
const (
	HitNothing HitKind = iota
	HitBody
	HitHeader
	HitDivider
	HitFrame // a float's border except for the header
)

// At returns what is at a cell.
func (a Arrangement) At(x, y int) Hit {
	for i := len(a.Panes) - 1; i >= 0; i-- {
		p := a.Panes[i]
		if p.Body.Contains(x, y) {
			return Hit{Kind: HitBody, Pane: p.Pane}
		}
		if p.Header.Contains(x, y) {
			return Hit{Kind: HitHeader, Pane: p.Pane, Edge: p.Edge}
		}
		if p.Frame.Contains(x, y) {
			return Hit{Kind: HitFrame, Pane: p.Pane}
		}
	}
	if p, ok := first(a.Bars, func(p Placed) bool { return p.Header.Contains(x, y) }); ok {
		return Hit{Kind: HitHeader, Pane: p.Pane, Edge: p.Edge}
	}
	if d, ok := first(a.Dividers, func(d Divider) bool { return d.Contains(x, y) }); ok {
		return Hit{Kind: HitDivider, Edge: d.Edge}
	}
	return Hit{}
}

// Pane returns a pane's place. ok is false if it has no body on the screen.
func (a Arrangement) Pane(id PaneID) (Placed, bool) {
	return first(a.Panes, func(p Placed) bool { return p.Pane == id })
}

func first[T any](list []T, is func(T) bool) (e T, ok bool) {
	i := slices.IndexFunc(list, is)
	if i < 0 {
		return e, false
	}
	return list[i], true
}

// Spot is Pane, but also finds panes of a stack that are not open.
func (a Arrangement) Spot(id PaneID) (Placed, bool) {
	return first(slices.Concat(a.Bars, a.Panes), func(p Placed) bool { return p.Pane == id })
}

// Focused returns the focused pane's place. ok is false if no pane is shown.
func (a Arrangement) Focused() (Placed, bool) {
	return first(a.Panes, func(p Placed) bool { return p.Focused })
}

// Seen returns an area in which the tab's panes have the sizes of their terminals: that of the
// screen that shows the tab, if one does. If sizes don't fit together, the area has room for the
// larger ones. size returns zeros if a terminal has no size; if all are zero the area is empty.
func (t Tab) Seen(size func(URI) (cols, rows int)) Rect {
	if t.Zoom {
		w, h := size(t.Focused().Terminal)
		return Rect{W: w, H: h}
	}
	w, h := t.seen(t.Root, size)
	if h > 0 && t.Root.leaf() {
		h-- // a single pane has no header
	}
	return Rect{W: w, H: h}
}

func (t Tab) seen(n *Node, size func(URI) (cols, rows int)) (w, h int) {
	if n.Stack {
		w, h = t.seen(t.Open(n), size)
		return w, h + len(n.Children) - 1
	}
	if n.leaf() {
		if w, h = size(n.Terminal); w <= 0 || h <= 0 {
			return 0, 0
		}
		return w, h + 1
	}
	for i, c := range n.Children {
		cw, ch := t.seen(c, size)
		if n.Axis == Row {
			w, h = w+cw, max(h, ch)
			if i > 0 {
				w++
			}
			continue
		}
		w, h = max(w, cw), h+ch
	}
	return w, h
}
