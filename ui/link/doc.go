// Package link is the connection to the host as the interface uses it: what it asks
// of one (Host), how the connection stands (Link), and what the connection brings
// (Sink).
//
// The Sink has a lock and a bounded inbox: the connection's goroutine puts into it
// and the event loop takes out. What terminals print goes by it straight into their
// feeds. The Link belongs to the event loop.
package link
