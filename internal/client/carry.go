package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/find"
)

// Carry is Call for a client with Options.Reconnect: when the connection is lost,
// or not there, it asks again on the next one, of the same host or of the one that
// took over, in such a way that what is asked for is done once. Requests that
// can't be asked twice are asked once, when there is a connection. It ends with ctx,
// and with the client.
func (c *Client) Carry(ctx context.Context, method string, params, result any) error {
	call := func() error { return c.Call(ctx, method, params, result) }
	if !c.o.Reconnect {
		return call()
	}
	switch method {
	case ahp.MethodWait:
		return c.carryWait(ctx, params, result)
	case ahp.MethodRun:
		p, ok := params.(ahp.RunParams)
		if !ok || p.Typed {
			return call()
		}
		p.Key = cmp.Or(p.Key, strings.ToLower(rand.Text())) // by which the host knows it again
		params = p
		return c.again(ctx, lost, call)
	case ahp.MethodCreateTerminal:
		return c.again(ctx, lost, unlessDone(ahp.CodeAlreadyExists, call))
	case ahp.MethodCreateSession:
		return c.again(ctx, lost, unlessDone(ahp.CodeSessionAlreadyExists, call))
	case ahp.MethodDisposeTerminal:
		return c.again(ctx, lost, unlessDone(ahp.CodeNotFound, call))
	case ahp.MethodDisposeSession:
		return c.again(ctx, lost, unlessDone(ahp.CodeSessionNotFound, call))
	case ahp.MethodRead, ahp.MethodCommand, ahp.MethodCommands, find.MethodHistory, find.MethodSearch, ahp.MethodMark, ahp.MethodHost, ahp.MethodPing, ahp.MethodListSessions,
		ahp.MethodTokenList:
		return c.again(ctx, lost, call)
	}
	return c.again(ctx, unsent, call)
}

// again calls f when there is a connection, until it fails for another reason than what
// is passing.
func (c *Client) again(ctx context.Context, passing func(error) bool, f func() error) error {
	for {
		if _, err := c.connected(ctx); err != nil {
			return err
		}
		if err := f(); !passing(err) {
			return err
		}
	}
}

// CarryDispatch is DispatchWait that waits for a connection when there is none.
func (c *Client) CarryDispatch(ctx context.Context, channel ahp.URI, a ahp.Action) (e ahp.Envelope, err error) {
	ctx, cancel := withDeadline(ctx, echoWait)
	defer cancel()
	err = c.again(ctx, unsent, func() error {
		var err error
		e, err = c.DispatchWait(ctx, channel, a)
		return err
	})
	return e, err
}

// unsent reports whether an error says that a request was not sent.
func unsent(err error) bool { return errors.Is(err, ErrDisconnected) }

// lost reports whether an error says that nothing is known of the answer, or that
// the request was not sent.
func lost(err error) bool {
	return errors.Is(err, ErrOutcomeUnknown) || unsent(err)
}

// unlessDone calls what fails with a code if it has been done: called again it has then.
func unlessDone(code int, call func() error) func() error {
	sent := false
	return func() error {
		err := call()
		if sent && ahp.CodeOf(err) == code {
			return nil
		}
		sent = sent || errors.Is(err, ErrOutcomeUnknown)
		return err
	}
}

// lateness is how much longer than its time limit a wait may take to be answered,
// by a host that is about to.
const lateness = 2 * time.Second

// carryWait makes it a wait from a mark. When its time is over while there is no
// host to say so, it is over all the same.
func (c *Client) carryWait(ctx context.Context, params, result any) error {
	p, ok := params.(ahp.WaitParams)
	r, is := result.(*ahp.WaitResult)
	if !ok || !is || p.From != nil {
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
		err = c.again(ctx, lost, func() error {
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
	err := c.again(ctx, lost, func() error { return c.Call(ctx, ahp.MethodMark, ahp.MarkParams{Channel: p.Channel}, &m) })
	switch {
	case err == nil:
		p.From = &m
	case ahp.CodeOf(err) == ahp.CodeMethodNotFound:
		err = nil
	}
	return err
}
