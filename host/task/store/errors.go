package store

import (
	"errors"
	"fmt"
	"net/http"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Kind is what sort of thing went wrong.
type Kind int

const (
	NotFound Kind = iota + 1
	Exists        // a name is taken
	InUse         // something else needs it
	Stale         // it changed since the caller looked
	Invalid       // the values make no sense
	Full          // the disk is full
	Damaged       // the database is
	Busy          // another process holds it
	TooLarge
	Forbidden // the caller may see it, but not do that
)

var statuses = map[Kind]int{
	NotFound:  http.StatusNotFound,
	Exists:    http.StatusConflict,
	InUse:     http.StatusConflict,
	Stale:     http.StatusConflict,
	Invalid:   http.StatusUnprocessableEntity,
	Full:      http.StatusInsufficientStorage,
	Damaged:   http.StatusServiceUnavailable,
	Busy:      http.StatusServiceUnavailable,
	TooLarge:  http.StatusRequestEntityTooLarge,
	Forbidden: http.StatusForbidden,
}

// Error is what all methods fail with that is the caller's to understand. Its
// text is for people.
type Error struct {
	Kind  Kind
	text  string
	cause error
}

func (e *Error) Error() string { return e.text }
func (e *Error) Unwrap() error { return e.cause }

// StatusCode is the HTTP status that answers it.
func (e *Error) StatusCode() int { return statuses[e.Kind] }

// Is makes every error of a kind the same as that kind's sentinel.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Kind == e.Kind && t.text == sentinel
}

const sentinel = "\x00"

// What callers branch on, by errors.Is.
var (
	ErrNotFound = &Error{Kind: NotFound, text: sentinel}
	ErrExists   = &Error{Kind: Exists, text: sentinel}
	ErrInUse    = &Error{Kind: InUse, text: sentinel}
	ErrStale    = &Error{Kind: Stale, text: sentinel}
	ErrInvalid  = &Error{Kind: Invalid, text: sentinel}
	ErrFull     = &Error{Kind: Full, text: sentinel}
	ErrDamaged  = &Error{Kind: Damaged, text: sentinel}
	ErrBusy     = &Error{Kind: Busy, text: sentinel}
	ErrTooLarge = &Error{Kind: TooLarge, text: sentinel}
)

// Errorf makes an error of a kind. Who refuses something on behalf of the records
// may use it too.
func Errorf(kind Kind, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, text: err.Error(), cause: errors.Unwrap(err)}
}

// explain gives the errors of SQLite that have a meaning for callers a kind.
func (s *Store) explain(err error) error {
	var e *sqlite.Error
	var explained *Error
	if errors.As(err, &explained) || !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		s.condemn(err)
		return Errorf(Damaged, "the database of tasks %s is damaged; it is moved aside when the host starts again: %w", s.path, err)
	case lib.SQLITE_FULL:
		return Errorf(Full, "the disk of %s is full; nothing was changed", s.path)
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return Errorf(Busy, "the database of tasks %s is held by another process", s.path)
	case lib.SQLITE_TOOBIG:
		return Errorf(TooLarge, "that is more than the database of tasks takes")
	}
	return err
}

// constraint tells which kind of constraint an error is about.
func constraint(err error) (unique, foreign bool) {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false, false
	}
	switch e.Code() {
	case lib.SQLITE_CONSTRAINT_UNIQUE, lib.SQLITE_CONSTRAINT_PRIMARYKEY:
		return true, false
	case lib.SQLITE_CONSTRAINT_FOREIGNKEY:
		return false, true
	}
	return false, false
}
