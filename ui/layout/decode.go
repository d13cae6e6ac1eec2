package layout

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The longest terminal URI, and pane or tab id, in bytes.
const (
	maxURI = 2048
	maxID  = 64
	maxInt = 1 << 53 // JSON readers may lose precision beyond it
)

// Decode parses a layout channel's document, which another client wrote and nobody has checked.
// What is out of bounds or contradictory is an error that says where. Values that only say how
// the layout was viewed (focus, recency, zoom, the active tab) are corrected instead.
func Decode(doc []byte) (Layout, error) {
	if len(doc) > MaxBytes {
		return Layout{}, fmt.Errorf("layout: the document has %d bytes, at most %d are read", len(doc), MaxBytes)
	}
	l, err := parse(doc)
	if err == nil {
		err = (&checking{panes: map[PaneID]bool{}, tabs: map[string]bool{}}).layout(&l)
	}
	if err != nil {
		return Layout{}, fmt.Errorf("layout: %w", err)
	}
	return l.mended(), nil
}

// checking checks a document; it has the ids seen so far.
type checking struct {
	panes map[PaneID]bool
	tabs  map[string]bool
}

func (d *checking) layout(l *Layout) error {
	if len(l.Tabs) > MaxTabs {
		return fmt.Errorf("%d tabs, at most %d are allowed", len(l.Tabs), MaxTabs)
	}
	for i := range l.Tabs {
		if err := d.tab(&l.Tabs[i]); err != nil {
			return fmt.Errorf("tab %d: %w", i+1, err)
		}
	}
	if len(d.panes) > MaxTotal {
		return fmt.Errorf("%d panes, at most %d are allowed", len(d.panes), MaxTotal)
	}
	return nil
}

// mended corrects the values that only say how the layout was viewed.
func (l Layout) mended() Layout {
	l.Name, l.Renamed = clean(l.Name), clean(l.Renamed)
	if len(l.Tabs) > 0 {
		l.Renamed = ""
	}
	if l.Active < 0 || l.Active >= len(l.Tabs) {
		l.Active = 0
	}
	if l.NextID < 1 || l.NextID > maxInt {
		l.NextID = 1
	}
	l.Recent = known(l.Recent, func(id string) bool {
		i := l.tabIndex(id)
		return i >= 0 && i != l.Active
	})
	return l
}

// known returns the elements for which is returns true, each once, in order; nil if there are
// none.
func known[T comparable](list []T, is func(T) bool) []T {
	var out []T
	seen := make(map[T]bool, len(list))
	for _, e := range list {
		if !seen[e] && is(e) {
			out = append(out, e)
		}
		seen[e] = true
	}
	return out
}

func (d *checking) tab(t *Tab) (err error) {
	if err := checkID(t.ID); err != nil {
		return err
	}
	if d.tabs[t.ID] {
		return fmt.Errorf("id %q is used twice", t.ID)
	}
	d.tabs[t.ID] = true
	before := len(d.panes)
	if t.Root, err = d.node(t.Root, 1); err != nil {
		return err
	}
	for i := range t.Floats {
		if err := d.float(&t.Floats[i]); err != nil {
			return fmt.Errorf("float %d: %w", i+1, err)
		}
	}
	if n := len(d.panes) - before; n > MaxPanes {
		return fmt.Errorf("%d panes, at most %d are allowed", n, MaxPanes)
	}
	*t = t.mended()
	return nil
}

// mended corrects the values that only say how the tab was viewed.
func (t Tab) mended() Tab {
	t.Name = clean(t.Name)
	if t.Focused() == nil {
		t.Focus = t.Root.first()
	}
	t.Recent = known(t.Recent, func(id PaneID) bool { return id != t.Focus && t.find(id) != nil })
	t = t.sound()
	if !slices.ContainsFunc(presets, func(p presetRow) bool { return p.name == t.Preset }) {
		t.Preset = ""
	}
	return t
}

// sound clears Zoom and Hidden where they aren't allowed.
func (t Tab) sound() Tab {
	t.Zoom = t.Zoom && t.count() > 1
	t.Hidden = t.Hidden && len(t.Floats) > 0 && !t.Floating(t.Focus)
	return t
}

