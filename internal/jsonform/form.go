package jsonform

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
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
	describe(t, s)
	return s
}

// describe gives the members of a type's schema what their tag doc says.
func describe(t reflect.Type, s *jsonschema.Schema) {
	switch t.Kind() {
	case reflect.Pointer:
		describe(t.Elem(), s)
	case reflect.Slice:
		if s.Items != nil {
			describe(t.Elem(), s.Items)
		}
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if p := s.Properties[name]; p != nil {
				p.Description = f.Tag.Get("doc")
				describe(f.Type, p)
			}
		}
	}
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

// shape is what is known of the values at a place: the schemas that they may have, those
// that are referred to and the parts of choices among them. nil is what allows everything.
type shape struct {
	schemas []*jsonschema.Schema
	members map[string]*shape // as far as they were met
	each    *shape            // of a list's items, or a map's values
}

func shapeOf(of []*jsonschema.Schema) *shape {
	if all := flat(of, nil); len(all) > 0 {
		return &shape{schemas: all, members: map[string]*shape{}}
	}
	return nil
}

// flat adds to some schemas those that others say something by.
func flat(all, to []*jsonschema.Schema) []*jsonschema.Schema {
	for _, s := range all {
		if s == nil {
			continue
		}
		if s.Ref != "" {
			to = flat([]*jsonschema.Schema{definitions()[strings.TrimPrefix(s.Ref, ref)]}, to)
		}
		to = flat(s.AllOf, flat(s.AnyOf, flat([]*jsonschema.Schema{s.Then}, to)))
		if s.Type != "" || len(s.Types) > 0 || s.Properties != nil {
			to = append(to, s)
		}
	}
	return to
}

// member is the shape of a member, and what it is called; is reports whether it is one,
// and no key of a map.
func (s *shape) member(name string) (of *shape, called string, is bool) {
	of, met := s.members[name]
	if met && of != nil {
		return of, member(name, of.schemas), true
	}
	var below []*jsonschema.Schema
	for _, one := range s.schemas {
		if p := one.Properties[name]; p != nil {
			below, is = append(below, p), true
		}
	}
	if !is {
		return s.values(), name, false
	}
	of = shapeOf(below)
	s.members[name] = of
	if of == nil {
		return nil, plain(name), true
	}
	return of, member(name, of.schemas), true
}

// values is the shape of a list's items, or of a map's values.
func (s *shape) values() *shape {
	if s.each == nil {
		var below []*jsonschema.Schema
		for _, one := range s.schemas {
			below = append(below, one.Items, one.AdditionalProperties)
		}
		s.each = shapeOf(below)
	}
	return s.each
}

// shapes are those of the types that were written.
var shapes = struct {
	sync.Mutex // Protects all shapes, which grow.
	of         map[reflect.Type]*shape
}{of: map[reflect.Type]*shape{}}

// Write writes the JSON of a value of type t, which is such a value or its JSON as a
// json.RawMessage: in lines with indent, else in one.
func Write(t reflect.Type, v any, indent bool) ([]byte, error) {
	wire, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	shapes.Lock()
	defer shapes.Unlock()
	at := shapes.of[t]
	if at == nil {
		at = shapeOf([]*jsonschema.Schema{found(t)})
		shapes.of[t] = at
	}
	var out bytes.Buffer
	options := []jsontext.Options{jsontext.AllowDuplicateNames(true)}
	if indent {
		options = append(options, jsontext.WithIndent("  "))
	}
	c := converter{jsontext.NewDecoder(bytes.NewReader(wire), options...), jsontext.NewEncoder(&out, options...)}
	err = c.value("", at)
	return out.Bytes(), err
}

// converter brings what is read into the form.
type converter struct {
	*jsontext.Decoder
	to *jsontext.Encoder
}

// value copies a value, which is the member called name of an object, or part of it.
func (c converter) value(name string, at *shape) error {
	kind := c.PeekKind()
	if at != nil && (kind == '{' || kind == '[') {
		return c.nested(name, at)
	}
	v, err := c.ReadValue()
	if err != nil {
		return err
	}
	switch {
	case at == nil: // what somebody else has said
	case kind == '0':
		if at, is := number(name, string(v)); is {
			return c.to.WriteToken(jsontext.String(at))
		}
	case kind == '"':
		var s string
		if err := json.Unmarshal(v, &s); err != nil {
			return err
		}
		return c.to.WriteToken(jsontext.String(text(name, s, at.schemas)))
	case kind == 'n' && is(at.schemas[0], "array"):
		v = jsontext.Value("[]")
	}
	return c.to.WriteValue(v)
}

// nested copies an object or a list.
func (c converter) nested(name string, at *shape) error {
	open, err := c.ReadToken()
	if err == nil {
		err = c.to.WriteToken(open)
	}
	list := open.Kind() == '['
	for err == nil && c.PeekKind() != '}' && c.PeekKind() != ']' {
		below := at
		if list {
			below = at.values()
		} else {
			var key jsontext.Token
			if key, err = c.ReadToken(); err != nil {
				return err
			}
			name = key.String()
			of, called, is := at.member(name)
			if !is {
				name = ""
			}
			below, err = of, c.to.WriteToken(jsontext.String(called))
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

// Failure is how an error is told.
type Failure struct {
	Error struct {
		Code    string `json:"code" doc:"For programs: usage, timeout, failed, or a word of who refused it"`
		Message string `json:"message" doc:"For people"`
	} `json:"error"`
}

// words are what the protocol's codes are called, as the interface of tasks calls them.
var words = map[int]string{
	ahp.CodeInvalidParams: "bad_request", ahp.CodeInternal: "internal",
	ahp.CodeSessionNotFound: "not_found", ahp.CodeProviderNotFound: "not_found", ahp.CodeNotFound: "not_found",
	ahp.CodeSessionAlreadyExists: "already_exists", ahp.CodeAlreadyExists: "already_exists",
	ahp.CodeTurnInProgress: "conflict", ahp.CodeConflict: "conflict",
	ahp.CodeUnsupportedVersion: "unsupported_version", ahp.CodeAuthRequired: "unauthorized", ahp.CodePermissionDenied: "forbidden",
}

// Code is the word for an error: its own, or one of the protocol's; "failed" for others.
func Code(err error) string {
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) && coded.ErrorCode() != "" {
		return coded.ErrorCode()
	}
	return cmp.Or(words[ahp.CodeOf(err)], "failed")
}
