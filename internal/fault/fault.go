package fault

import (
	"errors"
	"fmt"
)

// Kind is what sort of thing went wrong.
type Kind struct {
	status int
	text   string
}

// New makes a kind, which is answered with an HTTP status.
func New(status int, text string) *Kind { return &Kind{status, text} }

func (k *Kind) Error() string { return k.text }

// Errorf makes an error of the kind. With %w in the format it has a cause, too.
func (k *Kind) Errorf(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &fault{kind: k, text: err.Error(), cause: errors.Unwrap(err)}
}

type fault struct {
	kind  *Kind
	text  string
	cause error // may be nil
}

func (f *fault) Error() string { return f.text }

// Unwrap gives the kind and the cause.
func (f *fault) Unwrap() []error {
	if f.cause == nil {
		return []error{f.kind}
	}
	return []error{f.kind, f.cause}
}

// StatusCode is the HTTP status that the error is answered with.
func (f *fault) StatusCode() int { return f.kind.status }

// Status is the HTTP status of an error that has one, of whatever package; else 0.
func Status(err error) int {
	var coded interface{ StatusCode() int }
	if errors.As(err, &coded) {
		return coded.StatusCode()
	}
	return 0
}
