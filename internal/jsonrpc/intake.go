package jsonrpc

import (
	"bytes"
	"sync"
)

// intakeBytes bounds what is read ahead of a slow handler.
const intakeBytes = 1 << 20

// intake holds messages that were read while a handler ran, in order. It is
// how a connection notices that its peer is gone before the handler returns.
type intake struct {
	mu    sync.Mutex
	wake  sync.Cond
	items [][]byte
	bytes int
	err   error // why no more follow
}

func newIntake() *intake {
	in := new(intake)
	in.wake.L = &in.mu
	return in
}

// put adds a copy of msg and waits while more than intakeBytes are held. Once
// failed it reports false.
func (in *intake) put(msg []byte) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.items = append(in.items, bytes.Clone(msg))
	in.bytes += len(msg)
	in.wake.Broadcast()
	for in.bytes > intakeBytes && in.err == nil {
		in.wake.Wait()
	}
	return in.err == nil
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

// get waits for the next message.
func (in *intake) get() ([]byte, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.items) == 0 && in.err == nil {
		in.wake.Wait()
	}
	if len(in.items) == 0 {
		return nil, in.err
	}
	msg := in.items[0]
	in.items[0] = nil
	in.items = in.items[1:]
	in.bytes -= len(msg)
	in.wake.Broadcast()
	return msg, nil
}
