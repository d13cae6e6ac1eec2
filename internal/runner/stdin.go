package runner

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"tandemux/ahp"
)

// feedBytes is how much of our standard input is sent at once.
const feedBytes = 128 << 10

// fed is what the command got of our standard input.
type fed struct {
	passed atomic.Int64 // bytes
	hand   atomic.Int64 // bytes that were read and not yet passed
	cut    atomic.Bool  // it did not get all, as was said
}

// feed passes our standard input on to the command, until it takes no more. The pipe is
// of a host and a connection, and ends with them: then the command has come to the end of
// its input too early, which is said. A host that answers with an error has removed the
// terminal: the command has ended.
func (r *runner) feed(ctx context.Context) {
	if !r.stdin {
		return
	}
	buf := make([]byte, feedBytes)
	for {
		n, err := os.Stdin.Read(buf)
		r.hand.Store(int64(n))
		var got ahp.FeedResult
		failed := r.Call(ctx, ahp.MethodFeed, ahp.FeedParams{Channel: r.uri, Data: buf[:n], End: err != nil}, &got)
		switch {
		case failed == nil && got.Open:
			r.passed.Add(int64(n))
			r.hand.Store(0)
			continue
		case ctx.Err() == nil && (failed != nil && ahp.CodeOf(failed) == 0 || r.f.lost.Load()) && (n > 0 || err == nil):
			r.cutOff()
		default:
			r.hand.Store(0)
		}
		return
	}
}

// starved reports that the command did not get all of our standard input: the connection
// was lost, and there is more.
func (r *runner) starved() bool {
	if r.stdin && r.f.lost.Load() && (r.hand.Load() > 0 || waits(os.Stdin)) {
		r.cutOff()
	}
	return r.cut.Load()
}

// cutOff says that the command did not get all, once.
func (r *runner) cutOff() {
	if !r.cut.Swap(true) {
		fmt.Fprintf(r.err, "tandemux: the command did not get all of its standard input, but its first %d bytes and at most %d more: the host went away\n", r.passed.Load(), r.hand.Load())
	}
}

// waits reports that a file has something to read at once.
func waits(f *os.File) bool {
	p := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0 && p[0].Revents&unix.POLLIN != 0
}
