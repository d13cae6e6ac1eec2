// Package keeper is the process that owns the ptys and their child processes, and the host's
// client for it. When the host crashes or is replaced, the keeper still holds every shell, so it
// is small and simple (docs/contributing/decisions.md §38). It starts children, hands out the
// master side of their ptys, reaps them, and remembers how they ended until it is told to forget.
// It also holds the descriptors of files in which a host leaves its state for the next one
// (package journal). It never reads or writes a pty or a file. A child's standard
// input can be a descriptor that comes with the request (Spec.Stdin); the keeper does not keep it.
//
// # Protocol
//
// Frames over a SOCK_STREAM unix socket: a length of four bytes, big endian, then that many
// bytes of JSON. Descriptors travel as SCM_RIGHTS with the first byte of the frame that names
// them. The host begins with hello and the range of versions it speaks. The keeper chooses one,
// reports every exit that was not forgotten, and then answers requests in order. It reports
// further exits as they happen. A second host that says hello supersedes the first, whose
// connection is closed with a reason and whose late requests are refused.
//
// A keeper outlives many releases, so new versions only add: a host speaks MinVersion to
// ProtocolVersion. Without a common version the host's error (ErrVersion) says which of the two
// is older and what to do; the shells keep running.
//
// # Its end
//
// A keeper ends by Shutdown, by SIGTERM or by SIGKILL. Service managers and a shutdown of the
// machine send SIGTERM and soon SIGKILL. If the keeper ignored SIGTERM, its children would get
// no time to end, so it ends them in order. It survives all other signals, a replaced or removed
// program file, malformed messages, panics in requests, and a full table of descriptors
// (children and files leave some free, so that a new host is always served). It cannot survive
// the end of its login's cgroup: see LeaveLogin and CheckLogout (logout.go).
//
// # Ownership and concurrency
//
// The keeper holds one descriptor of each pty's master and the host another. Closing the host's
// ends nothing; Forget closes the keeper's. Until Forget, an ended child keeps its exit and its
// pty, with the output that is still in it. All methods of Client may be called from any
// goroutine.
//
// # What it does not do
//
// No terminal emulation, no journal, no policy, no restarting of children. It trusts every peer
// that can connect: the socket is 0600 and the peer's uid must be its own.
package keeper
