package local

import (
	"context"
	"io"
	"net"
	"net/http/httptrace"
	"sync"
	"testing"

	"tandemux/internal/wsrpc"
)

// dying is a connection to a process that has died before anything was sent.
type dying struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

func (*dying) Read([]byte) (int, error) { return 0, io.EOF }

func (d *dying) Close() error {
	d.once.Do(func() { close(d.closed) })
	return d.Conn.Close()
}

// TestNobodyThereAnyMore: a host that is killed while a client knocks is nobody there, and one
// is brought back.
func TestNobodyThereAnyMore(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	conn := &dying{Conn: near, closed: make(chan struct{})}
	// The request is not begun before the end is read.
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { <-conn.closed }})
	_, err := wsrpc.Dial(ctx, wsrpc.Target{URL: "ws://localhost/", Dial: func(context.Context) (net.Conn, error) { return conn, nil }})
	if !NobodyThere(err) {
		t.Errorf("somebody: %v", err)
	}
}
