package jsonrpc

import (
	"bytes"
	"context"
	"sync"
)

// Pipe is a connection in memory. Each direction holds at most room messages
// that have been written and not read; Write blocks beyond that.
func Pipe(room int) (a, b Transport) {
	ab, ba := make(chan []byte, room), make(chan []byte, room)
	x, y := &end{closed: make(chan struct{})}, &end{closed: make(chan struct{})}
	return &pipe{in: ba, out: ab, own: x, peer: y}, &pipe{in: ab, out: ba, own: y, peer: x}
}

type end struct {
	once   sync.Once
	closed chan struct{}
	err    CloseError // set before closed is closed
}

type pipe struct {
	in, out   chan []byte
	own, peer *end
}

func (p *pipe) Read(ctx context.Context) ([]byte, error) {
	select { // What was written before a close is read before it.
	case msg := <-p.in:
		return msg, nil
	default:
	}
	select {
	case msg := <-p.in:
		return msg, nil
	case <-p.own.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.peer.closed:
		select {
		case msg := <-p.in:
			return msg, nil
		default:
			err := p.peer.err
			return nil, &err
		}
	}
}

func (p *pipe) Write(ctx context.Context, msg []byte) error {
	select {
	case <-p.own.closed:
		return ErrClosed
	case <-p.peer.closed:
		return ErrClosed
	default:
	}
	select {
	case p.out <- bytes.Clone(msg):
		return nil
	case <-p.own.closed:
		return ErrClosed
	case <-p.peer.closed:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *pipe) Close(code int, reason string) error {
	p.own.once.Do(func() {
		p.own.err = CloseError{Code: code, Reason: reason}
		close(p.own.closed)
	})
	return nil
}
