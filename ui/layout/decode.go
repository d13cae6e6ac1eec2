package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxURI and maxID bound a terminal's address and a pane's or tab's id in bytes.
const (
	maxURI = 2048
	maxID  = 64
	maxInt = 1 << 53 // beyond it JSON numbers lose precision elsewhere
)

// Decode reads a layout channel's document, which another client wrote and
// nobody has looked into since. What is out of bounds or makes no sense is an
// error that says where; what only says how the layout was looked at (focus,
// recency, zoom, the active tab) is mended.
func Decode(doc []byte) (Layout, error) {
	if len(doc) > MaxBytes {
		return Layout{}, fmt.Errorf("layout: the document has %d bytes, at most %d are read", len(doc), MaxBytes)
	}
	if !utf8.Valid(doc) {
		return Layout{}, errors.New("layout: the document is not UTF-8")
	}
	d := decoding{panes: make(map[PaneID]bool), tabs: make(map[string]bool)}
	l, err := d.layout(doc)
	if err != nil {
		return Layout{}, fmt.Errorf("layout: %w", err)
	}
	return l, nil
}

// UnmarshalJSON is Decode.
func (l *Layout) UnmarshalJSON(doc []byte) error {
	decoded, err := Decode(doc)
	if err != nil {
		return err
	}
	*l = decoded
	return nil
}

// decoding collects the ids seen in a document.
type decoding struct {
	panes map[PaneID]bool
	tabs  map[string]bool
}

// read reads an object and gives the members that this version doesn't know, nil for
// none, so that documents compare equal.
func (m members) read(raw json.RawMessage) (extra map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(raw, &extra); err != nil {
		return nil, errors.New("not a JSON object")
	}
	if extra == nil {
		return nil, errors.New("null instead of an object")
	}
	for name, v := range m {
		if raw, ok := extra[name]; ok {
			delete(extra, name)
			if err := json.Unmarshal(raw, v); err != nil {
				return nil, fmt.Errorf("%s has the wrong type", name)
			}
		}
	}
	if len(extra) == 0 {
		extra = nil
	}
	return extra, nil
}

func (d *decoding) layout(doc []byte) (Layout, error) {
	var l Layout
	var version int
	var tabs []json.RawMessage
	var err error
	l.extra, err = l.members(&version, &tabs).read(doc)
	switch {
	case err != nil:
		return Layout{}, err
	case version > Version:
		return Layout{}, fmt.Errorf("version %d was written by a newer tandemux; this one reads %d", version, Version)
	case version != Version:
		return Layout{}, errors.New("version is missing or wrong")
	case len(tabs) > MaxTabs:
		return Layout{}, fmt.Errorf("%d tabs, at most %d are allowed", len(tabs), MaxTabs)
	}
	for i, raw := range tabs {
		t, err := d.tab(raw)
		if err != nil {
			return Layout{}, fmt.Errorf("tab %d: %w", i+1, err)
		}
		l.Tabs = append(l.Tabs, t)
	}
	if len(d.panes) > MaxTotal {
		return Layout{}, fmt.Errorf("%d panes, at most %d are allowed", len(d.panes), MaxTotal)
	}
	return l.mended(), nil
}

