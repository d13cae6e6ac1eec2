package store

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"strings"
)

// Table is one kind of record: a struct whose tagged fields are the columns of an SQL table. The first
// column is n, the record's number, the second usually the id.
type Table[T any] struct {
	s       *Store
	what    string // the kind's name for people
	name    string // in SQL
	prefix  string // the prefix of ids
	durable bool
	newest  bool        // lists begin with the newest record
	members [][2]string // tables and the columns by which their rows refer to a record, which then can't be deleted
}

// tables has all kinds of records.
type tables struct {
	Projects     Table[Project]
	Filesystems  Table[Filesystem]
	Agents       Table[Agent]
	Branches     Table[Branch]
	Versions     Table[Version]
	BranchEvents Table[BranchEvent]
	Keys         Table[APIKey]
	Tasks        Table[Task]
	Events       Table[Event]
	Messages     Table[Message]
	States       Table[State]
	logs         Table[LogEntry]
}

func (s *Store) tablesOf() tables {
	return tables{
		Projects:     Table[Project]{s: s, what: "project", name: "projects", prefix: "prj", members: [][2]string{{"filesystems", "project"}, {"tasks", "project"}}},
		Filesystems:  Table[Filesystem]{s: s, what: "filesystem", name: "filesystems", prefix: "fs", members: [][2]string{{"tasks", "filesystem"}}},
		Agents:       Table[Agent]{s: s, what: "agent", name: "agents", prefix: "agt", members: [][2]string{{"tasks", "agent"}}},
		Branches:     Table[Branch]{s: s, what: "branch", name: "branches", prefix: "br"},
		Versions:     Table[Version]{s: s, what: "version", name: "versions", prefix: "ver", newest: true},
		BranchEvents: Table[BranchEvent]{s: s, what: "event of a branch", name: "branch_events", prefix: "bev", newest: true},
		Keys:         Table[APIKey]{s: s, what: "key", name: "keys", prefix: "key", durable: true},
		Tasks:        Table[Task]{s: s, what: "task", name: "tasks", prefix: "tsk", newest: true},
		Events:       Table[Event]{s: s, what: "event", name: "events", prefix: "evt"},
		Messages:     Table[Message]{s: s, what: "message", name: "messages", prefix: "msg"},
		States:       Table[State]{s: s, what: "state", name: "states", prefix: "st"},
		logs:         Table[LogEntry]{s: s, what: "line", name: "logs"},
	}
}

// write runs do in a transaction that changes a record.
func (t *Table[T]) write(ctx context.Context, do func(tx conn) error) error {
	return t.s.write(ctx, t.sync(), do)
}

// sync returns what a change of a record survives.
func (t *Table[T]) sync() syncMode {
	if t.durable {
		return durable
	}
	return relaxed
}

// query returns the start of a query for records; a condition has to follow.
func (t *Table[T]) query() string {
	return "select " + strings.Join(shapeOf[T]().columns, ", ") + " from " + t.name + " where "
}

func (t *Table[T]) missing(id string) error {
	return Errorf(NotFound, "there is no %s %.60q", t.what, id)
}

func (t *Table[T]) one(ctx context.Context, q conn, missing error, where string, args ...any) (T, error) {
	return one[T](ctx, q, missing, t.query()+where, args...)
}

func (t *Table[T]) byID(ctx context.Context, q conn, id string) (T, error) {
	return t.one(ctx, q, t.missing(id), "id = ?", id)
}

// Get returns the record with the id.
func (t *Table[T]) Get(ctx context.Context, id string) (T, error) {
	return t.byID(ctx, t.s.reading(), id)
}

// shortestRef is the fewest characters of an id, after its prefix, that Find accepts.
const shortestRef = 3

