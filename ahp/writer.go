package ahp

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
)

// writer appends JSON in the shapes of one profile. What matters for the wire
// is written by hand through it, so that the presence of each key is exact and
// long texts are not copied by reflection.
type writer struct {
	buf []byte
	p   Profile
	err error // the first one
}

// appender is a type of this package that knows its wire form.
type appender interface{ appendTo(w *writer) }

// comma separates an element from the one before it, if any.
func (w *writer) comma() {
	if n := len(w.buf); n > 0 {
		if c := w.buf[n-1]; c != '{' && c != '[' {
			w.buf = append(w.buf, ',')
		}
	}
}

// key starts a member of an object. k needs no escaping.
func (w *writer) key(k string) {
	w.comma()
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, k...)
	w.buf = append(w.buf, '"', ':')
}

func (w *writer) open(c byte)  { w.buf = append(w.buf, c) }
func (w *writer) close(c byte) { w.buf = append(w.buf, c) }

func (w *writer) str(k, v string) {
	w.key(k)
	w.buf = appendString(w.buf, v)
}

// optStr leaves an empty string out.
func (w *writer) optStr(k, v string) {
	if v != "" {
		w.str(k, v)
	}
}

func (w *writer) int(k string, v int64) {
	w.key(k)
	w.buf = strconv.AppendInt(w.buf, v, 10)
}

func (w *writer) bool(k string, v bool) {
	w.key(k)
	w.buf = strconv.AppendBool(w.buf, v)
}

// raw writes JSON as it is, null when there is none.
func (w *writer) raw(k string, v json.RawMessage) {
	w.key(k)
	if len(v) == 0 {
		v = json.RawMessage("null")
	}
	w.buf = append(w.buf, v...)
}

// member writes any value.
func (w *writer) member(k string, v any) {
	w.key(k)
	w.value(v)
}

// value writes any value; those of other packages as encoding/json does,
// without escaping HTML.
func (w *writer) value(v any) {
	switch v := v.(type) {
	case json.RawMessage:
		if len(v) == 0 {
			v = json.RawMessage("null")
		}
		w.buf = append(w.buf, v...)
		return
	case appender:
		if rv := reflect.ValueOf(v); rv.Kind() == reflect.Pointer && rv.IsNil() {
			w.buf = append(w.buf, "null"...)
			return
		}
		v.appendTo(w)
		return
	}
	b, err := marshal(v)
	if err != nil {
		if w.err == nil {
			w.err = err
		}
		b = []byte("null")
	}
	w.buf = append(w.buf, b...)
}

// list writes an array, [] for nil.
func list[T any](w *writer, k string, items []T) {
	w.key(k)
	w.open('[')
	for _, v := range items {
		w.comma()
		w.value(v)
	}
	w.close(']')
}

// marshal is json.Marshal without escaping HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Encode is v's JSON in the shapes of profile p. It projects the types of this
// package, by value or pointer; anything else is marshalled as it is.
func Encode(p Profile, v any) (json.RawMessage, error) {
	w := writer{p: p}
	w.value(v)
	if w.err != nil {
		return nil, w.err
	}
	return w.buf, nil
}
