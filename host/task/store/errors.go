package store

import (
	"errors"
	"net/http"

	"tandemux/host/task/store/postgres"
	"tandemux/internal/fault"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// What can be wrong, for errors.Is and Errorf.
var (
	NotFound  = fault.New(http.StatusNotFound, "not found")
	Exists    = fault.New(http.StatusConflict, "exists")                   // a name is taken
	InUse     = fault.New(http.StatusConflict, "in use")                   // something else needs it
	Stale     = fault.New(http.StatusConflict, "stale")                    // it changed since the caller looked
	Invalid   = fault.New(http.StatusUnprocessableEntity, "not valid")     // the values make no sense
	Full      = fault.New(http.StatusInsufficientStorage, "no space left") // the disk is full
	Damaged   = fault.New(http.StatusServiceUnavailable, "damaged")        // the database is
	Busy      = fault.New(http.StatusServiceUnavailable, "busy")           // another process holds it
	Away      = fault.New(http.StatusServiceUnavailable, "not reachable")  // the database's server
	TooLarge  = fault.New(http.StatusRequestEntityTooLarge, "too large")
	Forbidden = fault.New(http.StatusForbidden, "forbidden") // the caller may see it, but not do that
)

// Errorf makes an error of a kind, which is the caller's to understand. Who refuses
// something on behalf of the records may use it too.
func Errorf(kind *fault.Kind, format string, args ...any) error { return kind.Errorf(format, args...) }

// explain gives the errors of databases that have a meaning for callers a kind.
func (s *Store) explain(err error) error {
	var e *sqlite.Error
	switch {
	case err == nil || fault.Status(err) != 0:
		return err
	case !errors.As(err, &e):
		return explainPostgres(s, err)
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		s.condemn(err)
		return Errorf(Damaged, "the database of tasks %s is damaged; it is moved aside when the host starts again: %w", s.path, err)
	case lib.SQLITE_FULL:
		return s.full()
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return Errorf(Busy, "the database of tasks %s is held by another process", s.path)
	case lib.SQLITE_TOOBIG:
		return Errorf(TooLarge, "that is more than the database of tasks takes")
	}
	return err
}

func (s *Store) full() error {
	return Errorf(Full, "the disk is full: the database of tasks, %s, was not changed", s.name)
}

// constraint tells which kind of constraint an error is about.
func constraint(err error) (unique, foreign bool) {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		code := postgres.Code(err)
		return code == "23505", code == "23503"
	}
	switch e.Code() {
	case lib.SQLITE_CONSTRAINT_UNIQUE, lib.SQLITE_CONSTRAINT_PRIMARYKEY:
		return true, false
	case lib.SQLITE_CONSTRAINT_FOREIGNKEY:
		return false, true
	}
	return false, false
}
