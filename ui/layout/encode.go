package layout

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

// Version is the document's version. A document of a later version is refused, since writing it
// back could change its meaning. Members added within a version are kept.
const Version = 1

// members is Layout without its methods.
type members Layout

// document is the state of a layout channel.
type document struct {
	Version int     `json:"version"`
	Layout  members `json:",embed"`
}

// placed is the JSON of a Float: a leaf with its place.
type placed struct {
	Leaf  Node  `json:",embed"`
	Place []int `json:"place"`
}

// Encode returns the document. It may be larger than MaxBytes if it has many long names; the host
// refuses it then.
func (l Layout) Encode() []byte {
	doc, err := json.Marshal(document{Version, members(l)})
	if err != nil {
		panic("layout: encode: " + err.Error()) // strings, numbers and unparsed JSON always encode
	}
	return doc
}

// MarshalJSON encodes the Layout as a member of another document.
func (l Layout) MarshalJSON() ([]byte, error) { return l.Encode(), nil }

// UnmarshalJSON is Decode.
func (l *Layout) UnmarshalJSON(doc []byte) (err error) {
	*l, err = Decode(doc)
	return err
}

// MarshalJSON writes a leaf with its place.
func (f Float) MarshalJSON() ([]byte, error) {
	return json.Marshal(placed{*f.Leaf, []int{f.X, f.Y, f.W, f.H}})
}

// UnmarshalJSON parses what MarshalJSON writes.
func (f *Float) UnmarshalJSON(doc []byte) error {
	var m placed
	if err := json.Unmarshal(doc, &m); err != nil {
		return err
	}
	if len(m.Place) != 4 {
		return errors.New("its place is not four numbers")
	}
	*f = Float{Leaf: &m.Leaf, X: m.Place[0], Y: m.Place[1], W: m.Place[2], H: m.Place[3]}
	return nil
}

// Equal reports whether two layouts are the same document.
func (l Layout) Equal(o Layout) bool { return bytes.Equal(l.Encode(), o.Encode()) }

// parse parses a document of this version.
func parse(doc []byte) (Layout, error) {
	var version struct {
		Version int `json:"version"`
	}
	var d document
	switch err := json.Unmarshal(doc, &version); {
	case err != nil:
		return Layout{}, err
	case version.Version > Version:
		return Layout{}, fmt.Errorf("version %d was written by a newer tandemux; this one reads %d", version.Version, Version)
	case version.Version != Version:
		return Layout{}, errors.New("version is missing or wrong")
	}
	err := json.Unmarshal(doc, &d)
	return Layout(d.Layout), err
}
