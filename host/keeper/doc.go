// Package keeper is the process that owns the ptys and their children, and the
// host's client for it. The host may crash or be replaced; the keeper goes on
// holding every shell, so it is tiny and does nothing clever (docs/contributing/decisions.md
// §38): it starts children, hands out the master side of their ptys, reaps them and
// remembers how they ended until it is told to forget; and it holds the descriptors
// of files in which a host leaves its state for the next one (package journal). It
// never reads from or writes to a pty or a file.
//
// # Protocol
//
// Frames over a SOCK_STREAM unix socket: a length of four bytes, big endian,
// then that many bytes of JSON; descriptors travel as SCM_RIGHTS with the first
// byte of the frame that names them. The host opens with hello and the range of
// versions it speaks; the keeper chooses one, reports every exit that was not
// forgotten, and then answers requests in order. Exits are reported as they
// happen. A second host that says hello supersedes the first, whose connection
// is closed with a stated reason and whose late requests are refused.
//
// A keeper outlives many releases, so versions only add: a host speaks
// MinVersion to ProtocolVersion. Two that have no version in common part with a
// sentence that says who is older and what to do (ErrVersion); the shells run on.
//
// # Its end
//
// A keeper ends by Shutdown, by SIGTERM or by SIGKILL. SIGTERM is how service
// managers and a shutdown of the machine end things, with SIGKILL to follow, so
// outliving it would only cost the children their grace: it ends them in order.
// All other signals are survived, and a program file that is replaced or
// removed, malformed messages, panics in requests, and a full table of
// descriptors (children and files leave some free, so that a new host is always
// served). What a process cannot survive is the end of its login's cgroup:
// LeaveLogin and CheckLogout (logout.go).
//
// # Ownership and concurrency
//
// The keeper holds one copy of each pty's master and each host another. Closing
// the host's copy ends nothing; Forget closes the keeper's. A child that nobody
// forgets keeps its pty, with the output that is still in it, and its exit.
// All methods of Client may be called from any goroutine.
//
// # What it does not do
//
// No terminal emulation, no journal, no policy, no restarting of children. It
// trusts whoever can connect: the socket is 0600 and the peer's uid must be its
// own.
package keeper
