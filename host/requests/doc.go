// Package requests serves AHP connections: it reads what clients request and dispatch, decides whether
// they may, and calls the handlers in two tables, Methods and Actions, which the package's users fill.
//
// Each connection has a goroutine that handles its messages in order. While a request that subscribes
// is being answered, the connection's actions are held back, so that the reply precedes all actions
// after its snapshot. What takes time is answered later, by Conn.Aside or by whoever keeps Conn.Req.
//
// Requests for states wait for each other and are handled in batches (states.go), each while the lock
// is held once. Clients that fall behind together come back together, and a terminal's state is made,
// encoded and stored only once for all of them.
//
// A clientId belongs to the principal that first used it. Package core remembers the results of
// numbered dispatches, so one that is sent again after a lost connection is not done twice. A token
// that is bound to a terminal, and a principal in a sandbox, reach what Channels.Reaches allows;
// everything else is refused in the same words, whether it exists or not.
//
// A panic while a message is handled is logged and ends only that connection.
//
// The package knows the handshake, subscriptions and tokens, but no kind of channel: those are behind
// Channels.
package requests
