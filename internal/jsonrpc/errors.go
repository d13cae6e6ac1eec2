package jsonrpc

import "errors"

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
