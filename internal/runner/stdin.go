package runner

import (
	"context"
	"fmt"
	"os"

	"tandemux/ahp"
)

// feedBytes is how much of our standard input is sent at once.
const feedBytes = 128 << 10

// feed passes our standard input on to the command, until it takes no more. The
// pipe is the host's and ends with it: then the command has come to the end of its
// input too early, which is said.
func (r *runner) feed(ctx context.Context) {
	if !r.stdin {
		return
	}
	buf := make([]byte, feedBytes)
	passed := 0
	for {
		n, err := os.Stdin.Read(buf)
		var got ahp.FeedResult
		failed := r.Call(ctx, ahp.MethodFeed, ahp.FeedParams{Channel: r.uri, Data: buf[:n], End: err != nil}, &got)
		if failed != nil && ctx.Err() == nil && (n > 0 || err == nil) {
			fmt.Fprintf(os.Stderr, "tandemux: the command did not get all of its standard input, but its first %d bytes and at most %d more: the host went away\n", passed, n)
			r.cut.Store(true)
		}
		if passed += n; failed != nil || !got.Open {
			return
		}
	}
}
