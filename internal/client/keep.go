package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"cotty/ahp"
	"cotty/internal/jsonrpc"
	"cotty/internal/wsrpc"
)

const (
	// steady is how long a connection must have lived for its loss to be
	// followed by an attempt at once.
	steady = 5 * time.Second
	// leaving is how long a host that goes away may take to come back.
	leaving = 2 * time.Second
)

// Close codes by which a host says that coming back is of no use, or not now.
const (
	closeDone     = 1000
	closeAway     = 1001
	closeProtocol = 1002
	closePolicy   = 1008
)

// keep replaces lost connections until the client ends.
func (c *Client) keep(l *link) {
	var pause time.Duration
	for {
		stop := context.AfterFunc(c.ctx, func() { l.rpc.Close(closeDone, "") })
		err := <-l.ended
		stop()
		c.lose(l)
		if c.ctx.Err() != nil {
			c.finish(nil)
			return
		}
		if !c.o.Reconnect || final(err) {
			c.finish(err)
			return
		}
		c.log.Info("connection lost", "err", err)
		c.sink.Status(Reconnecting, err)
		if time.Since(l.born) > steady {
			pause = 0
		}
		l, pause, err = c.redial(pause, err)
		if err != nil {
			if c.ctx.Err() != nil {
				err = nil
			}
			c.finish(err)
			return
		}
	}
}

// redial dials until it succeeds, Close is called or the host refuses.
func (c *Client) redial(pause time.Duration, why error) (*link, time.Duration, error) {
	var until time.Time
	var ce *jsonrpc.CloseError
	if errors.As(why, &ce) && ce.Code == closeAway {
		until = time.Now().Add(leaving)
	}
	for {
		if pause > 0 {
			timer := time.NewTimer(pause)
			select {
			case <-timer.C:
			case <-c.ctx.Done():
				timer.Stop()
			}
		}
		pause = next(pause)
		ctx, cancel := context.WithTimeout(c.ctx, handshakeWait)
		l, err := c.attempt(ctx, (*link).reconnect)
		cancel()
		switch {
		case err == nil:
			c.log.Info("connected again")
			return l, pause, nil
		case c.ctx.Err() != nil || final(err):
			return nil, 0, err
		case !until.IsZero() && time.Now().After(until):
			return nil, 0, why
		}
		c.log.Debug("reconnect", "err", err)
	}
}

// final reports whether trying again is of no use.
func final(err error) bool {
	var ce *jsonrpc.CloseError
	if errors.As(err, &ce) {
		return ce.Code == closeDone || ce.Code == closeProtocol || ce.Code == closePolicy
	}
	var other *wsrpc.FingerprintError
	var unknown *wsrpc.UntrustedError
	if errors.As(err, &other) || errors.As(err, &unknown) { // for people to look at
		return true
	}
	var se *wsrpc.StatusError
	if errors.As(err, &se) {
		return se.Code == http.StatusUnauthorized || se.Code == http.StatusForbidden
	}
	return ahp.FromRPC(err) != nil
}

// attempt dials and shakes hands.
func (c *Client) attempt(ctx context.Context, shake func(l *link, done func(error))) (*link, error) {
	t, err := c.o.Dial(ctx)
	if err != nil {
		return nil, err
	}
	l := c.newLink(t)
	answered := make(chan error, 1)
	shake(l, func(err error) { answered <- err })
	select {
	case err = <-answered:
	case <-ctx.Done():
		err = fmt.Errorf("shake hands with the host: %w", ctx.Err())
	}
	if err == nil {
		return l, nil
	}
	l.rpc.Close(closeDone, "") //nolint:errcheck // never fails
	why := <-l.ended
	c.lose(l)
	if errors.Is(err, jsonrpc.ErrClosed) && why != nil {
		err = fmt.Errorf("shake hands with the host: %w", why)
	}
	return nil, wireError(err)
}

// lose takes an ended connection out.
func (c *Client) lose(l *link) {
	c.mu.Lock()
	if c.link == l {
		c.link = nil
		c.ready = make(chan struct{})
	}
	c.mu.Unlock()
	close(l.gone)
}

// finish ends the client for good.
func (c *Client) finish(err error) {
	c.cancel()
	c.mu.Lock()
	c.ended = true
	lost := c.pending
	c.pending, c.pendingBytes = nil, 0
	c.mu.Unlock()
	c.giveUp(lost, ErrOutcomeUnknown)
	c.err = err
	c.sink.Status(Closed, err)
	close(c.done)
}
