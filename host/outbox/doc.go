// Package outbox queues what the host sends to its clients. Conn is the sending half of a
// connection; Outbox is what all connections share.
//
// Each connection's queue is bounded, and so is what waits for all of them. A connection that
// would exceed its bound is closed with a reason, and the client comes back for a replay or a
// snapshot: a slow viewer delays no other. While the host answers a request with states, Hold
// keeps other messages back so that they follow the reply.
//
// The Outbox is guarded by the lock of the host's state: one goroutine at a time calls its
// methods, in the order of the state's changes. A Conn's exported methods may be called from
// any goroutine. Nothing here waits for a client.
package outbox
