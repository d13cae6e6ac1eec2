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
	// ErrReplied is returned by a handler that has called Reply itself, or
	// will.
	ErrReplied = errors.New("replied already")
	// ErrInHandler refuses a Call whose answer could not be read before the
	// handler that makes it returns.
	ErrInHandler = errors.New("a handler must not wait for its own peer")
)

// Error is an error answer. Data is a json.RawMessage when it came from the
// peer.
type Error struct {
	Code    int
	Message string
	Data    any
}

// Error is the peer's message.
func (e *Error) Error() string { return e.Message }

// RPCError gives the parts.
func (e *Error) RPCError() (code int, message string, data any) {
	return e.Code, e.Message, e.Data
}

// CloseError says that the peer has closed the connection, with a WebSocket
// status code: 1000 done, 1001 going away, 1005 none given, 1008 not allowed,
// 1009 message too big, 1012 restart, 1013 try again later.
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
