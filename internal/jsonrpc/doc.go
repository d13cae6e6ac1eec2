// Package jsonrpc is a JSON-RPC 2.0 peer over whole messages.
//
// A Conn owns a Transport, which moves one JSON text at a time, and serves both
// directions over it: its Handler gets the peer's requests and notifications; Call and
// Notify send our own. Ids are numbers. Batches are refused.
//
// Reading. Run reads and handles one message after the other, in the order of arrival:
// handlers and the callbacks of Go never run at the same time. A slow handler delays its
// own connection only. A handler must not wait for an answer of its own peer (Call refuses
// that); it may send a request with Go. The context of a handler ends when the connection
// does, also while the handler runs: once a handler is slow, messages are read ahead of it,
// up to a bound.
//
// Writing. Send, Notify, Call and answers put a message into a queue, which is bounded in
// bytes and messages, without waiting for the peer. The calling goroutine writes small
// messages that the transport takes at once; the writer goroutine writes all others. A
// message that does not fit into the queue is refused with ErrQueueFull, and the queue stays
// as it is: the caller decides whether to drop the message, to wait for Drained or to Close.
// Answers are never refused. Instead nothing is read while the queue is over its bounds: a
// peer that sends requests and does not read the answers stops only itself.
//
// Errors on the wire have a code, a message and data. A handler's error that
// has the method RPCError() (code int, message string, data any) keeps them;
// any other becomes -32603. The package knows nothing of AHP.
package jsonrpc
