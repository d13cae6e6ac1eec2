package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
)

// Go sends a request. done is called once, with the raw result or an error, on the goroutine
// that runs handlers, in order with other messages. It must not wait for the peer, and result
// is valid until it returns. An error answer is an *Error. If Go returns an error, done is not
// called.
func (c *Conn) Go(method string, params any, done func(result json.RawMessage, err error)) error {
	_, err := c.start(method, params, done)
	return err
}

func (c *Conn) start(method string, params any, done func(json.RawMessage, error)) (id int64, err error) {
	if id, err = c.calls.add(done); err != nil {
		return 0, err
	}
	msg, err := encodeRequest(id, method, params)
	if err == nil {
		err = c.Send(msg)
	}
	if err != nil && c.calls.forget(id) == nil {
		err = nil // the connection ended in between, and done was called
	}
	return id, err
}

// calls is our requests that have no answer yet.
type calls struct {
	mu      sync.Mutex
	pending map[int64]func(json.RawMessage, error)
	last    int64
	ended   error // set when no answer can come any more
}

func (cs *calls) add(done func(json.RawMessage, error)) (id int64, err error) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.ended != nil {
		return 0, cs.ended
	}
	cs.last++
	cs.pending[cs.last] = done
	return cs.last, nil
}

// forget removes a pending call, so that its answer is ignored. It returns nil if the call was
// answered.
func (cs *calls) forget(id int64) func(json.RawMessage, error) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	done := cs.pending[id]
	delete(cs.pending, id)
	return done
}

// end fails the calls that can no longer be answered.
func (cs *calls) end(err error) {
	cs.mu.Lock()
	pending := cs.pending
	cs.pending, cs.ended = nil, err
	cs.mu.Unlock()
	for _, done := range pending {
		done(nil, err)
	}
}

// Call sends a request, waits for the answer and decodes it into result, which may be nil. An
// error answer is an *Error. A handler must not call it; with a handler's context it returns
// ErrInHandler.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	if ctx.Value(handlerOf{c}) != nil {
		return fmt.Errorf("call %s: %w", method, ErrInHandler)
	}
	answered := make(chan error, 1)
	id, err := c.start(method, params, func(raw json.RawMessage, err error) {
		if err == nil && result != nil {
			if e := json.Unmarshal(raw, result); e != nil {
				err = fmt.Errorf("decode result of %s: %w", method, e)
			}
		}
		answered <- err
	})
	if err != nil {
		return fmt.Errorf("call %s: %w", method, err)
	}
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		if c.calls.forget(id) == nil { // the answer is being decoded into result
			return <-answered
		}
		if c.o.GaveUp != nil {
			c.o.GaveUp(id)
		}
		return fmt.Errorf("call %s: %w", method, ctx.Err())
	}
}

// answered passes an answer to the call that waits for it.
func (c *Conn) answered(m message) {
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	done := c.calls.forget(id)
	if err != nil || done == nil {
		if m.Error != nil {
			c.log.Debug("error from the peer that answers no call", "id", string(m.ID), "code", m.Error.Code, "err", m.Error.Message)
		}
		return
	}
	if m.Error != nil {
		e := &Error{Code: m.Error.Code, Message: m.Error.Message}
		if m.Error.Data != nil {
			e.Data = m.Error.Data
		}
		done(nil, e)
		return
	}
	done(m.Result, nil)
}

// endCalls fails the calls that can no longer be answered.
func (c *Conn) endCalls() {
	err := ErrClosed
	if c.cause != nil {
		err = fmt.Errorf("%w: %w", ErrClosed, c.cause)
	}
	c.calls.end(err)
}

// intakeBytes bounds the bytes that are read ahead of a slow handler.
const intakeBytes = 1 << 20

// intake holds messages, in order, that were read while a slow handler ran. Reading ahead, the
// connection notices before the handler returns that its peer is gone.
type intake struct {
	mu    sync.Mutex
	wake  sync.Cond
	items [][]byte
	bytes int
	waits bool  // get waits for a message
	last  bool  // the goroutine of put has ended: that of get reads the transport again
	err   error // why no more follow
}

func newIntake() *intake {
	in := new(intake)
	in.wake.L = &in.mu
	return in
}

// put adds a copy of msg and waits while more than intakeBytes are held. It returns false after
// fail, and if get was waiting: handlers are fast again, and need no second goroutine.
func (in *intake) put(msg []byte) (more bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	last := in.waits
	in.last, in.waits = last, false
	in.items = append(in.items, bytes.Clone(msg))
	in.bytes += len(msg)
	in.wake.Broadcast()
	for !last && in.bytes > intakeBytes && in.err == nil {
		in.wake.Wait()
	}
	return in.err == nil && !last
}

// fail says that no more messages follow. The first reason counts.
func (in *intake) fail(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.err == nil {
		in.err = err
	}
	in.wake.Broadcast()
}

// get waits for the next message; last says that put will not be called any more.
func (in *intake) get() (msg []byte, last bool, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.items) == 0 && in.err == nil {
		in.waits = true
		in.wake.Wait()
	}
	if len(in.items) == 0 {
		return nil, false, in.err
	}
	msg = in.items[0]
	in.items[0] = nil
	in.items = in.items[1:]
	in.bytes -= len(msg)
	in.wake.Broadcast()
	last, in.last = in.last, false
	return msg, last, nil
}
