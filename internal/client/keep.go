package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"tandemux/ahp"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/pace"
	"tandemux/internal/wsrpc"
)

const (
	// steady is how long a connection must have lived for its loss to be
	// followed by an attempt at once.
	steady = 5 * time.Second
	// leaving is how long a host that goes away may take to come back, where
	// Options do not say.
	leaving = 2 * time.Second
	// maxPause bounds pauses where Options do not say.
	maxPause = 2 * time.Second
	// leastPause is the shortest pause that Retry leaves, so that a key that is
	// held down does not cause a storm of attempts.
	leastPause = 500 * time.Millisecond
	// swapTime is how long a host that restarts is tried without growing pauses,
	// swapPause one of those.
	swapTime  = 5 * time.Second
	swapPause = 50 * time.Millisecond
)

// closeMute is the close code for a connection that has stopped answering.
const closeMute = 4000

// errMute is the reason for a connection that Options.GiveUp ended.
var errMute = errors.New("the host has stopped answering")

// keep replaces lost connections until the client ends.
func (c *Client) keep(l *link) {
	var pause time.Duration
	for {
		stop := context.AfterFunc(c.ctx, func() { l.rpc.Close(jsonrpc.CloseDone, "") })
		err := <-l.ended
		stop()
		if err == nil && l.mute.Load() {
			err = errMute
		}
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
	lost := time.Now()
	var until, swap, absent time.Time
	if ce, ok := errors.AsType[*jsonrpc.CloseError](why); ok {
		switch {
		case ce.Code == jsonrpc.CloseAway && c.o.Away >= 0:
			until = lost.Add(cmp.Or(c.o.Away, leaving))
		case ce.Code == jsonrpc.CloseRestart:
			swap, pause = lost.Add(swapTime), 0
		}
	}
	for {
		c.pause(pause)
		pause = c.next(pause)
		if time.Now().Before(swap) {
			pause = swapPause
		}
		ctx, cancel := context.WithTimeout(c.ctx, cmp.Or(c.o.Patience, handshakeWait))
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
		case !errors.Is(err, ErrAbsent):
			absent = time.Time{}
		case absent.IsZero():
			absent = time.Now()
		case c.o.Absence > 0 && time.Since(absent) > c.o.Absence:
			return nil, 0, err
		}
		c.log.Debug("reconnect", "err", err)
		if c.o.Observe != nil {
			c.o.Observe.Retrying(Retry{Since: lost, Next: time.Now().Add(pause), Err: err})
		}
	}
}

// next is the pause after d.
func (c *Client) next(d time.Duration) time.Duration {
	most := cmp.Or(c.o.MaxPause, maxPause)
	d = min(cmp.Or(2*d, 50*time.Millisecond), most)
	if d > maxPause {
		d = min(d-d/5+rand.N(2*d/5), most)
	}
	return d
}

// pause waits, less when Retry is called, and not at all after Close.
func (c *Client) pause(d time.Duration) {
	for _, part := range []struct {
		length time.Duration
		now    <-chan struct{}
	}{{min(d, leastPause), nil}, {d - leastPause, c.now}} {
		if part.length <= 0 {
			continue
		}
		c.wait(part.length, part.now)
	}
}

// wait waits until the time has passed, now has something, the machine has slept, or
// Close.
func (c *Client) wait(d time.Duration, now <-chan struct{}) {
	for from := time.Now(); d > 0 && c.ctx.Err() == nil && !c.slept(from); d -= asleep {
		select {
		case <-time.After(min(d, asleep)):
		case <-now:
			d = 0
		case <-c.ctx.Done():
		}
	}
}

// Retry makes the next attempt to reconnect now, or half a second after the one
// before. It does nothing while there is a connection.
func (c *Client) Retry() {
	c.mu.Lock()
	lost := c.link == nil && !c.ended
	c.mu.Unlock()
	if !lost {
		return
	}
	pace.Wake(c.now)
}

// final reports whether trying again is of no use.
func final(err error) bool {
	if ce, ok := errors.AsType[*jsonrpc.CloseError](err); ok {
		return ce.Code == jsonrpc.CloseDone || ce.Code == jsonrpc.CloseProtocol || ce.Code == jsonrpc.ClosePolicy
	}
	if se, ok := errors.AsType[*wsrpc.StatusError](err); ok {
		return se.Code == http.StatusUnauthorized || se.Code == http.StatusForbidden
	}
	_, other := errors.AsType[*wsrpc.FingerprintError](err)
	_, unknown := errors.AsType[*wsrpc.UntrustedError](err)
	return other || unknown || ahp.FromRPC(err) != nil // for people to look at
}

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
	l.rpc.Close(jsonrpc.CloseDone, "") //nolint:errcheck // never fails
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
	said := c.vigil.end()
	c.mu.Unlock()
	if said {
		c.o.Observe.Silent(time.Time{})
	}
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
