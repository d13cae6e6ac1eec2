// Package jsonrpc is a JSON-RPC 2.0 peer over whole messages.
//
// A Conn owns a Transport, which moves one JSON text at a time, and serves both
// directions over it: its Handler gets the other side's requests and
// notifications, Call and Notify send one's own. Ids are numbers. Batches are
// refused.
//
// Reading. Run reads and handles one message after the other, in the order of
// arrival: a request's handler, a notification's, and the callback of an
// answered Go never run at the same time. A handler that takes long holds up
// its connection and no other. A handler must therefore not wait for an answer
// of its own peer (Call refuses that); it may start one with Go. The context
// of a handler ends when the connection does, also while the handler runs: once
// a handler has taken long, messages are read ahead of it, up to a bound.
//
// Writing. Send, Notify, Call and answers put a message into a queue bounded in
// bytes and messages, and never block. The caller writes messages that are small and
// that the transport takes at once, the connection's writer goroutine all others.
// The overflow rule: a message that does not fit is refused with ErrQueueFull
// and the queue stays as it is; the caller decides whether to drop, to wait for
// Drained or to Close. Answers are never refused. Instead nothing is read while the
// queue is over its bounds, so that a peer that sends requests and does not read the
// answers only stops itself.
//
// Errors on the wire have a code, a message and data. A handler's error that
// has the method RPCError() (code int, message string, data any) keeps them;
// any other becomes -32603. The package knows nothing of AHP.
package jsonrpc
