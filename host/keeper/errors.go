package keeper

import (
	"errors"
	"fmt"
)

// Errors that callers branch on. What Client returns wraps them and says more.
var (
	ErrNoDir         = errors.New("no such directory")
	ErrNoCommand     = errors.New("command not found")
	ErrNotExecutable = errors.New("not executable")
	ErrExists        = errors.New("id in use")
	ErrInvalid       = errors.New("invalid request")
	ErrUnknown       = errors.New("unknown id")
	ErrRunning       = errors.New("still running")
	ErrClosing       = errors.New("the keeper is shutting down")
	ErrVersion       = errors.New("no common protocol version")
	// ErrFull says that there are too many children, files or descriptors.
	ErrFull = errors.New("the keeper is full")

	// ErrSuperseded ends a connection when another host says hello.
	ErrSuperseded = errors.New("another host took over")
	// ErrNotRunning says that no keeper listens (Dial).
	ErrNotRunning = errors.New("no keeper is running")
	// ErrConnClosed is returned by calls after Close.
	ErrConnClosed = errors.New("the connection to the keeper is closed")
)

// codes are the sentinels' names on the wire.
var codes = map[string]error{
	"no-dir":         ErrNoDir,
	"no-command":     ErrNoCommand,
	"not-executable": ErrNotExecutable,
	"exists":         ErrExists,
	"invalid":        ErrInvalid,
	"unknown":        ErrUnknown,
	"running":        ErrRunning,
	"closing":        ErrClosing,
	"version":        ErrVersion,
	"full":           ErrFull,
	"superseded":     ErrSuperseded,
}

// fault is an error on the wire. It carries the whole text, and the code of the
// sentinel that it wraps.
type fault struct {
	Code string `json:"code,omitempty"`
	Text string `json:"text"`
}

func newFault(err error) *fault {
	f := &fault{Text: err.Error()}
	for code, sentinel := range codes {
		if errors.Is(err, sentinel) {
			f.Code = code
			break
		}
	}
	return f
}

func (f *fault) Error() string { return f.Text }

// err is f, or nil without one.
func (f *fault) err() error {
	if f == nil {
		return nil
	}
	return f
}

// Unwrap gives the sentinel, or nil for a code of a newer keeper.
func (f *fault) Unwrap() error { return codes[f.Code] }

// because words an error whose text is already complete around a sentinel.
func because(sentinel error, format string, args ...any) error {
	return &reason{fmt.Sprintf(format, args...), []error{sentinel}}
}

type reason struct {
	text  string
	under []error
}

func (r *reason) Error() string   { return r.text }
func (r *reason) Unwrap() []error { return r.under }
