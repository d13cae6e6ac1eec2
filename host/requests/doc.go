// Package requests serves AHP's connections: it reads what clients ask and dispatch,
// decides whether they may, and has it done by the rows of two tables, Methods and
// Actions, which its users fill.
//
// One goroutine per connection handles its messages in order. While a request that
// subscribes is answered, the connection's actions are held back, so that the reply
// precedes all actions after its snapshot. What takes its time is answered later
// (Conn.Aside) or by whoever keeps Conn.Req.
//
// Requests that give states wait for one another and are done in batches (states.go), each
// under one hold of the lock: who falls behind with others comes back with them, to a
// terminal's state that is made, encoded and in memory once.
//
// A clientId belongs to the principal that first used it; what its numbered dispatches
// became is remembered by package core, so that one that is sent again after a lost
// connection is not done twice. A token that is bound to one terminal, and who is in a
// sandbox, reach what Channels.Reaches says; whatever else they name is refused in the
// same words, there or not.
//
// A panic while a message is handled is logged and ends that connection alone.
//
// It knows the handshake, subscriptions and tokens, and no kind of channel: those are
// Channels'.
package requests