// float checks a float.
func (d *checking) float(f *Float) error {
	if f.Leaf == nil || !f.Leaf.leaf() {
		return errors.New("it is no pane")
	}
	for _, p := range []int{f.X, f.Y, f.W, f.H} {
		if p < 0 || p > Whole {
			return fmt.Errorf("its place has %d, which is not within 0 and %d", p, Whole)
		}
	}
	return d.leaf(f.Leaf)
}

// node checks a tree. It merges a split into a parent of the same axis.
func (d *checking) node(n *Node, depth int) (*Node, error) {
	switch {
	case depth > MaxDepth:
		return nil, fmt.Errorf("more than %d levels of splits", MaxDepth-1)
	case n == nil:
		return nil, errors.New("a pane is missing")
	case n.leaf():
		return n, d.leaf(n)
	}
	return d.split(n, depth)
}

func (d *checking) leaf(n *Node) error {
	if err := checkID(string(n.Pane)); err != nil {
		return err
	}
	if d.panes[n.Pane] {
		return fmt.Errorf("pane %q occurs twice", n.Pane)
	}
	d.panes[n.Pane] = true
	if n.Axis != "" || len(n.Weights) > 0 || n.Stack {
		return fmt.Errorf("pane %q has members of a split", n.Pane)
	}
	n.Weights = nil
	if n.Terminal == "" || len(n.Terminal) > maxURI || strings.ContainsFunc(n.Terminal, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("pane %q: terminal is missing or no address", n.Pane)
	}
	n.Name = clean(n.Name)
	n.Folds = foldable(n.Folds)
	return nil
}

// foldable returns the valid ids of a list of commands, sorted, at most MaxFolds; nil for none.
func foldable(folds []string) []string {
	folds = slices.DeleteFunc(slices.Clone(folds), func(id string) bool { return checkID(id) != nil })
	slices.Sort(folds)
	folds = slices.Compact(folds)
	if folds = folds[:min(len(folds), MaxFolds)]; len(folds) == 0 {
		return nil
	}
	return folds
}

func (d *checking) split(n *Node, depth int) (*Node, error) {
	switch {
	case n.Pane != "" || n.Terminal != "" || n.Name != "" || len(n.Folds) > 0:
		return nil, errors.New("a split has members of a pane")
	case n.Axis != Row && n.Axis != Column:
		return nil, fmt.Errorf("axis is %q instead of %q or %q", n.Axis, Row, Column)
	case len(n.Children) < 2:
		return nil, errors.New("a split has one child only")
	case len(n.Children) > MaxPanes:
		return nil, fmt.Errorf("%d panes in a split, at most %d are allowed", len(n.Children), MaxPanes)
	case n.Weights == nil:
		n.Weights = ones(len(n.Children))
	case len(n.Weights) != len(n.Children):
		return nil, fmt.Errorf("%d weights for %d children", len(n.Weights), len(n.Children))
	}
	for _, w := range n.Weights {
		if w < 1 || w > MaxWeight {
			return nil, fmt.Errorf("weight %d is not within 1 and %d", w, MaxWeight)
		}
	}
	kids := make([]*Node, len(n.Children))
	for i, child := range n.Children {
		kid, err := d.node(child, depth+1)
		if err != nil {
			return nil, err
		}
		kids[i] = kid
	}
	whole := n.with(kids, n.Weights)
	// A tandemux that doesn't know stacks may have changed one into something else.
	whole.Stack = n.Stack && n.Axis == Column && !slices.ContainsFunc(kids, func(k *Node) bool { return !k.leaf() })
	for i := len(kids) - 1; i >= 0; i-- {
		whole = whole.put(space{}, i, kids[i])
	}
	return whole, nil
}

// checkID returns what is wrong with a pane's or tab's id.
func checkID(id string) error {
	if id == "" {
		return errors.New("an id is missing")
	}
	if len(id) > maxID || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return fmt.Errorf("id %.70q is too long or has characters other than ASCII", id)
	}
	return nil
}
