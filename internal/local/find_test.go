package local

import (
	"context"
	"io"
	"net"
	"net/http/httptrace"
	"path/filepath"
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
// is brought back: net/http reads the end before it begins to write, or writes to what it has closed.
func TestNobodyThereAnyMore(t *testing.T) {
	ln, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for _, ends := range []bool{true, false} {
		near, err := net.Dial("unix", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn := &dying{Conn: near, closed: make(chan struct{})}
		target := wsrpc.Target{URL: "ws://localhost/", Dial: func(context.Context) (net.Conn, error) { return near, nil }}
		begin := func(got httptrace.GotConnInfo) { got.Conn.Close() }
		if ends {
			target.Dial = func(context.Context) (net.Conn, error) { return conn, nil }
			begin = func(httptrace.GotConnInfo) { <-conn.closed }
		}
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: begin})
		if _, err = wsrpc.Dial(ctx, target); !NobodyThere(err) {
			t.Errorf("somebody: %v", err)
		}
	}
}
