// Package carry brings AHP's messages to a host that no client reaches directly, over core
// NATS: the hub's front has a WebSocket at /hosts/NAME/ahp, an address as any other, and the
// process beside the host has one to the host. Nothing is stored.
//
// A stream begins by a request to the host, with the token that the client gave: the host
// itself lets it in or not, as on any of its listeners, and its answer is the client's. The
// hub passes the token on and keeps it nowhere; it trusts no host, and no host trusts it. Then
// both sides send frames: parts of messages of at most PartBytes, numbered, so that one that
// is lost ends the stream instead of passing unseen, and the client comes back by AHP's
// replay. At most Window bytes are on the way in each direction; the rest waits in the
// sender's socket, so that one who takes nothing costs no memory and slows nobody else. A side
// that hears nothing asks by a request whether the other one is there.
//
// On the host's side each stream has a connection of its own to NATS: a slow one does not
// hold up others, nor the beats that say that the host is here.
//
// Bridge is the hub's side, Host the other. Each stream is three goroutines, which end with it.
package carry
