package ahp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// List is a list that is written as [] if nil, never as null.
type List[T any] []T

// MarshalJSON writes the newest form, for encoding/json.
func (l List[T]) MarshalJSON() ([]byte, error) { return Encode(V1, []T(l)) }

// MarshalJSONTo writes the form of the encoder's profile.
func (l List[T]) MarshalJSONTo(e *jsontext.Encoder) error { return jsonv2.MarshalEncode(e, []T(l)) }

// Object is a map that is written as {} if nil, never as null.
type Object[V any] map[string]V

// MarshalJSON writes the newest form, for encoding/json.
func (o Object[V]) MarshalJSON() ([]byte, error) { return Encode(V1, map[string]V(o)) }

// form has the options with which all JSON is written: no HTML escapes, raw JSON as it came, and
// tags as encoding/json reads them.
var form = jsonv2.JoinOptions(
	jsonv2.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true),
	jsontext.EscapeForJS(true), jsontext.PreserveRawStrings(true), jsonv1.OmitEmptyWithLegacySemantics(true),
)

// forms has the options with which JSON is written for each profile.
var forms [V05 + 1]jsonv2.Options

// strict reads most texts at once. What it refuses is read again by lenient, which takes the last
// of several members of one name and integers in other spellings.
var strict, lenient jsonv2.Options

func init() {
	Register(rows[:]...)
	forms[V1] = jsonv2.JoinOptions(form, jsonv2.WithMarshalers(writeAction))
	forms[V09] = forms[V1]
	forms[V05] = jsonv2.JoinOptions(form, jsonv2.WithMarshalers(jsonv2.JoinMarshalers(down05, writeAction)))
	read := jsonv2.JoinUnmarshalers(readAction, readRaw, readError05)
	strict = jsonv2.JoinOptions(jsontext.AllowInvalidUTF8(true), jsonv2.WithUnmarshalers(read))
	lenient = jsonv2.JoinOptions(strict, jsontext.AllowDuplicateNames(true), jsonv2.WithUnmarshalers(
		jsonv2.JoinUnmarshalers(jsonv2.UnmarshalFromFunc(anew), read)))
}

// Encode returns v's JSON in the form of profile p. Only the types of this package, by value or
// pointer, differ between profiles.
func Encode(p Profile, v any) (json.RawMessage, error) {
	if raw, is := v.(json.RawMessage); is && len(raw) > 0 {
		return raw, nil
	}
	return jsonv2.Marshal(v, forms[p])
}

// Unmarshal is json.Unmarshal for JSON that comes from outside, read as every
// other language reads it: member names match exactly, not whatever their case;
// of members of one name the last counts, whole, where json.Unmarshal would
// merge two objects; and an integer may be written as 80.0 or 8e1. Unknown
// members are dropped, and JSON that is kept as it is (json.RawMessage) is nil where
// it is null. It may be called from any goroutine. Like json.Unmarshal's, its error
// is a *json.UnmarshalTypeError when a member is of another type.
func Unmarshal(raw []byte, v any) error {
	if jsonv2.Unmarshal(raw, v, strict) == nil {
		return nil
	}
	err := jsonv2.Unmarshal(raw, v, lenient)
	var wrong *jsonv2.SemanticError
	var known *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong) || errors.As(err, &known):
		return err
	case wrong.Err != nil:
		return wrong.Err
	}
	value := cmp.Or(map[jsontext.Kind]string{'[': "array", '{': "object", 't': "bool", 'f': "bool"}[wrong.JSONKind], wrong.JSONKind.String())
	path := strings.ReplaceAll(strings.TrimPrefix(string(wrong.JSONPointer), "/"), "/", ".")
	return &json.UnmarshalTypeError{Value: value, Type: wrong.GoType, Offset: wrong.ByteOffset, Field: path}
}

// readRaw reads null as a nil RawMessage.
var readRaw = jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, to *json.RawMessage) error {
	text, err := d.ReadValue()
	*to = nil
	if text.Kind() != 'n' {
		*to = bytes.Clone(text)
	}
	return err
})

// anew clears the value that an earlier member of the same name has set, and reads integers.
func anew(d *jsontext.Decoder, to any) error {
	v := reflect.ValueOf(to).Elem()
	v.SetZero()
	if d.PeekKind() != '0' || !v.CanInt() && !v.CanUint() {
		return errors.ErrUnsupported
	}
	text, err := d.ReadValue()
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		f, _ := strconv.ParseFloat(string(text), 64)
		switch d.StackPointer().LastToken() {
		case "timestamp", "duration", "durationMs": // some hosts write fractions here
			f = math.Round(f)
		}
		if n = int64(f); f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return &jsonv2.SemanticError{GoType: v.Type(), JSONKind: '0'}
		}
	}
	switch {
	case v.CanInt() && !v.OverflowInt(n):
		v.SetInt(n)
	case v.CanUint() && n >= 0 && !v.OverflowUint(uint64(n)):
		v.SetUint(uint64(n))
	default:
		return &jsonv2.SemanticError{GoType: v.Type(), JSONKind: '0'}
	}
	return nil
}

func isAbsent(raw json.RawMessage) bool {
	text := string(bytes.TrimSpace(raw))
	return text == "" || text == "null"
}

// Instant is a point in time as sessions and chats write it: ISO 8601 in UTC
// with milliseconds, such as "2026-11-21T01:00:00.000Z". Empty means unknown.
// Reading accepts any offset, and Unix milliseconds as 0.5 has them.
type Instant string

// InstantOf returns the Instant of a time in Unix milliseconds.
func InstantOf(ms int64) Instant {
	return Instant(time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z"))
}

// Ms returns the instant in Unix milliseconds; ok is false if it is not a date.
func (i Instant) Ms() (ms int64, ok bool) {
	t, err := time.Parse(time.RFC3339, strings.ToUpper(string(i)))
	if err != nil {
		return 0, false
	}
	return t.UnixMilli(), true
}

// add returns the instant ms milliseconds later; a negative ms counts as 0.
func (i Instant) add(ms int64) Instant {
	at, ok := i.Ms()
	if !ok {
		return i
	}
	return InstantOf(at + max(0, min(ms, 1<<50)))
}

// UnmarshalJSON accepts a string or Unix milliseconds.
func (i *Instant) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(i))
	}
	var ms *float64
	*i = ""
	if err := json.Unmarshal(b, &ms); err != nil || ms == nil {
		return err
	}
	if math.Abs(*ms) > 1<<53 {
		return strconv.ErrRange
	}
	*i = InstantOf(int64(math.Round(*ms)))
	return nil
}
