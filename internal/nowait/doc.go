// Package nowait reads and writes non-blocking descriptors by system calls that
// Go's scheduler is not told of.
//
// Such a call never waits, so the scheduler has nothing to do about it. Being
// told, it wakes its monitor thread after each pause, which on the way of a key
// is every time, and may take the processor from a thread that is about to come
// back. For sockets in Go's poller, and for
// writing to ttys there, within syscall.RawConn's Read and
// Write, which also keep the descriptor from being closed meanwhile.
//
// Reading a tty that has nothing waits for the kernel's own worker, which may be
// late on a busy machine: only when the poller, or NewTTY's Read, knows of
// something.
//
// It owns nothing, has no state and must not be used on descriptors that may
// block.
package nowait
