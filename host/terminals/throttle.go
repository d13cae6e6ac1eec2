package terminals

import (
	"context"
	"time"

	"tandemux/ahp"
	"tandemux/host/outbox"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/pace"
)

// throttle blocks the terminal's reader while much waits for the claim holder's connection, as
// a real terminal slows its program down. A connection that takes nothing for StallTime is
// closed, so that it can't freeze the terminal. Other viewers never slow the pty
// (docs/contributing/decisions.md §33).
func (t *Terminal) throttle(ctx context.Context) {
	ts := t.ts
	t.follower.wait(ctx)
	t.giveWay(ctx)
	for {
		out, moved := t.behind()
		if out == nil {
			return
		}
		sent := out.Sent()
		select {
		case <-moved:
		case <-out.RPC.Done():
		case <-ctx.Done():
			return
		case <-time.After(ts.Limits.StallTime):
			if out.Sent() != sent { // it takes bytes of a long message
				continue
			}
			out.Drop(jsonrpc.CloseOverload, "viewer stalled: it holds the terminal and reads nothing; reconnect")
		}
	}
}

const (
	// typingTime is how long after a key a person counts as typing.
	typingTime = 60 * time.Millisecond
	// floodPause is the least time between two reads, of at most 64 KiB each, of a terminal
	// whose holder types elsewhere: 8 MB a second.
	floodPause = 8 * time.Millisecond
)

// typist is the client that typed last, and the terminal.
type typist struct {
	principal string
	into      *Terminal
	at        time.Time
}

// giveWay slows a terminal down while its holder types into another one. A build that prints
// takes all processors, and a key's echo would wait for a processor in each of six processes.
func (t *Terminal) giveWay(ctx context.Context) {
	ts := t.ts
	tx := ts.Core.Lock()
	now := time.Now()
	wait := floodPause - now.Sub(t.read)
	if t.Holder != ts.typist.principal || t == ts.typist.into || now.Sub(ts.typist.at) > typingTime {
		wait = 0
	}
	t.read = now.Add(max(wait, 0))
	tx.Unlock()
	if wait > 0 {
		pace.Sleep(ctx, wait)
	}
}

// behind finds a connection of the claim's client that watches the terminal and has more than
// HoldBytes waiting. moved is closed when the next message has left its queue.
func (t *Terminal) behind() (c *outbox.Conn, moved <-chan struct{}) {
	ts := t.ts
	tx := ts.Core.Lock()
	defer tx.Unlock()
	if t.ch == nil || t.Value.Claim.Kind != ahp.ClaimClient {
		return nil, nil
	}
	cl := tx.Client(t.Value.Claim.ClientID)
	if cl == nil {
		return nil, nil
	}
	for l := range cl.Links() {
		if !l.Watches(t.ch.URI) {
			continue
		}
		if moved := l.Out.Behind(ts.Limits.HoldBytes); moved != nil {
			return l.Out, moved
		}
	}
	return nil, nil
}
