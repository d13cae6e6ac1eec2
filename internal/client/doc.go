// Package client is an AHP client: handshake, subscriptions, dispatch with
// reconciliation, and reconnect.
//
// A Client owns one connection at a time and the list of channels it is
// subscribed to. Everything that the host says about them reaches the Sink in
// the order of the wire, from the goroutine that reads the connection: for each
// channel a Snapshot, then the Actions that follow it, none twice and none
// left out. After a lost connection the client dials again (at once, then with
// growing pauses up to 2 s), resumes with reconnect, and passes on what was
// missed, as Actions where the host could replay and as new Snapshots where it
// could not. Dispatched actions whose outcome is unknown are sent again with
// their first clientSeq, which the host processes once.
//
// Methods may be called from any goroutine, but those that wait (Call,
// Subscribe, DispatchWait, Close) not from within the Sink.
//
// Mirror is a Sink that keeps the states.
package client
