package store

import (
	"crypto/rand"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// alphabet is Crockford's: no letters that look like digits.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID makes an id of a kind with 70 random bits: PREFIX_ and 14 characters.
func NewID(prefix string) string {
	var b [14]byte
	rand.Read(b[:]) //nolint:errcheck // never fails
	for i := range b {
		b[i] = alphabet[b[i]&31]
	}
	return prefix + "_" + string(b[:])
}

// A record's row method gives its columns as what can be scanned into and what
// can be bound: pointers, or the adapters below.

// at keeps a time as milliseconds since 1970, the zero time as 0.
type at struct{ t *time.Time }

func (a at) Value() (driver.Value, error) {
	if a.t.IsZero() {
		return int64(0), nil
	}
	return a.t.UnixMilli(), nil
}

func (a at) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("a time is %T", v)
	}
	*a.t = time.Time{}
	if n != 0 {
		*a.t = time.UnixMilli(n).UTC()
	}
	return nil
}

// doc keeps a JSON document as text; none is "".
type doc struct{ raw *json.RawMessage }

func (d doc) Value() (driver.Value, error) { return string(*d.raw), nil }

func (d doc) Scan(v any) error {
	switch v := v.(type) {
	case string:
		*d.raw = json.RawMessage(v)
	case []byte:
		*d.raw = json.RawMessage(string(v))
	default:
		return fmt.Errorf("a document is %T", v)
	}
	if len(*d.raw) == 0 {
		*d.raw = nil
	}
	return nil
}

// list keeps a value as JSON.
type list[T any] struct{ v *T }

func (l list[T]) Value() (driver.Value, error) {
	text, err := json.Marshal(*l.v)
	return string(text), err
}

func (l list[T]) Scan(v any) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("a list is %T", v)
	}
	return json.Unmarshal([]byte(text), l.v)
}

// optional keeps a text that refers to another row; "" is NULL.
type optional struct{ s *string }

func (o optional) Value() (driver.Value, error) {
	if *o.s == "" {
		return nil, nil
	}
	return *o.s, nil
}

func (o optional) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*o.s = ""
	case string:
		*o.s = v
	default:
		return fmt.Errorf("a reference is %T", v)
	}
	return nil
}

// places is "?, ?, …" for n values.
func places(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// assignments is "a = ?, b = ?" for "a, b".
func assignments(columns string) string {
	return strings.ReplaceAll(columns, ", ", " = ?, ") + " = ?"
}

// Page asks for a part of a list.
type Page struct {
	Limit  int    // rows at most, up to MaxPage; 0: 100
	Cursor string // what the page before gave as its next; "": the beginning
}

func (p Page) limit() int {
	switch {
	case p.Limit <= 0:
		return 100
	case p.Limit > MaxPage:
		return MaxPage
	}
	return p.Limit
}

// after is the row number that the page begins behind.
func (p Page) after(otherwise int64) (int64, error) {
	if p.Cursor == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(p.Cursor, 36, 64)
	if err != nil || n < 0 {
		return 0, Errorf(Invalid, "the cursor %.40q is none that a list gave", p.Cursor)
	}
	return n, nil
}

func cursor(n int64) string { return strconv.FormatInt(n, 36) }

// checkDoc bounds a document and says whether it is JSON; none is fine.
func checkDoc(what string, raw json.RawMessage, most int) error {
	switch {
	case len(raw) > most:
		return Errorf(TooLarge, "%s has %d bytes, more than %d", what, len(raw), most)
	case len(raw) > 0 && !json.Valid(raw):
		return Errorf(Invalid, "%s is not JSON", what)
	}
	return nil
}
