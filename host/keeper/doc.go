// Package keeper is the process that owns the ptys and their children, and the
// host's client for it. The host may crash or be replaced; the keeper goes on
// holding every shell, so it is tiny and does nothing clever (design.md, rule
// 8): it starts children, hands out the master side of their ptys, reaps them
// and remembers how they ended until it is told to forget. It never reads from
// or writes to a pty.
//
// # Protocol
//
// Frames over a SOCK_STREAM unix socket: a length of four bytes, big endian,
// then that many bytes of JSON; descriptors travel as SCM_RIGHTS with the first
// byte of the frame that names them. The host opens with hello and the range of
// versions it speaks; the keeper chooses one, reports every exit that was not
// forgotten, and then answers requests in order. Exits are reported as they
// happen. A second host that says hello supersedes the first, whose connection
// is closed with a stated reason.
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
