package layout

import (
	"encoding/json"

	"cotty/ahp"
)

// PaneID names a pane within a layout: "p7".
type PaneID string

// Layout is a named set of tabs: the document of a layout channel.
type Layout struct {
	Name   string
	Tabs   []Tab
	Active int      // index into Tabs; 0 when there are none
	NextID int      // number of the next pane or tab
	Recent []string // tab ids, last active first, without the active one

	extra map[string]json.RawMessage
}

// Tab is a split tree with a focus.
type Tab struct {
	ID     string
	Name   string // given by the user; "" shows the focused pane's title
	Root   *Node  // never nil
	Focus  PaneID
	Recent []PaneID // last focused first, without Focus
	Zoom   bool     // only the focused pane is shown
	Preset Preset   // last one applied

	extra map[string]json.RawMessage
}

// Axis is how a split lays out its children.
type Axis string

const (
	Row    Axis = "row"    // side by side
	Column Axis = "column" // one above the other
)

// Node is a leaf (Pane set) or a split (Children set, two or more).
type Node struct {
	Pane     PaneID
	Terminal ahp.URI
	Name     string // given by the user

	Axis     Axis
	Children []*Node
	Weights  []int // as many as Children, each at least 1

	extra map[string]json.RawMessage
}

// Direction on the screen.
type Direction uint8

const (
	Left Direction = iota
	Down
	Up
	Right
)

// Preset is the name of a ready-made arrangement of a tab's panes.
type Preset string

const (
	EvenHorizontal Preset = "even-horizontal"
	EvenVertical   Preset = "even-vertical"
	MainHorizontal Preset = "main-horizontal"
	MainVertical   Preset = "main-vertical"
	Tiled          Preset = "tiled"
)

// New gives a layout without tabs.
func New(name string) Layout { return Layout{Name: name, NextID: 1} }

// Decode reads a layout channel's document. Anything out of bounds or without
// meaning is an error; a focus that points nowhere is mended.
func Decode(doc []byte) (Layout, error) { return Layout{}, nil }

// Encode writes the document.
func (l Layout) Encode() []byte { return nil }

// Tab gives the active tab; ok is false when there are none.
func (l Layout) Tab() (Tab, bool) { return Tab{}, false }

// Find gives the index of the tab that holds the pane, and its leaf.
func (l Layout) Find(id PaneID) (tab int, leaf *Node, ok bool) { return 0, nil, false }

// Showing gives the first pane that shows the terminal.
func (l Layout) Showing(uri ahp.URI) (PaneID, bool) { return "", false }

// Terminals gives the terminals shown, each once, in order.
func (l Layout) Terminals() []ahp.URI { return nil }

// Panes gives the leaves in order.
func (t Tab) Panes() []*Node { return nil }
