package layout

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of a layout.
const (
	MaxTabs   = 64
	MaxPanes  = 256     // per tab
	MaxTotal  = 1024    // in a layout
	MaxDepth  = 32      // levels of a tree, leaves included
	MaxWeight = 1 << 20 // of a split's child
	MaxName   = 128     // bytes
	MaxFolds  = 64      // of a pane
)

// URI is a terminal's URI, ahp.URI. This package only compares it.
type URI = string

// MaxBytes is the largest document: ahp.MaxLayoutBytes.
const MaxBytes = 256 << 10

// PaneID is the id of a pane within a layout, such as "p7". No operation changes it.
type PaneID string

// Layout is a named set of tabs: the document of a layout channel.
type Layout struct {
	Name   string   `json:"name,omitempty"`
	Active int      `json:"active,omitzero"`  // index into Tabs; 0 if there are none
	NextID int      `json:"nextId,omitzero"`  // where the search for the next free id starts
	Recent []string `json:"recent,omitempty"` // ids of the other tabs, the last active first
	Tabs   []Tab    `json:"tabs"`
	// Renamed is the new name of a layout without tabs: interfaces that show it go there.
	Renamed string `json:"renamed,omitempty"`

	Unknown jsontext.Value `json:",embed"` // members that this version doesn't know
}

// Tab is a split tree with a focus.
type Tab struct {
	ID     string   `json:"id"`
	Name   string   `json:"name,omitempty"`   // given by the user; if it is "" the focused pane's title is shown
	Root   *Node    `json:"root"`             // the tiled panes; never nil
	Floats []Float  `json:"floats,omitempty"` // the topmost last
	Hidden bool     `json:"hidden,omitzero"`  // the floats are hidden; false if one has the focus
	Focus  PaneID   `json:"focus,omitempty"`
	Recent []PaneID `json:"recent,omitempty"` // the other panes that had the focus, the last first
	Zoom   bool     `json:"zoom,omitzero"`    // only the focused pane is shown; false if there is one pane
	Preset Preset   `json:"preset,omitempty"` // the last one applied, "" for none

	Unknown jsontext.Value `json:",embed"`
}

// Axis is how a split lays out its children.
type Axis string

// The axes.
const (
	Row    Axis = "row"    // side by side, from the left
	Column Axis = "column" // one above the other, from the top
)

// Node is a leaf (Pane is set) or a split (Children is set).
type Node struct {
	Pane     PaneID `json:"pane,omitempty"`
	Terminal URI    `json:"terminal,omitempty"`
	Name     string `json:"name,omitempty"` // given by the user; if it is "" the terminal's title is shown
	// Folds is the ids of the commands whose output the pane hides, at most MaxFolds.
	Folds []string `json:"folds,omitempty"`

	Axis     Axis    `json:"axis,omitempty"`
	Children []*Node `json:"children,omitempty"`
	Weights  []int   `json:"weights,omitempty"`
	// Stack says that only one pane of a column is open, and of the others the headers show.
	Stack bool `json:"stack,omitzero"`

	Unknown jsontext.Value `json:",embed"`
}

// Direction is a direction on the screen.
type Direction uint8

// The directions.
const (
	Left Direction = iota
	Down
	Up
	Right
)

// axis returns the axis of the direction.
func (d Direction) axis() Axis {
	if d == Left || d == Right {
		return Row
	}
	return Column
}

// back reports whether the direction points to smaller coordinates.
func (d Direction) back() bool { return d == Left || d == Up }

// New returns a layout without tabs.
func New(name string) Layout { return Layout{Name: clean(name), NextID: 1} }

// Tab returns the active tab. ok is false if there are no tabs.
func (l Layout) Tab() (Tab, bool) {
	if len(l.Tabs) == 0 {
		return Tab{}, false
	}
	return l.Tabs[l.Active], true
}

// Find returns the index of the tab that has the pane, and the pane's leaf.
func (l Layout) Find(id PaneID) (tab int, leaf *Node, ok bool) {
	for i, t := range l.Tabs {
		if leaf := t.find(id); leaf != nil {
			return i, leaf, true
		}
	}
	return 0, nil, false
}

// Showing returns the first pane that shows the terminal. It searches the active tab first.
func (l Layout) Showing(uri URI) (PaneID, bool) {
	if len(l.Tabs) == 0 {
		return "", false
	}
	order := append([]Tab{l.Tabs[l.Active]}, l.Tabs...)
	for _, t := range order {
		for _, leaf := range t.Panes() {
			if leaf.Terminal == uri {
				return leaf.Pane, true
			}
		}
	}
	return "", false
}

// Terminals returns the terminals in the layout, each once, in the order of the tabs and panes.
// It is never nil, as the layout channel needs an array.
func (l Layout) Terminals() []URI {
	uris := []URI{}
	seen := make(map[URI]bool)
	for _, t := range l.Tabs {
		for _, leaf := range t.Panes() {
			if !seen[leaf.Terminal] {
				seen[leaf.Terminal] = true
				uris = append(uris, leaf.Terminal)
			}
		}
	}
	return uris
}

// Panes returns the leaves in order: left to right, top to bottom, then the floats from the
// lowest.
func (t Tab) Panes() []*Node {
	leaves := t.Root.leaves(nil)
	for _, f := range t.Floats {
		leaves = append(leaves, f.Leaf)
	}
	return leaves
}

// Focused returns the leaf with the focus.
func (t Tab) Focused() *Node { return t.find(t.Focus) }

// total counts the panes of all tabs.
func (l Layout) total() int {
	n := 0
	for _, t := range l.Tabs {
		n += t.count()
	}
	return n
}

// inTab returns the layout with a changed active tab. Without tabs nothing changes.
func (l Layout) inTab(change func(Tab) Tab) Layout {
	if len(l.Tabs) == 0 {
		return l
	}
	return l.withTab(l.Active, change(l.Tabs[l.Active]))
}

func (l Layout) withTab(i int, t Tab) Layout {
	l.Tabs = slices.Clone(l.Tabs)
	l.Tabs[i] = t
	return l
}

// mint returns an unused id, and the layout with the next NextID.
func (l Layout) mint(kind string) (Layout, string) {
	for n := max(l.NextID, 1); ; n++ {
		id := kind + strconv.Itoa(n)
		_, _, pane := l.Find(PaneID(id))
		if !pane && !slices.ContainsFunc(l.Tabs, func(t Tab) bool { return t.ID == id }) {
			l.NextID = n + 1
			return l, id
		}
	}
}

// clean returns a name that can be drawn: without control or format characters and surrounding
// blanks, at most MaxName bytes.
func clean(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			return -1
		}
		return r
	}, name)
	name = strings.TrimSpace(name)
	if len(name) > MaxName {
		cut := MaxName
		for !utf8.RuneStart(name[cut]) {
			cut--
		}
		name = strings.TrimSpace(name[:cut])
	}
	return name
}
