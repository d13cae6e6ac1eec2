// Package rawio reads and writes non-blocking descriptors by raw system calls, which are not
// announced to Go's scheduler.
//
// Such a call never blocks, so the scheduler need not know of it. For an announced call after
// a pause, the scheduler wakes its monitor thread, which delays each keystroke, and it may
// give the processor to another goroutine although the call returns at once.
//
// Use the package for sockets in Go's poller and for writing to ttys there, within the Read
// and Write of a syscall.RawConn, which also keep the descriptor from being closed meanwhile.
// Read a tty only when the poller, or NewTTY's Read, says that there is something to read:
// otherwise the read waits for a worker of the kernel, which may be late on a busy machine.
//
// A File (Open, Socket) is a descriptor outside of Go's poller. Go's poller waits for input
// and for room at once, and a unix socket or a terminal reports room whenever the other side
// has read, which wakes the writer for nothing. A File waits for input only, and for room
// only while a write has to wait.
//
// The package has no state. It must not be used on descriptors that may block.
package rawio
