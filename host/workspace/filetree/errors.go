package filetree

import (
	"net/http"

	"tandemux/internal/fault"
)

// What can be wrong, for errors.Is. The status codes of the answers are those of
// U65 where it names one.
var (
	ErrInvalid      = fault.New(http.StatusBadRequest, "not valid")
	ErrNotFound     = fault.New(http.StatusNotFound, "not found")
	ErrConflict     = fault.New(http.StatusConflict, "conflict")                   // both sides changed, stale version, name taken
	ErrMismatch     = fault.New(http.StatusPreconditionFailed, "version mismatch") // of the file
	ErrPrecondition = fault.New(http.StatusPreconditionRequired, "precondition required")
	ErrTooLarge     = fault.New(http.StatusRequestEntityTooLarge, "too large")
	ErrUnsupported  = fault.New(http.StatusUnprocessableEntity, "not supported") // by this kind of workspace or repository
	ErrFull         = fault.New(http.StatusInsufficientStorage, "no space left")
	ErrDamaged      = fault.New(http.StatusInternalServerError, "damaged")
)

// Failf makes an error of a kind.
func Failf(kind *fault.Kind, format string, args ...any) error { return kind.Errorf(format, args...) }
