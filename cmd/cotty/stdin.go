package main

import (
	"context"
	"os"

	"cotty/ahp"
)

// feedBytes is how much of our standard input is sent at once.
const feedBytes = 128 << 10

// feed passes our standard input on to the command, until it takes no more.
func (r *runner) feed(ctx context.Context) {
	if !r.stdin {
		return
	}
	buf := make([]byte, feedBytes)
	for {
		n, err := os.Stdin.Read(buf)
		var got ahp.FeedResult
		if r.Call(ctx, ahp.MethodFeed, ahp.FeedParams{Channel: r.uri, Data: buf[:n], End: err != nil}, &got) != nil || !got.Open {
			return
		}
	}
}