// Find returns the record with an id or name, or whose id is the only one that begins so, with or
// without the prefix.
func (t *Table[T]) Find(ctx context.Context, ref string) (T, error) {
	v, err := t.byID(ctx, t.s.reading(), ref)
	if !errors.Is(err, NotFound) {
		return v, err
	}
	if ref == "" {
		return v, Errorf(NotFound, "no %s is named", t.what)
	}
	type way struct{ where, arg, many string }
	ways := []way{{"name = ?1", ref, "is named %q; use the id"}}
	begins, tail := ref, ref
	if _, behind, prefixed := strings.Cut(ref, "_"); prefixed {
		tail = behind
	} else {
		begins = t.prefix + "_" + ref
	}
	if len(tail) >= shortestRef {
		ways = append(ways, way{"id >= ?1 and id < ?1 || '{'", begins, "begins with %q; give more of the id"}) // { follows z, the last letter that ids have
	}
	for _, way := range ways {
		found, err := all[T](ctx, t.s.reading(), t.query()+way.where+" limit 2", way.arg)
		switch {
		case err != nil:
			return v, err
		case len(found) > 1:
			return v, Errorf(Invalid, "more than one %s "+way.many, t.what, ref)
		case len(found) == 1:
			return found[0], nil
		}
	}
	return v, t.missing(ref)
}

// Page is a part of a list.
type Page struct { // rows at most, up to MaxPage; 0 means 100
	Limit   int    // the next cursor of the page before; "" means the beginning
	Cursor  string // in reverse order
	Reverse bool   // the other way around
}

func (p Page) limit() int {
	if p.Limit <= 0 {
		return 100
	}
	return min(p.Limit, MaxPage)
}

// Where selects records by the values of columns; "" and an empty list select all.
type Where map[string]any

// List returns a page of the selected records, and the cursor of the next page.
func (t *Table[T]) List(ctx context.Context, where Where, p Page) ([]T, string, error) {
	after, order := int64(0), "n > ? order by n limit ?"
	if t.newest != p.Reverse {
		after, order = 1<<62, "n < ? order by n desc limit ?"
	}
	if p.Cursor != "" {
		n, err := strconv.ParseInt(p.Cursor, 36, 64)
		if err != nil || n < 0 {
			return nil, "", Errorf(Invalid, "the cursor %.40q is none that a list gave", p.Cursor)
		}
		after = n
	}
	query, args := t.query(), []any{}
	for column, v := range where {
		switch v := v.(type) {
		case []TaskStatus:
			if len(v) > 0 {
				query += column + " in (" + places(len(v)) + ") and "
			}
			for _, status := range v {
				args = append(args, string(status))
			}
		default:
			if v != "" {
				query, args = query+column+" = ? and ", append(args, v)
			}
		}
	}
	found, err := all[T](ctx, t.s.reading(), query+order, append(args, after, p.limit()+1)...)
	if err != nil || len(found) <= p.limit() {
		return found, "", err
	}
	found = found[:p.limit()]
	last := reflect.ValueOf(found[len(found)-1]).FieldByName("N").Int()
	return found, strconv.FormatInt(last, 36), nil
}

// Each calls do with each selected record. Records may change meanwhile.
func (t *Table[T]) Each(ctx context.Context, where Where, do func(T) error) error {
	for p := (Page{Limit: MaxPage}); ; {
		found, next, err := t.List(ctx, where, p)
		for i := 0; err == nil && i < len(found); i++ {
			err = do(found[i])
		}
		if p.Cursor = next; err != nil || next == "" {
			return err
		}
	}
}

// Create adds a record, and sets its id, its times, and its name if it has none.
func (t *Table[T]) Create(ctx context.Context, v T) (T, error) {
	err := t.write(ctx, func(tx conn) error { return t.insert(ctx, tx, &v) })
	return v, err
}

// Edit changes a record in a transaction. If change returns an error the record is not changed.
func (t *Table[T]) Edit(ctx context.Context, id string, change func(*T) error) (v T, err error) {
	err = t.write(ctx, func(tx conn) error { return t.edit(ctx, tx, id, &v, change) })
	return v, err
}

// EditFull is Edit that also works on a full disk. It is for the end of a record's life.
func (t *Table[T]) EditFull(ctx context.Context, id string, change func(*T) error) (v T, err error) {
	err = t.s.end(ctx, t.sync(), func(tx conn) error { return t.edit(ctx, tx, id, &v, change) })
	return v, err
}

