package filetree

import (
	"errors"
	"fmt"
	"net/http"
)

// What can be wrong, for errors.Is. The status codes of the answers are those of
// U65 where it names one.
var (
	ErrInvalid      = sentinel(http.StatusBadRequest, "not valid")
	ErrNotFound     = sentinel(http.StatusNotFound, "not found")
	ErrConflict     = sentinel(http.StatusConflict, "conflict")                   // both sides changed, stale version, name taken
	ErrMismatch     = sentinel(http.StatusPreconditionFailed, "version mismatch") // of the file
	ErrPrecondition = sentinel(http.StatusPreconditionRequired, "precondition required")
	ErrTooLarge     = sentinel(http.StatusRequestEntityTooLarge, "too large")
	ErrUnsupported  = sentinel(http.StatusUnprocessableEntity, "not supported") // by this kind of workspace or repository
	ErrFull         = sentinel(http.StatusInsufficientStorage, "no space left")
	ErrDamaged      = sentinel(http.StatusInternalServerError, "damaged")
)

// reason is the kind of an error.
type reason struct {
	status int
	text   string
}

func sentinel(status int, text string) error { return &reason{status, text} }

func (r *reason) Error() string { return r.text }

// Failure is an error of this package: what was being done, what was wrong, what to
// do.
type Failure struct {
	kind *reason
	text string
	err  error // may be nil
}

func (f *Failure) Error() string {
	if f.err != nil {
		return f.text + ": " + f.err.Error()
	}
	return f.text
}

// Unwrap gives the kind and the cause.
func (f *Failure) Unwrap() []error {
	if f.err == nil {
		return []error{f.kind}
	}
	return []error{f.kind, f.err}
}

// StatusCode is the HTTP status that the error is answered with.
func (f *Failure) StatusCode() int { return f.kind.status }

// Failf makes a Failure of a kind.
func Failf(kind error, format string, args ...any) error { return Wrap(nil, kind, format, args...) }

// Wrap makes a Failure of a kind with a cause.
func Wrap(err, kind error, format string, args ...any) error {
	var r *reason
	if !errors.As(kind, &r) {
		panic("workspace: an error has no kind")
	}
	return &Failure{kind: r, text: fmt.Sprintf(format, args...), err: err}
}
