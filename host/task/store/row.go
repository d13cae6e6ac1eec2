package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"
)

// alphabet is Crockford's base 32, without letters that look like digits.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID returns a new id: prefix, _ and 14 characters with 70 random bits.
func NewID(prefix string) string {
	var b [14]byte
	rand.Read(b[:]) //nolint:errcheck // never fails
	for i := range b {
		b[i] = alphabet[b[i]&31]
	}
	return prefix + "_" + string(b[:])
}

// keyedID returns the id that belongs to texts, always the same.
func keyedID(prefix string, texts ...string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", texts))
	b := sum[:14]
	for i := range b {
		b[i] = alphabet[b[i]&31]
	}
	return prefix + "_" + string(b)
}

// moment returns the current time in the precision in which it is stored.
func (s *Store) moment() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// shape says how a struct is stored in a row. A field with the tag `db:"COLUMN"` is that column; one
// with `db:"COLUMN,ref"` refers to another row, and "" is stored as NULL.
type shape struct {
	columns []string
	fields  []int
	refs    []bool
}

var shapes sync.Map // by reflect.Type

func shapeOf[T any]() *shape {
	t := reflect.TypeFor[T]()
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := &shape{}
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		if column, options, _ := strings.Cut(t.Field(i).Tag.Get("db"), ","); column != "" {
			s.columns, s.fields, s.refs = append(s.columns, column), append(s.fields, i), append(s.refs, options == "ref")
		}
	}
	shapes.Store(t, s)
	return s
}

// cells returns pointers to a record's columns, or to a single value, to scan into or to bind.
func cells[T any](v *T) []any {
	s, fields := shapeOf[T](), reflect.ValueOf(v).Elem()
	if len(s.fields) == 0 {
		return []any{cellOf(v, false)}
	}
	row := make([]any, len(s.fields))
	for i, f := range s.fields {
		row[i] = cellOf(fields.Field(f).Addr().Interface(), s.refs[i])
	}
	return row
}

func cellOf(p any, ref bool) any {
	switch p.(type) {
	case *[]byte:
		return p
	case *time.Time, *json.RawMessage:
		return cell{p}
	}
	if kind := reflect.TypeOf(p).Elem().Kind(); ref || kind == reflect.Slice || kind == reflect.Struct {
		return cell{p}
	}
	return p
}

// cell converts a value that is stored in another form: a time as milliseconds since 1970, the zero
// time as 0; JSON as text, nil as ""; a list or a struct as JSON; an empty reference as NULL. It
// implements driver.Valuer and sql.Scanner.
type cell struct{ p any }

func (c cell) Value() (driver.Value, error) {
	switch p := c.p.(type) {
	case *time.Time:
		if p.IsZero() {
			return int64(0), nil
		}
		return p.UnixMilli(), nil
	case *json.RawMessage:
		return string(*p), nil
	case *string:
		if *p == "" {
			return nil, nil
		}
		return *p, nil
	}
	text, err := json.Marshal(c.p)
	return string(text), err
}

func (c cell) Scan(v any) error {
	n, number := v.(int64)
	text, written := v.(string)
	switch p := c.p.(type) {
	case *time.Time:
		if *p = (time.Time{}); n != 0 {
			*p = time.UnixMilli(n).UTC()
		}
		written = number
	case *json.RawMessage:
		if *p = nil; text != "" {
			*p = json.RawMessage(text)
		}
	case *string:
		*p = text
		written = written || v == nil
	default:
		if text != "" {
			return json.Unmarshal([]byte(text), c.p)
		}
	}
	if !written {
		return fmt.Errorf("a column for %T has %T", c.p, v)
	}
	return nil
}

// places returns "?, ?, …" with n placeholders.
func places(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// querier is a transaction, a connection or a pool.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// conn is a querier of a store.
type conn struct {
	s *Store
	querier
}

func (q conn) exec(ctx context.Context, query string, args ...any) error {
	_, err := q.ExecContext(ctx, query, args...)
	return err
}

// all returns the rows of a query, as records or as values of a single column.
func all[T any](ctx context.Context, q conn, query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, q.s.explain(err)
	}
	defer rows.Close()
	found := []T{}
	for rows.Next() {
		var v T
		if err := rows.Scan(cells(&v)...); err != nil {
			return nil, q.s.explain(err)
		}
		found = append(found, v)
	}
	return found, q.s.explain(rows.Err())
}

// one returns the first row of a query. The error is missing if there is none.
func one[T any](ctx context.Context, q conn, missing error, query string, args ...any) (v T, err error) {
	err = q.QueryRowContext(ctx, query, args...).Scan(cells(&v)...)
	if errors.Is(err, sql.ErrNoRows) && missing != nil {
		err = missing
	}
	return v, q.s.explain(err)
}

// put inserts a row, or replaces the one with the same values in its first key columns.
func put[T any](ctx context.Context, tx conn, table string, key int, v T) error {
	columns := shapeOf[T]().columns
	set := make([]string, 0, len(columns))
	for _, c := range columns[key:] {
		set = append(set, c+" = excluded."+c)
	}
	return tx.exec(ctx, "insert into "+table+" ("+strings.Join(columns, ", ")+") values ("+places(len(columns))+
		") on conflict ("+strings.Join(columns[:key], ", ")+") do update set "+strings.Join(set, ", "), cells(&v)...)
}

// checkDoc returns an error if a document is longer than most bytes or not JSON. It may be empty.
func checkDoc(what string, raw json.RawMessage, most int) error {
	switch {
	case len(raw) > most:
		return Errorf(TooLarge, "%s has %d bytes, more than %d", what, len(raw), most)
	case len(raw) > 0 && !json.Valid(raw):
		return Errorf(Invalid, "%s is not JSON", what)
	}
	return nil
}
