// Package daemon is what the host's and the keeper's processes have in common:
// each is the only one of its kind (Place), and can be found by whoever knows
// where it belongs, also when its socket or the whole directory of that was
// removed: it is signalled and binds the socket anew (Listener).
//
// A place is one byte of a lock file, held with a POSIX record lock. The kernel
// says who holds it and lets go of it when that process ends, so the file is never
// stale, and children don't inherit it. All functions may be called from any
// goroutine; a Listener's too.
package daemon
