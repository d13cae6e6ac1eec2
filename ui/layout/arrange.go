package layout

import "cotty/ahp"

// Rect is a rectangle of cells.
type Rect struct{ X, Y, W, H int }

// Arrangement is where everything of a tab is drawn. Every cell of Area belongs
// to exactly one body, header or divider, unless there is no room at all.
type Arrangement struct {
	Area     Rect
	Panes    []Placed
	Dividers []Divider
	// TooSmall says that the panes don't fit: the focused one alone is shown, or
	// none when the area is under MinWidth x MinHeight.
	TooSmall bool
}

// Placed is a pane on the screen. The Header row lies on top of the Body; it is
// empty (H 0) where the tab shows one pane only.
type Placed struct {
	Pane     PaneID
	Terminal ahp.URI
	Name     string
	Header   Rect
	Body     Rect
	Focused  bool
	Edge     Edge // what dragging the header moves; zero at the top
}

// Divider is a column of cells between the children of a row.
type Divider struct {
	Rect
	Edge Edge
}

// Edge names a border between two neighbours in a split by the panes next to
// it, so that it survives changes elsewhere. The zero Edge is none.
type Edge struct {
	Axis          Axis // Row: moves left and right; Column: up and down
	Before, After PaneID
}

// Arrange lays the tab out.
func (t Tab) Arrange(area Rect) Arrangement { return Arrangement{} }

// Hit is what lies at a cell.
type Hit struct {
	Kind HitKind
	Pane PaneID // of a body or header
	Edge Edge   // of a divider, or of a header that can be dragged
}

// HitKind is what kind of thing lies at a cell.
type HitKind uint8

const (
	HitNothing HitKind = iota
	HitBody
	HitHeader
	HitDivider
)

// At says what lies at a cell.
func (a Arrangement) At(x, y int) Hit { return Hit{} }

// Pane gives a pane's place.
func (a Arrangement) Pane(id PaneID) (Placed, bool) { return Placed{}, false }
