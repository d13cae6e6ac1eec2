package jsonform

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"tandemux/ahp"
	"tandemux/ahp/schema"
)

// definitions are what the schemas of the protocol's own types refer to, as those of all
// its types do.
var definitions = sync.OnceValue(func() map[string]*jsonschema.Schema { return schema.Closed(schema.Document(ahp.V1)).Defs })

const ref = "#/$defs/"

// found is the schema of a type as encoding/json writes it.
func found(t reflect.Type) *jsonschema.Schema {
	known := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
		reflect.TypeFor[ahp.Envelope]():    {Ref: ref + "Envelope"},
		reflect.TypeFor[ahp.Snapshot]():    {Ref: ref + "Snapshot"},
	}
	texts(t, known)
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		panic("jsonform: " + err.Error()) // the types are the program's
	}
	return s
}

// texts adds the types in t that are numbers and written as words.
func texts(t reflect.Type, known map[reflect.Type]*jsonschema.Schema) {
	switch {
	case known[t] != nil:
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map:
		texts(t.Elem(), known)
	case t.Kind() == reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			texts(f.Type, known)
		}
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		known[t] = &jsonschema.Schema{Type: "string"}
	}
}

// Write writes the JSON of a value of type t, which is such a value or its JSON as a
// json.RawMessage: in lines with indent, else in one.
func Write(t reflect.Type, v any, indent bool) ([]byte, error) {
	wire, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	options := []jsontext.Options{jsontext.AllowDuplicateNames(true)}
	if indent {
		options = append(options, jsontext.WithIndent("  "))
	}
	c := converter{jsontext.NewDecoder(bytes.NewReader(wire), options...), jsontext.NewEncoder(&out, options...)}
	err = c.value("", []*jsonschema.Schema{found(t)})
	return out.Bytes(), err
}

// converter brings what is read into the form.
type converter struct {
	*jsontext.Decoder
	to *jsontext.Encoder
}

// value copies a value, which is the member called name of an object, or part of it. as
// are the schemas that it may have; without one it is what somebody else has said.
func (c converter) value(name string, as []*jsonschema.Schema) error {
	as = flat(as, nil)
	kind := c.PeekKind()
	if kind == '{' && len(as) > 0 || kind == '[' && len(as) > 0 {
		return c.nested(name, as)
	}
	v, err := c.ReadValue()
	if err != nil || len(as) == 0 {
		return c.put(v, err)
	}
	switch kind {
	case '0':
		if at, is := number(name, string(v)); is {
			return c.to.WriteToken(jsontext.String(at))
		}
	case '"':
		var s string
		if err := json.Unmarshal(v, &s); err != nil {
			return err
		}
		return c.to.WriteToken(jsontext.String(text(name, s, as)))
	case 'n':
		if is(as[0], "array") {
			v = jsontext.Value("[]")
		}
	}
	return c.put(v, nil)
}

func (c converter) put(v jsontext.Value, err error) error {
	if err != nil {
		return err
	}
	return c.to.WriteValue(v)
}

// nested copies an object or a list.
func (c converter) nested(name string, as []*jsonschema.Schema) error {
	open, err := c.ReadToken()
	if err == nil {
		err = c.to.WriteToken(open)
	}
	list := open.Kind() == '['
	for err == nil && c.PeekKind() != '}' && c.PeekKind() != ']' {
		var below []*jsonschema.Schema
		if list {
			for _, s := range as {
				below = append(below, s.Items)
			}
		} else {
			var key jsontext.Token
			if key, err = c.ReadToken(); err != nil {
				return err
			}
			name = key.String()
			for _, s := range as {
				below = append(below, s.Properties[name])
			}
			if below = flat(below, nil); len(below) == 0 && !declares(as, name) {
				for _, s := range as { // a map, whose keys stay
					below = append(below, s.AdditionalProperties)
				}
				err, name = c.to.WriteToken(key), ""
			} else {
				err = c.to.WriteToken(jsontext.String(member(name, below)))
			}
		}
		if err == nil {
			err = c.value(name, below)
		}
	}
	if err == nil {
		open, err = c.ReadToken()
	}
	if err == nil {
		err = c.to.WriteToken(open)
	}
	return err
}

// declares reports whether a member is one of an object, and no key of a map.
func declares(as []*jsonschema.Schema, name string) bool {
	for _, s := range as {
		if s.Properties[name] != nil {
			return true
		}
	}
	return false
}

// flat are the schemas that some say something by: those that they refer to, and the
// parts of their choices. What allows everything is none.
func flat(all, to []*jsonschema.Schema) []*jsonschema.Schema {
	for _, s := range all {
		switch {
		case s == nil:
			continue
		case s.Ref != "":
			to = flat([]*jsonschema.Schema{definitions()[strings.TrimPrefix(s.Ref, ref)]}, to)
		}
		to = flat(s.AllOf, flat(s.AnyOf, flat([]*jsonschema.Schema{s.Then}, to)))
		if s.Type != "" || len(s.Types) > 0 || s.Properties != nil {
			to = append(to, s)
		}
	}
	return to
}
