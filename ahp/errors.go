package ahp

import (
	"errors"
	"fmt"
)

// Error codes of JSON-RPC 2.0 and of AHP (AHP, Error Codes). -32006 is unassigned.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603

	CodeSessionNotFound      = -32001
	CodeProviderNotFound     = -32002
	CodeSessionAlreadyExists = -32003
	CodeTurnInProgress       = -32004
	CodeUnsupportedVersion   = -32005
	CodeAuthRequired         = -32007
	CodeNotFound             = -32008
	CodePermissionDenied     = -32009
	CodeAlreadyExists        = -32010
	CodeConflict             = -32011
)

// Error is an error on the wire. Message is shown to people as it is: it says what was being done,
// what was wrong and what to do.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"` // anything that marshals to JSON; nil for none
}

// NotStarted is the data of createTerminal's error if the command can't be run.
type NotStarted struct {
	ExitCode int `json:"tandemux/exitCode,omitempty"` // the exit code a shell has for that
}

// Error returns the message without the code.
func (e *Error) Error() string { return e.Message }

// RPCError returns the members for the JSON-RPC layer, which does not know this package.
func (e *Error) RPCError() (code int, message string, data any) {
	return e.Code, e.Message, e.Data
}

// Is makes errors.Is compare codes, so that a caller may write
// errors.Is(err, &ahp.Error{Code: ahp.CodeNotFound}).
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// CodeOf returns the wire code of the error in err's chain that has one, or 0.
func CodeOf(err error) int {
	if e := FromRPC(err); e != nil {
		return e.Code
	}
	return 0
}

// FromRPC returns the error in err's chain that has a wire form, of whichever package, as an
// *Error, or nil.
func FromRPC(err error) *Error {
	if e, is := errors.AsType[*Error](err); is {
		return e
	}
	var r interface {
		RPCError() (code int, message string, data any)
	}
	if !errors.As(err, &r) {
		return nil
	}
	code, message, data := r.RPCError()
	return &Error{Code: code, Message: message, Data: data}
}

func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// InvalidRequest returns an error -32600: the request is not allowed now, or is not a request.
func InvalidRequest(format string, args ...any) *Error {
	return Errorf(CodeInvalidRequest, format, args...)
}

// MethodNotFound returns an error -32601.
func MethodNotFound(method string) *Error {
	return Errorf(CodeMethodNotFound, "method %q is not known here", method)
}

// InvalidParams returns an error -32602.
func InvalidParams(format string, args ...any) *Error {
	return Errorf(CodeInvalidParams, format, args...)
}

// Internal returns an error -32603: an unexpected failure.
func Internal(format string, args ...any) *Error { return Errorf(CodeInternal, format, args...) }

// NotFound returns an error -32008: a file, URI, terminal or client record is missing.
func NotFound(format string, args ...any) *Error { return Errorf(CodeNotFound, format, args...) }

// SessionNotFound returns an error -32001.
func SessionNotFound(format string, args ...any) *Error {
	return Errorf(CodeSessionNotFound, format, args...)
}

// PermissionDenied returns an error -32009.
func PermissionDenied(format string, args ...any) *Error {
	return Errorf(CodePermissionDenied, format, args...)
}

// AlreadyExists returns an error -32010: the URI is taken.
func AlreadyExists(format string, args ...any) *Error {
	return Errorf(CodeAlreadyExists, format, args...)
}

// Conflict returns an error -32011.
func Conflict(format string, args ...any) *Error { return Errorf(CodeConflict, format, args...) }

// UnsupportedVersion returns an error -32005, after which the host closes the connection.
func UnsupportedVersion(offered []string) *Error {
	const quoted = 8 // the list may be very long
	more := ""
	if len(offered) > quoted {
		offered, more = offered[:quoted], " and more"
	}
	e := Errorf(CodeUnsupportedVersion, "no common protocol version: offered %q%s, this host speaks %q", offered, more, Supported())
	e.Data = map[string][]string{"supportedVersions": Supported()} // required by AHP
	return e
}
