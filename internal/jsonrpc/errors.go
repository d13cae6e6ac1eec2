package jsonrpc

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Error codes of JSON-RPC 2.0.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

var (
	// ErrQueueFull refuses a message that does not fit into the write queue.
	ErrQueueFull = errors.New("the peer reads too slowly: write queue full")
	// ErrClosed is returned for everything on a connection that has ended.
	ErrClosed = errors.New("connection closed")
	// ErrReplied is returned by a handler that has called Reply, or will.
	ErrReplied = errors.New("replied already")
	// ErrInHandler refuses a Call by a handler: the answer could not be read before the
	// handler returns.
	ErrInHandler = errors.New("a handler must not wait for its own peer")
)

// Error is an error answer. Data is a json.RawMessage when it came from the
// peer.
type Error struct {
	Code    int
	Message string
	Data    any
}

func (e *Error) Error() string { return e.Message }

func (e *Error) RPCError() (code int, message string, data any) {
	return e.Code, e.Message, e.Data
}

// Status codes of the WebSocket protocol (RFC 6455, 7.4.1) by which connections are
// closed.
const (
	CloseDone     = 1000 // reconnecting is of no use
	CloseAway     = 1001 // the host stops
	CloseProtocol = 1002 // there is no common version
	ClosePolicy   = 1008 // not allowed any more
	CloseFailed   = 1011 // after a panic
	CloseRestart  = 1012 // another process takes over at once
	CloseOverload = 1013 // too slow, or stuck: come back later
)

// CloseError says that the peer has closed the connection, with a status code: 1005
// for none.
type CloseError struct {
	Code   int
	Reason string
}

// Error names the reason, or the code where there is none.
func (e *CloseError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("closed by the peer: %s (%d)", e.Reason, e.Code)
	}
	return fmt.Sprintf("closed by the peer (%d)", e.Code)
}

// wireError is an error as an answer carries it.
type wireError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// toWire gives an error its wire form: its own, or -32603 with its text.
func toWire(err error) wireError {
	var r interface {
		RPCError() (code int, message string, data any)
	}
	if !errors.As(err, &r) {
		return wireError{Code: CodeInternal, Message: err.Error()}
	}
	code, message, data := r.RPCError()
	w := wireError{Code: code, Message: message}
	if data != nil {
		if b, err := marshal(data); err == nil {
			w.Data = b
		}
	}
	return w
}
