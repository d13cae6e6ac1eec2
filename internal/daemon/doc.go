// Package daemon is what the host's and the keeper's processes have in common. Only
// one of each runs for a runtime and a state directory (Place). It can be reached
// even if its socket, or the directory of that, was removed: whoever looks for it
// sends it a signal, and it binds the socket again (Listener).
//
// A place is one byte of a lock file, held with a POSIX record lock. The kernel
// says who holds it and lets go of it when that process ends, so the file is never
// stale, and children don't inherit it. All functions may be called from any
// goroutine; a Listener's too. Who is at the other end of a unix socket is asked here as well.
package daemon
