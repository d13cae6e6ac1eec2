package layout

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// Version is the document's version. A document of a later one is refused, since
// writing it back could break what it means; members added within a version are
// kept.
const Version = 1

// members are what is known of a JSON object, by name: where each is read into and
// written from.
type members map[string]any

func (l *Layout) members(version *int, tabs *[]json.RawMessage) members {
	return members{"version": version, "name": &l.Name, "active": &l.Active, "nextId": &l.NextID, "recent": &l.Recent, "tabs": tabs}
}

func (t *Tab) members(root *json.RawMessage, floats *[]json.RawMessage) members {
	return members{
		"id": &t.ID, "name": &t.Name, "root": root, "focus": &t.Focus, "recent": &t.Recent,
		"zoom": &t.Zoom, "preset": &t.Preset, "floats": floats, "hidden": &t.Hidden,
	}
}

func (n *Node) members(children *[]json.RawMessage) members {
	return members{
		"pane": &n.Pane, "terminal": &n.Terminal, "name": &n.Name, "folds": &n.Folds,
		"axis": &n.Axis, "children": children, "weights": &n.Weights,
	}
}

// write writes an object: what has not its zero value, and what this version doesn't
// know. The members come out sorted.
func (m members) write(extra map[string]json.RawMessage) json.RawMessage {
	o := make(map[string]any, len(m)+len(extra))
	for name, raw := range extra {
		o[name] = raw
	}
	for name, v := range m {
		if v := reflect.ValueOf(v).Elem(); !v.IsZero() {
			o[name] = v.Interface()
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(o); err != nil {
		panic("layout: encode: " + err.Error()) // Strings, numbers and valid raw JSON always encode.
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// Encode writes the document. It may be larger than MaxBytes when it
// is full of long names; the host refuses it then.
func (l Layout) Encode() []byte {
	version, tabs := Version, make([]json.RawMessage, len(l.Tabs))
	for i, t := range l.Tabs {
		tabs[i] = t.encode()
	}
	l.Recent = listed(l.Recent)
	return l.members(&version, &tabs).write(l.extra)
}

// MarshalJSON makes a Layout usable as a member of another document.
func (l Layout) MarshalJSON() ([]byte, error) { return l.Encode(), nil }

func (t Tab) encode() json.RawMessage {
	var floats []json.RawMessage
	for _, f := range t.Floats {
		m := f.Leaf.members(new([]json.RawMessage))
		m["place"] = &[]int{f.X, f.Y, f.W, f.H}
		floats = append(floats, m.write(f.Leaf.extra))
	}
	root := t.Root.encode()
	t.Recent = listed(t.Recent)
	return t.members(&root, &floats).write(t.extra)
}

func (n *Node) encode() json.RawMessage {
	var children []json.RawMessage
	for _, c := range n.Children {
		children = append(children, c.encode())
	}
	return n.members(&children).write(n.extra)
}

// listed keeps an empty list nil, as it is left out.
func listed[T any](list []T) []T { return append([]T(nil), list...) }

// Equal says whether two layouts are the same document.
func (l Layout) Equal(o Layout) bool { return bytes.Equal(l.Encode(), o.Encode()) }
