package store

import (
	"context"
	"database/sql"
	"strings"
	"time"
)

// shortestRef is how much of an id, after its prefix, may stand for it.
const shortestRef = 3

// moment is now, as precise as it is kept.
func (s *Store) moment() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// named finds a record by id, by name, or by the unique beginning of an id, with
// or without its prefix.
func named[T any, P record[T]](ctx context.Context, s *Store, q querier, ref string) (T, error) {
	var none T
	what := P(nil).kind().what
	missing := Errorf(NotFound, "there is no %s %.60q", what, ref)
	if ref == "" {
		return none, Errorf(NotFound, "no %s is named", what)
	}
	found, err := all[T, P](ctx, q, query[T, P]()+"id = ?1 or name = ?1 order by id <> ?1 limit 3", ref)
	if err != nil {
		return none, s.explain(err)
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1 && *P(&found[0]).row()[1].(*string) == ref:
		return found[0], nil
	case len(found) > 1:
		return none, Errorf(Invalid, "more than one %s is named %q; use the id", what, ref)
	}
	_, tail, prefixed := strings.Cut(ref, "_")
	if !prefixed {
		tail = ref
	}
	if len(tail) < shortestRef || strings.ContainsAny(ref, "*?[") {
		return none, missing
	}
	pattern := ref + "*"
	if !prefixed {
		pattern = "*_" + ref + "*"
	}
	found, err = all[T, P](ctx, q, query[T, P]()+"id glob ? limit 2", pattern)
	switch {
	case err != nil:
		return none, s.explain(err)
	case len(found) == 0:
		return none, missing
	case len(found) > 1:
		return none, Errorf(Invalid, "more than one %s begins with %q; give more of the id", what, ref)
	}
	return found[0], nil
}

// insert adds a record, whose number is set.
func insert[T any, P record[T]](ctx context.Context, tx *sql.Tx, v P, taken error) error {
	k, row := v.kind(), v.row()
	_, rest, _ := strings.Cut(k.columns, ", ")
	got, err := tx.ExecContext(ctx, "insert into "+k.table+" ("+rest+") values ("+places(len(row)-1)+")", row[1:]...)
	if unique, foreign := constraint(err); unique && taken != nil {
		return taken
	} else if foreign {
		return Errorf(NotFound, "what it belongs to is not there any more")
	}
	if err != nil {
		return err
	}
	*row[0].(*int64), err = got.LastInsertId()
	return err
}

// update writes a record that is there.
func update[T any, P record[T]](ctx context.Context, tx *sql.Tx, v P, taken error) error {
	k, row := v.kind(), v.row()
	_, rest, _ := strings.Cut(k.columns, ", ")
	_, err := tx.ExecContext(ctx, "update "+k.table+" set "+assignments(rest)+" where n = ?", append(row[1:len(row):len(row)], row[0])...)
	if unique, foreign := constraint(err); unique && taken != nil {
		return taken
	} else if foreign {
		return Errorf(NotFound, "what it refers to is not there any more")
	}
	return err
}

// remove deletes the record of an id.
func remove[T any, P record[T]](ctx context.Context, tx *sql.Tx, id string) error {
	what := P(nil).kind().what
	got, err := tx.ExecContext(ctx, "delete from "+P(nil).kind().table+" where id = ?", id)
	if _, foreign := constraint(err); foreign {
		return Errorf(InUse, "the %s is still in use", what)
	}
	if err != nil {
		return err
	}
	if n, err := got.RowsAffected(); err != nil || n == 0 {
		return Errorf(NotFound, "there is no %s %.60q", what, id)
	}
	return nil
}