// mended puts right what only says how the layout was looked at.
func (l Layout) mended() Layout {
	l.Name = clean(l.Name)
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

// known gives the elements that are, each once, in order; nil for none.
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

func (d *decoding) tab(raw json.RawMessage) (Tab, error) {
	var t Tab
	var root json.RawMessage
	var floats []json.RawMessage
	var err error
	if t.extra, err = t.members(&root, &floats).read(raw); err != nil {
		return Tab{}, err
	}
	if err := checkID(t.ID); err != nil {
		return Tab{}, err
	}
	if d.tabs[t.ID] {
		return Tab{}, fmt.Errorf("id %q is used twice", t.ID)
	}
	d.tabs[t.ID] = true
	before := len(d.panes)
	if t.Root, err = d.node(root, 1); err != nil {
		return Tab{}, err
	}
	for i, raw := range floats {
		f, err := d.float(raw)
		if err != nil {
			return Tab{}, fmt.Errorf("float %d: %w", i+1, err)
		}
		t.Floats = append(t.Floats, f)
	}
	if n := len(d.panes) - before; n > MaxPanes {
		return Tab{}, fmt.Errorf("%d panes, at most %d are allowed", n, MaxPanes)
	}
	return t.mended(), nil
}

// mended puts right what only says how the tab was looked at.
func (t Tab) mended() Tab {
	t.Name = clean(t.Name)
	if t.Focused() == nil {
		t.Focus = t.Root.first()
	}
	t.Recent = known(t.Recent, func(id PaneID) bool { return id != t.Focus && t.find(id) != nil })
	t.Zoom = t.Zoom && t.count() > 1
	t.Hidden = t.Hidden && len(t.Floats) > 0 && !t.Floating(t.Focus)
	if !slices.ContainsFunc(presets, func(p presetRow) bool { return p.name == t.Preset }) {
		t.Preset = ""
	}
	return t
}

// float reads a pane above the tiled ones: a leaf with its place.
func (d *decoding) float(raw json.RawMessage) (Float, error) {
	var place []int
	var children []json.RawMessage
	n := &Node{}
	m := n.members(&children)
	m["place"] = &place
	var err error
	if n.extra, err = m.read(raw); err != nil {
		return Float{}, err
	}
	if children != nil || n.Axis != "" || n.Weights != nil {
		return Float{}, errors.New("a split can't float")
	}
	if len(place) != 4 || slices.ContainsFunc(place, func(p int) bool { return p < 0 || p > Whole }) {
		return Float{}, fmt.Errorf("its place is not four numbers from 0 to %d", Whole)
	}
	return Float{Leaf: n, X: place[0], Y: place[1], W: place[2], H: place[3]}, d.leaf(n)
}

// node reads a tree. A split inside one of the same axis becomes part of it.
func (d *decoding) node(raw json.RawMessage, depth int) (*Node, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("more than %d levels of splits", MaxDepth-1)
	}
	if len(raw) == 0 {
		return nil, errors.New("a pane is missing")
	}
	n := &Node{}
	var children []json.RawMessage
	var err error
	if n.extra, err = n.members(&children).read(raw); err != nil {
		return nil, err
	}
	if len(children) == 0 {
		return n, d.leaf(n)
	}
	return d.split(n, children, depth)
}

func (d *decoding) leaf(n *Node) error {
	if err := checkID(string(n.Pane)); err != nil {
		return err
	}
	if d.panes[n.Pane] {
		return fmt.Errorf("pane %q occurs twice", n.Pane)
	}
	d.panes[n.Pane] = true
	if n.Axis != "" || len(n.Weights) > 0 {
		return fmt.Errorf("pane %q has members of a split", n.Pane)
	}
	n.Weights = nil
	if n.Terminal == "" || len(n.Terminal) > maxURI || strings.ContainsFunc(n.Terminal, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("pane %q: terminal is missing or no address", n.Pane)
	}
	n.Name = clean(n.Name)
	n.Folds = sound(n.Folds)
	return nil
}

// sound gives what can be folded of a list of commands.
func sound(folds []string) []string {
	folds = slices.DeleteFunc(slices.Clone(folds), func(id string) bool { return checkID(id) != nil })
	slices.Sort(folds)
	folds = slices.Compact(folds)
	if folds = folds[:min(len(folds), MaxFolds)]; len(folds) == 0 {
		return nil
	}
	return folds
}

func (d *decoding) split(n *Node, children []json.RawMessage, depth int) (*Node, error) {
	switch {
	case n.Pane != "" || n.Terminal != "" || n.Name != "" || len(n.Folds) > 0:
		return nil, errors.New("a split has members of a pane")
	case n.Axis != Row && n.Axis != Column:
		return nil, fmt.Errorf("axis is %q instead of %q or %q", n.Axis, Row, Column)
	case len(children) < 2:
		return nil, errors.New("a split has one child only")
	case len(children) > MaxPanes:
		return nil, fmt.Errorf("%d panes in a split, at most %d are allowed", len(children), MaxPanes)
	case n.Weights == nil:
		n.Weights = ones(len(children))
	case len(n.Weights) != len(children):
		return nil, fmt.Errorf("%d weights for %d children", len(n.Weights), len(children))
	}
	for _, w := range n.Weights {
		if w < 1 || w > MaxWeight {
			return nil, fmt.Errorf("weight %d is not within 1 and %d", w, MaxWeight)
		}
	}
	kids := make([]*Node, len(children))
	for i, raw := range children {
		kid, err := d.node(raw, depth+1)
		if err != nil {
			return nil, err
		}
		kids[i] = kid
	}
	whole := n.with(kids, n.Weights)
	for i := len(kids) - 1; i >= 0; i-- {
		whole = whole.put(space{}, i, kids[i])
	}
	return whole, nil
}

// checkID says what is wrong with a pane's or tab's id.
func checkID(id string) error {
	if id == "" {
		return errors.New("an id is missing")
	}
	if len(id) > maxID || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return fmt.Errorf("id %.70q is too long or has characters other than ASCII", id)
	}
	return nil
}
