// Package client is an AHP client: handshake, subscriptions, dispatch
// and reconnect.
//
// A Client owns one connection at a time and the list of channels it is
// subscribed to. Everything that the host says about them reaches the Sink in
// the order of the wire, one call at a time, from the goroutine that reads the
// connection: for each channel a Snapshot, then the Actions that follow it,
// none twice and none left out. The client lock is never held meanwhile, so a
// Sink may call Dispatch and Unsubscribe; it must not call what waits (Call,
// Subscribe, DispatchWait, Close).
//
// Screens first. With a Skimmer a terminal of which there is nothing yet comes twice: its
// screen, and the whole once the screens of all that were asked for have come.
//
// Reconnect. After a lost connection the client dials again, at once and then
// with pauses that grow to Options.MaxPause, and resumes with the request
// reconnect. What was missed reaches the Sink as Actions where the host can
// replay, and as new Snapshots where it cannot; Gone names channels that did not
// survive. A host that does not know the client any more is asked with initialize
// on the same socket. A host that refuses (HTTP 401 or 403, an error answer to
// initialize, close codes 1000, 1002 and 1008) ends the client; one that says
// that it goes away (1001) has Options.Away to come back; one that makes room for
// its successor (1012) is tried in short pauses.
//
// Silence. While an action or a request of Call is unanswered and the host says
// nothing, it is asked with ping whether it is there (vigil.go). A stopped process or
// a network that swallows everything is reported (Observer), and given up where
// Options.GiveUp says so. While all is answered no timer runs, and none goes on for
// what a host leaves unanswered that answers the ping: a wait may take hours.
//
// Dispatch. An action is pending until its echo. Pending ones are sent again
// after a reconnect, in order and with their first clientSeq, by which the host
// processes each once (AHP, Lifecycle); hosts older than 1.0 get no second copy of
// typed input. After initialize their outcome is unknown and nothing is sent again;
// an Observer is told which typed input that concerns. Nothing is accepted while
// there is no connection. At most maxPending actions and maxPendingBytes are kept
// for this; older ones are given up.
//
// Mirror is a Sink that keeps the states.
package client
