package ahp

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Unmarshal is json.Unmarshal for JSON that comes from outside, read as every
// other language reads it: member names match exactly, not whatever their case;
// of members of one name the last counts, whole, where json.Unmarshal would
// merge two objects; and an integer may be written as 80.0 or 8e1. Unknown
// members are dropped. It may be called from any goroutine.
func Unmarshal(raw []byte, v any) error {
	t := reflect.TypeOf(v)
	if t.Kind() != reflect.Pointer || selfRead(t) {
		return json.Unmarshal(raw, v)
	}
	if s := (scan{text: raw}); !s.plain(t.Elem()) && json.Valid(raw) {
		w := scan{text: raw}
		if fixed, ok := w.fix(nil, t.Elem()); ok {
			raw = fixed
		}
	}
	return json.Unmarshal(raw, v)
}

// EmptyAction is an action of a type with nothing in it; of an unknown type it is
// an Unknown.
func EmptyAction(actionType string) Action {
	if k, known := kinds[actionType]; known {
		if a, err := k.decode(json.RawMessage("{}")); err == nil {
			return a
		}
	}
	return Unknown{Type: actionType}
}

// unmarshaler is what types implement that read themselves, by Unmarshal again.
var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func selfRead(ptr reflect.Type) bool { return ptr.Implements(unmarshaler) }

// shape is what a Go type wants of a JSON value.
type shape struct {
	fields  map[string]reflect.Type // of a struct, by member name
	elem    reflect.Type            // of a pointer, slice, array or map
	isMap   bool
	integer bool
}

var shapes sync.Map // reflect.Type → *shape

func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := &shape{}
	switch k := t.Kind(); {
	case selfRead(reflect.PointerTo(t)):
	case k == reflect.Struct:
		s.fields = map[string]reflect.Type{}
		addFields(s.fields, t)
	case k == reflect.Map:
		s.elem, s.isMap = t.Elem(), true
	case k == reflect.Pointer, k == reflect.Slice, k == reflect.Array:
		s.elem = t.Elem()
	case reflect.Int <= k && k <= reflect.Uint64:
		s.integer = true
	}
	shapes.Store(t, s)
	return s
}

// addFields adds a struct's members, those of embedded structs last: the
// nearest of a name counts.
func addFields(fields map[string]reflect.Type, t reflect.Type) {
	var embedded []reflect.Type
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			embedded = append(embedded, inner)
		case !f.IsExported() || name == "-":
		case name == "":
			name = f.Name
			fallthrough
		default:
			if _, ok := fields[name]; !ok {
				fields[name] = f.Type
			}
		}
	}
	for _, e := range embedded {
		addFields(fields, e)
	}
}

// scan reads a JSON text from front to back. It is no validator: of a text that
// is not JSON it may make anything.
type scan struct {
	text []byte
	at   int
}

// plain reads a value and reports whether json.Unmarshal reads it as it is
// meant.
func (s *scan) plain(t reflect.Type) bool {
	sh := shapeOf(t)
	for sh.elem != nil && t.Kind() == reflect.Pointer {
		t = sh.elem
		sh = shapeOf(t)
	}
	switch c := s.peek(); {
	case c == '{' && sh.fields != nil:
		return s.plainObject(sh)
	case c == '{' && sh.isMap:
		return s.each('}', func() bool { return s.key() != nil && s.plain(sh.elem) })
	case c == '[' && sh.elem != nil && !sh.isMap:
		return s.each(']', func() bool { return s.plain(sh.elem) })
	case sh.integer:
		return !fraction(s.value())
	}
	return s.value() != nil
}

func (s *scan) plainObject(sh *shape) bool {
	var seen [16][]byte // more than any message has that comes often
	n := 0
	return s.each('}', func() bool {
		quoted := s.key()
		if quoted == nil {
			return false
		}
		for _, c := range quoted {
			if c == '\\' || c >= 0x80 {
				return false
			}
		}
		name := quoted[1 : len(quoted)-1]
		t, known := sh.fields[string(name)]
		if !known {
			for want := range sh.fields {
				if len(want) == len(name) && strings.EqualFold(want, string(name)) {
					return false
				}
			}
			return s.value() != nil
		}
		for _, had := range seen[:n] {
			if bytes.Equal(had, name) {
				return false
			}
		}
		if n == len(seen) {
			return false
		}
		seen[n] = name
		n++
		return s.plain(t)
	})
}

