package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/wire"
	"tandemux/internal/jsonrpc"
)

const (
	maxPending      = 4096
	maxPendingBytes = 8 << 20
)

// pending is a dispatched action whose echo has not come.
type pending struct {
	seq    int64
	at     time.Time
	params json.RawMessage // as sent
	input  bool            // a second copy of it would do harm
	uri    ahp.URI         // of input
	text   string          // of input
	wait   chan outcome    // nil, or with room for one
}

// outcome is what became of an action.
type outcome struct {
	envelope ahp.Envelope
	err      error
}

// RejectedError is the host's refusal of a dispatched action.
type RejectedError struct{ Envelope ahp.Envelope }

func (e *RejectedError) Error() string { return e.Envelope.RejectionReason }

// Dispatch sends an action without waiting for its echo. It fails with
// ErrDisconnected while there is no connection.
func (c *Client) Dispatch(channel ahp.URI, a ahp.Action) (clientSeq int64, err error) {
	return c.dispatch(channel, a, nil)
}

// DispatchWait sends an action and waits for its echo. A refusal is a
// *RejectedError. A host does not answer at all when it does not know the
// channel or the type of action.
func (c *Client) DispatchWait(ctx context.Context, channel ahp.URI, a ahp.Action) (ahp.Envelope, error) {
	ctx, cancel := withDeadline(ctx, echoWait)
	defer cancel()
	wait := make(chan outcome, 1)
	if _, err := c.dispatch(channel, a, wait); err != nil {
		return ahp.Envelope{}, err
	}
	select {
	case o := <-wait:
		if o.err == nil && o.envelope.RejectionReason != "" {
			o.err = &RejectedError{o.envelope}
		}
		return o.envelope, o.err
	case <-ctx.Done():
		return ahp.Envelope{}, fmt.Errorf("wait for the host's word on %s: %w", a.ActionType(), ctx.Err())
	}
}

func (c *Client) dispatch(channel ahp.URI, a ahp.Action, wait chan outcome) (int64, error) {
	if a == nil {
		return 0, errors.New("dispatch: there is no action")
	}
	seq, given, err := c.send(channel, a, wait)
	c.giveUp(given, ErrOutcomeUnknown)
	if err != nil {
		return 0, fmt.Errorf("dispatch %s: %w", a.ActionType(), err)
	}
	return seq, nil
}

// send assigns an action its clientSeq, keeps it as pending and sends it, in one
// step, so that actions are sent in the order of their numbers. given are older
// pending actions that were given up for it.
func (c *Client) send(channel ahp.URI, a ahp.Action, wait chan outcome) (seq int64, given []*pending, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == nil {
		return 0, nil, absent(c.ended)
	}
	if claim, ok := a.(ahp.TerminalClaimed); ok {
		claim.Seen = c.serverSeq.Load()
		a = claim
	}
	seq = c.clientSeq + 1
	var msg, params json.RawMessage
	typed, input := a.(ahp.TerminalInput)
	if input {
		msg, params = wire.InputDispatch(channel, seq, typed.Data)
	} else if params, err = ahp.Encode(c.profile, ahp.DispatchParams{Channel: channel, ClientSeq: seq, Action: a}); err != nil {
		return 0, nil, err
	}
	c.clientSeq = seq
	if input {
		err = c.link.rpc.Send(msg)
	} else {
		err = c.link.rpc.Notify(ahp.MethodDispatchAction, params)
	}
	if err != nil {
		if errors.Is(err, jsonrpc.ErrClosed) { // which Status is about to say
			err = ErrDisconnected
		}
		return 0, nil, err
	}
	c.pending = append(c.pending, &pending{
		seq: seq, at: time.Now(), params: params, input: input, uri: channel, text: typed.Data, wait: wait,
	})
	c.pendingBytes += len(params)
	n := 0
	for len(c.pending)-n > maxPending || c.pendingBytes > maxPendingBytes && n < len(c.pending)-1 {
		c.pendingBytes -= len(c.pending[n].params)
		n++
	}
	given = slices.Clone(c.pending[:n])
	c.pending = slices.Delete(c.pending, 0, n)
	c.vigil.begin(c)
	return seq, given, nil
}

// takePending removes and returns the action with the given number; nil when it
// is not pending. The lock is held.
func (c *Client) takePending(seq int64) *pending {
	i := slices.IndexFunc(c.pending, func(p *pending) bool { return p.seq == seq })
	if i < 0 {
		return nil
	}
	p := c.pending[i]
	c.pending = slices.Delete(c.pending, i, i+1)
	c.pendingBytes -= len(p.params)
	return p
}

// tripped notes how long the host took to answer. The lock is held.
func (c *Client) tripped(asked time.Time) {
	c.trips[c.answers%len(c.trips)] = time.Since(asked)
	c.answers++
}

// RoundTrip is how long the host takes to answer: the least of the last few times; 0 while
// it has answered nothing.
func (c *Client) RoundTrip() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(c.answers, len(c.trips))
	if n == 0 {
		return 0
	}
	return slices.Min(c.trips[:n])
}

// resend sends pending actions again, in order, on a resumed connection, except
// those whose echo was among the missed actions. It returns those that it can't send.
func (c *Client) resend(l *link, missed []ahp.Envelope) (lost []*pending) {
	done := map[int64]bool{}
	for _, e := range missed {
		if e.Origin != nil && e.Origin.ClientID == c.o.ClientID {
			done[e.Origin.ClientSeq] = true
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	keep := c.pending[:0]
	for _, p := range c.pending {
		switch {
		case done[p.seq]:
		case p.input && c.profile != ahp.V1:
			// Hosts of before 1.0 may not know that it is the same one.
			lost = append(lost, p)
			c.pendingBytes -= len(p.params)
			continue
		default:
			p.at = time.Now()
			if err := l.rpc.Notify(ahp.MethodDispatchAction, p.params); err != nil {
				c.log.Debug("send a pending action again", "err", err)
			}
		}
		keep = append(keep, p)
	}
	clear(c.pending[len(keep):])
	c.pending = keep
	return lost
}

// giveUp settles actions whose outcome will not be known.
func (c *Client) giveUp(lost []*pending, err error) {
	for _, p := range lost {
		p.settle(outcome{err: err})
		if p.input && c.o.Observe != nil {
			c.o.Observe.Lost(p.uri, p.text)
		}
	}
}

// settle gives an action's outcome to whoever waits for it.
func (p *pending) settle(o outcome) {
	if p.wait != nil {
		p.wait <- o
	}
}
