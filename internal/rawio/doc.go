// Package rawio reads and writes non-blocking descriptors by raw system calls, of
// which Go's scheduler knows nothing.
//
// Such a call never blocks, so the scheduler has nothing to do. For an ordinary
// call after a pause it wakes its monitor thread, which delays each keystroke, and
// it may give the processor to another goroutine although the call returns at once.
//
// Use it for sockets in Go's poller and for writing to ttys there, within the Read
// and Write of a syscall.RawConn, which also keep the descriptor from being closed
// meanwhile. Read a tty only when the poller, or NewTTY's Read, says that there is
// something: an empty one makes the read wait for a worker of the kernel, which may
// be late on a busy machine.
//
// A File (Open, Socket) is a descriptor that is not in Go's poller, which waits for both
// ways at once: a unix socket or a terminal wakes who wrote to it when the other side has
// read. It waits for input, and only for who must wait for room for that.
//
// The package has no state. It must not be used on descriptors that may block.
package rawio