// fix appends a value as json.Unmarshal must see it; ok is false when the text
// is no JSON.
func (s *scan) fix(out []byte, t reflect.Type) (fixed []byte, ok bool) {
	sh := shapeOf(t)
	for sh.elem != nil && t.Kind() == reflect.Pointer {
		t = sh.elem
		sh = shapeOf(t)
	}
	switch c := s.peek(); {
	case c == '{' && sh.fields != nil:
		return s.fixObject(out, sh)
	case c == '{' && sh.isMap:
		return s.fixEach(out, '}', func(out []byte) ([]byte, bool) {
			name := s.key()
			out = append(append(out, name...), ':')
			if name == nil {
				return out, false
			}
			return s.fix(out, sh.elem)
		})
	case c == '[' && sh.elem != nil && !sh.isMap:
		return s.fixEach(out, ']', func(out []byte) ([]byte, bool) { return s.fix(out, sh.elem) })
	}
	v := s.value()
	if sh.integer && fraction(v) {
		if f, err := strconv.ParseFloat(string(v), 64); err == nil && f == math.Trunc(f) && math.Abs(f) <= 1<<53 {
			return strconv.AppendInt(out, int64(f), 10), true
		}
	}
	return append(out, v...), v != nil
}

// fixObject keeps the last of each member that the shape knows.
func (s *scan) fixObject(out []byte, sh *shape) (fixed []byte, ok bool) {
	last := map[string][]byte{}
	var order []string
	ok = s.each('}', func() bool {
		var name string
		if quoted := s.key(); quoted == nil || json.Unmarshal(quoted, &name) != nil {
			return false
		}
		t, known := sh.fields[name]
		if !known {
			return s.value() != nil
		}
		v, ok := s.fix(nil, t)
		if _, again := last[name]; !again {
			order = append(order, name)
		}
		last[name] = v
		return ok
	})
	out = append(out, '{')
	for i, name := range order {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(appendString(out, name), ':'), last[name]...)
	}
	return append(out, '}'), ok
}

func (s *scan) fixEach(out []byte, end byte, do func(out []byte) ([]byte, bool)) (fixed []byte, ok bool) {
	out = append(out, s.peek())
	first := true
	ok = s.each(end, func() (ok bool) {
		if !first {
			out = append(out, ',')
		}
		first = false
		out, ok = do(out)
		return ok
	})
	return append(out, end), ok
}

// each reads an object or array, with do for each member or element.
func (s *scan) each(end byte, do func() bool) bool {
	s.at++ // the opening bracket, which the caller has seen
	if s.peek() == end {
		s.at++
		return true
	}
	for do() {
		switch s.peek() {
		case ',':
			s.at++
		case end:
			s.at++
			return true
		default:
			return false
		}
	}
	return false
}

// peek is the next byte that is no blank, or 0 at the end.
func (s *scan) peek() byte {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// key reads a member's name, in quotes, and the colon; nil when there is none.
func (s *scan) key() []byte {
	if s.peek() != '"' {
		return nil
	}
	name := s.value()
	if name == nil || s.peek() != ':' {
		return nil
	}
	s.at++
	return name
}

// value reads a value of any kind and gives its text; nil when it does not end.
func (s *scan) value() []byte {
	s.peek()
	from, depth := s.at, 0
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch c {
		case '"':
			if !s.string() {
				return nil
			}
		case '{', '[':
			depth++
			s.at++
		case '}', ']', ',':
			if depth == 0 {
				return s.text[from:s.at] // the end of a number or word
			}
			if c != ',' {
				depth--
			}
			s.at++
		case ' ', '\t', '\r', '\n':
			if depth == 0 {
				return s.text[from:s.at]
			}
			s.at++
		default:
			s.at++
			continue
		}
		if depth == 0 && c != ',' {
			return s.text[from:s.at]
		}
	}
	if depth > 0 || from == s.at {
		return nil
	}
	return s.text[from:s.at]
}

// string reads a string's end; ok is false when it has none.
func (s *scan) string() (ok bool) {
	for s.at++; s.at < len(s.text); s.at++ {
		s.at += plain(s.text, s.at, true)
		if s.at >= len(s.text) {
			return false
		}
		switch s.text[s.at] {
		case '"':
			s.at++
			return true
		case '\\':
			s.at++
		}
	}
	return false
}

// fraction reports whether a number is not written as an integer.
func fraction(v []byte) bool {
	if len(v) == 0 || v[0] != '-' && (v[0] < '0' || v[0] > '9') {
		return false
	}
	for _, c := range v {
		if c == '.' || c == 'e' || c == 'E' {
			return true
		}
	}
	return false
}