func (t *Table[T]) edit(ctx context.Context, tx conn, id string, v *T, change func(*T) error) (err error) {
	if *v, err = t.byID(ctx, tx, id); err == nil {
		err = change(v)
	}
	if err != nil {
		return err
	}
	return t.update(ctx, tx, v)
}

// Delete removes a record that nothing refers to. It also works on a full disk.
func (t *Table[T]) Delete(ctx context.Context, id string) error {
	return t.s.end(ctx, t.sync(), func(tx conn) error { return t.remove(ctx, tx, id) })
}

func (t *Table[T]) insert(ctx context.Context, tx conn, v *T) error {
	shape, fields := shapeOf[T](), reflect.ValueOf(v).Elem()
	id := ""
	for i, column := range shape.columns {
		f := fields.Field(shape.fields[i])
		switch {
		case column == "id" && f.IsZero():
			f.SetString(NewID(t.prefix))
			fallthrough
		case column == "id":
			id = f.String()
		case column == "name" && f.IsZero():
			f.SetString(id)
		case (column == "created" || column == "updated") && f.IsZero():
			f.Set(reflect.ValueOf(t.s.moment()))
		}
	}
	if err := check(v); err != nil {
		return err
	}
	columns, row := shape.columns[1:], cells(v)
	n, err := one[int64](ctx, tx, nil, "insert into "+t.name+" ("+strings.Join(columns, ", ")+") values ("+places(len(columns))+") returning n", row[1:]...)
	if err != nil {
		return t.refusal(err, fields, "belongs")
	}
	*row[0].(*int64) = n
	return nil
}

// update writes a record that exists.
func (t *Table[T]) update(ctx context.Context, tx conn, v *T) error {
	fields := reflect.ValueOf(v).Elem()
	if f := fields.FieldByName("Updated"); f.IsValid() {
		f.Set(reflect.ValueOf(t.s.moment()))
	}
	if err := check(v); err != nil {
		return err
	}
	row := cells(v)
	err := tx.exec(ctx, "update "+t.name+" set "+strings.Join(shapeOf[T]().columns[1:], " = ?, ")+" = ? where n = ?", append(row[1:], row[0])...)
	return t.refusal(err, fields, "refers")
}

// check returns the error of a record's own check, if it has one.
func check(v any) error {
	if c, ok := v.(interface{ check() error }); ok {
		return c.check()
	}
	return nil
}

// refusal returns the error for a violated constraint.
func (t *Table[T]) refusal(err error, fields reflect.Value, how string) error {
	unique, foreign := constraint(err)
	switch name := fields.FieldByName("Name"); {
	case unique && name.IsValid():
		return Errorf(Exists, "there is a %s named %q already", t.what, name)
	case unique:
		return Errorf(Exists, "there is such a %s already", t.what)
	case foreign:
		return Errorf(NotFound, "what it %s to is not there any more", how)
	}
	return err
}

// unused returns an error if another record refers to this one.
func (t *Table[T]) unused(ctx context.Context, tx conn, id string) error {
	for _, m := range t.members {
		n, err := one[int](ctx, tx, nil, "select count(*) from "+m[0]+" where "+m[1]+" = ?", id)
		if err != nil {
			return err
		}
		if n > 0 {
			return Errorf(InUse, "the %s has %d %s; delete them first", t.what, n, m[0])
		}
	}
	return nil
}

func (t *Table[T]) remove(ctx context.Context, tx conn, id string) error {
	if err := t.unused(ctx, tx, id); err != nil {
		return err
	}
	got, err := tx.ExecContext(ctx, "delete from "+t.name+" where id = ?", id)
	if _, foreign := constraint(err); foreign {
		return Errorf(InUse, "the %s is still in use", t.what)
	}
	if err != nil {
		return err
	}
	if n, err := got.RowsAffected(); err != nil || n == 0 {
		return t.missing(id)
	}
	return nil
}
