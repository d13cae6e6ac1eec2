package layout

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Version is the document's version. A document of a later one is refused, since
// writing it back could break what it means; members added within a version are
// kept.
const Version = 1

// object is a JSON object being written; its members come out sorted.
type object map[string]any

// over starts an object with the members that this version doesn't know.
func over(extra map[string]json.RawMessage) object {
	o := make(object, len(extra)+8)
	for name, raw := range extra {
		o[name] = raw
	}
	return o
}

// put adds a member unless it has its zero value.
func put[T comparable](o object, name string, v T) {
	var zero T
	if v != zero {
		o[name] = v
	}
}

// Encode writes the document. It may be larger than MaxBytes when it
// is full of long names; the host refuses it then.
func (l Layout) Encode() []byte {
	o := over(l.extra)
	o["version"] = Version
	put(o, "name", l.Name)
	put(o, "active", l.Active)
	o["nextId"] = l.NextID
	if len(l.Recent) > 0 {
		o["recent"] = l.Recent
	}
	tabs := make([]object, len(l.Tabs))
	for i, t := range l.Tabs {
		tabs[i] = t.encode()
	}
	o["tabs"] = tabs
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(o); err != nil {
		panic("layout: encode: " + err.Error()) // Strings, numbers and valid raw JSON always encode.
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// MarshalJSON makes a Layout usable as a member of another document.
func (l Layout) MarshalJSON() ([]byte, error) { return l.Encode(), nil }

func (t Tab) encode() object {
	o := over(t.extra)
	o["id"] = t.ID
	put(o, "name", t.Name)
	o["root"] = t.Root.encode()
	o["focus"] = t.Focus
	if len(t.Recent) > 0 {
		o["recent"] = t.Recent
	}
	if len(t.Floats) > 0 {
		floats := make([]object, len(t.Floats))
		for i, f := range t.Floats {
			floats[i] = f.Leaf.encode()
			floats[i]["place"] = [4]int{f.X, f.Y, f.W, f.H}
		}
		o["floats"] = floats
	}
	put(o, "hidden", t.Hidden)
	put(o, "zoom", t.Zoom)
	put(o, "preset", t.Preset)
	return o
}

func (n *Node) encode() object {
	o := over(n.extra)
	if n.leaf() {
		o["pane"] = n.Pane
		o["terminal"] = n.Terminal
		put(o, "name", n.Name)
		if len(n.Folds) > 0 {
			o["folds"] = n.Folds
		}
		return o
	}
	children := make([]object, len(n.Children))
	for i, c := range n.Children {
		children[i] = c.encode()
	}
	o["axis"] = n.Axis
	o["children"] = children
	o["weights"] = n.Weights
	return o
}

// Equal says whether two layouts are the same document.
func (l Layout) Equal(o Layout) bool { return bytes.Equal(l.Encode(), o.Encode()) }

// clone keeps an empty map nil, so that documents compare equal.
func clone(extra map[string]json.RawMessage) map[string]json.RawMessage {
	if len(extra) == 0 {
		return nil
	}
	return maps.Clone(extra)
}
