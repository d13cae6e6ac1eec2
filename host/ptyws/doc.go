// Package ptyws is the front for simple web and script clients: the pty:*
// protocol over WebSocket, and two HTTP requests beside it.
//
//	GET /pty         without an upgrade: the terminals, a JSON array
//	POST /pty/spawn  {cwd?, command?, title?, cols?, rows?}: a new terminal of
//	                 the caller's; answers with what GET /pty says of it
//	GET /pty         with an upgrade: pty:attach, pty:detach, pty:input,
//	                 pty:resize; pty:attached, pty:output, pty:exit, pty:error;
//	                 and {type: "terminal", event, terminal, output?} when a
//	                 terminal is created, promoted, closed. With ?output=1 also
//	                 the output of agents' terminals that are not attached.
//
// It translates to AHP, on a connection in the caller's name that it is given;
// authentication and policy are the host's (docs/contributing/decisions.md §49).
//
// # Concurrency and bounds
//
// A socket has one AHP connection. What the host says reaches the WebSocket from
// that connection's reader, what the client says the host from the socket's own
// goroutine, and a lock orders the writes. A client that does not read fills its
// AHP connection's queue, and the host closes that as it does any slow viewer;
// the socket ends with it. Messages, attached terminals, and the time of a write
// are bounded. Nothing is left when a socket ends: terminals stay as they are.
package ptyws
