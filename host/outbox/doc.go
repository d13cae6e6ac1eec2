// Package outbox holds what the host sends to its clients' connections until it is
// written: Conn is the sending half of a connection, Outbox what all of them share.
//
// A connection's queue is bounded, and so is what waits for all of them. One that would
// overflow is closed with a reason, and the client comes back for a replay or a snapshot: a
// viewer that is slow delays nobody else. While a request that gives states is answered, what
// is sent waits, so that the reply precedes it (Hold).
//
// Whoever changes the host's state has the Outbox to itself meanwhile: its Begin, End,
// Send and what they call are for one goroutine at a time, in the order of the changes.
// A Conn's other methods may be called from any goroutine. Nothing here waits for a client.
package outbox
