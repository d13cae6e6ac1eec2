package client

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"tandemux/ahp"
)

// Carry is Call for a client with Options.Reconnect: when the connection is lost,
// or not there, it asks again on the next one, of the same host or of the one that
// took over, in such a way that what is asked for is done once. Requests that
// can't be asked twice are asked once, when there is a connection. It ends with ctx,
// and with the client.
func (c *Client) Carry(ctx context.Context, method string, params, result any) error {
	if !c.o.Reconnect {
		return c.Call(ctx, method, params, result)
	}
	if carry := carried[method]; carry != nil {
		return carry(ctx, c, params, result)
	}
	for {
		if _, err := c.connected(ctx); err != nil {
			return err
		}
		if err := c.Call(ctx, method, params, result); !errors.Is(err, ErrDisconnected) {
			return err
		}
	}
}

// carried are the requests that may be asked again, and how.
var carried map[string]func(ctx context.Context, c *Client, params, result any) error

func init() {
	carried = map[string]func(ctx context.Context, c *Client, params, result any) error{
		ahp.MethodWait:            carryWait,
		ahp.MethodRun:             carryRun,
		ahp.MethodCreateTerminal:  done(ahp.MethodCreateTerminal, ahp.CodeAlreadyExists),
		ahp.MethodDisposeTerminal: done(ahp.MethodDisposeTerminal, ahp.CodeNotFound),
	}
	for _, method := range []string{
		ahp.MethodRead, ahp.MethodCommand, ahp.MethodCommands, ahp.MethodMark, ahp.MethodHost, ahp.MethodPing, ahp.MethodListSessions,
		ahp.MethodTokenList,
	} {
		carried[method] = func(ctx context.Context, c *Client, params, result any) error {
			return c.again(ctx, func() error { return c.Call(ctx, method, params, result) })
		}
	}
}

// again calls f until it does not fail for want of a connection.
func (c *Client) again(ctx context.Context, f func() error) error {
	for {
		if _, err := c.connected(ctx); err != nil {
			return err
		}
		if err := f(); !lost(err) {
			return err
		}
	}
}

// CarryDispatch is DispatchWait that waits for a connection when there is none.
func (c *Client) CarryDispatch(ctx context.Context, channel ahp.URI, a ahp.Action) (e ahp.Envelope, err error) {
	ctx, cancel := withDeadline(ctx, echoWait)
	defer cancel()
	for {
		if _, err = c.connected(ctx); err != nil {
			return e, err
		}
		if e, err = c.DispatchWait(ctx, channel, a); !errors.Is(err, ErrDisconnected) {
			return e, err
		}
	}
}

// lost reports whether an error says that nothing is known of the answer, or that
// the request was not sent.
func lost(err error) bool {
	return errors.Is(err, ErrOutcomeUnknown) || errors.Is(err, ErrDisconnected)
}

// done carries a request that fails with a code if it has been done: asked again
// it has then.
func done(method string, code int) func(ctx context.Context, c *Client, params, result any) error {
	return func(ctx context.Context, c *Client, params, result any) error {
		sent := false
		return c.again(ctx, func() error {
			err := c.Call(ctx, method, params, result)
			if sent && ahp.CodeOf(err) == code {
				return nil
			}
			sent = sent || errors.Is(err, ErrOutcomeUnknown)
			return err
		})
	}
}

// carryRun gives the run a key, by which the host knows it again.
func carryRun(ctx context.Context, c *Client, params, result any) error {
	p, ok := params.(ahp.RunParams)
	if !ok || p.Typed {
		return c.Call(ctx, ahp.MethodRun, params, result)
	}
	if p.Key == "" {
		p.Key = strings.ToLower(rand.Text())
	}
	return c.again(ctx, func() error { return c.Call(ctx, ahp.MethodRun, p, result) })
}

// lateness is how much longer than its time limit a wait may take to be answered,
// by a host that is about to.
const lateness = 2 * time.Second

// carryWait makes it a wait from a mark. When its time is over while there is no
// host to say so, it is over all the same.
func carryWait(ctx context.Context, c *Client, params, result any) error {
	p, ok := params.(ahp.WaitParams)
	r, is := result.(*ahp.WaitResult)
	if !ok || !is || p.Since != nil || p.From != nil {
		return c.Call(ctx, ahp.MethodWait, params, result)
	}
	begun := time.Now()
	limit := time.Duration(p.TimeoutMs) * time.Millisecond
	patient := ctx // of the host's answer
	if limit > 0 {
		var cancel, give context.CancelFunc
		patient, give = context.WithTimeoutCause(ctx, limit+lateness, errLate)
		defer give()
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errLate)
		defer cancel()
	}
	err := c.mark(ctx, &p)
	if err == nil {
		marked := time.Now()
		err = c.again(ctx, func() error {
			p.AgoMs = time.Since(marked).Milliseconds()
			if limit > 0 {
				p.TimeoutMs = max(1, (limit - time.Since(begun)).Milliseconds())
			}
			err := c.Call(patient, ahp.MethodWait, p, r)
			if p.AgoMs > 0 && ahp.CodeOf(err) == ahp.CodeNotFound {
				*r, err = ahp.WaitResult{Reason: ahp.WaitGone}, nil // it was there
			}
			return err
		})
	}
	if err != nil && errors.Is(context.Cause(ctx), errLate) {
		*r, err = ahp.WaitResult{Reason: ahp.WaitTimeout, Running: true}, nil
	}
	return err
}

var errLate = errors.New("the time limit is over")

// mark notes in p where the terminal is, unless the host is too old to say.
func (c *Client) mark(ctx context.Context, p *ahp.WaitParams) error {
	var m ahp.Mark
	err := c.again(ctx, func() error { return c.Call(ctx, ahp.MethodMark, ahp.MarkParams{Channel: p.Channel}, &m) })
	switch {
	case err == nil:
		p.From = &m
	case ahp.CodeOf(err) == ahp.CodeMethodNotFound:
		err = nil
	}
	return err
}
