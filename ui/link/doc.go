// Package link is the interface's side of the connection to the host: what the interface
// needs of a connection (Host), the state of the connection (Link), and what arrives over
// it (Sink).
//
// The Sink has a lock and a bounded inbox, which the connection's goroutine fills and the
// event loop empties. Terminals' output goes straight into their feeds instead. Only the
// event loop may use the Link.
package link
