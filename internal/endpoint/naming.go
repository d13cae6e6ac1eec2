package endpoint

import (
	"context"

	"tandemux/ahp/hosted"
	"tandemux/internal/jsonrpc"
)

// named dials a host so that all that it has carries its name here (hosted.Names), and
// this client has an id of its own there.
func (p Endpoint) named(dial func(context.Context) (jsonrpc.Transport, error), n hosted.Names) func(context.Context) (jsonrpc.Transport, error) {
	return func(ctx context.Context) (jsonrpc.Transport, error) {
		t, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		slow := &naming{Transport: t, names: n}
		if fast, is := t.(jsonrpc.DirectWriter); is {
			return &directNaming{slow, fast}, nil
		}
		return slow, nil
	}
}

// naming is a Transport whose messages are said in our words.
// It implements jsonrpc.Transport.
type naming struct {
	jsonrpc.Transport
	names hosted.Names
	buf   []byte // of Read
}

// maxBuf bounds the buffer that is kept from one message to the next.
const maxBuf = 256 << 10

func (n *naming) Read(ctx context.Context) ([]byte, error) {
	msg, err := n.Transport.Read(ctx)
	if err != nil {
		return msg, err
	}
	if cap(n.buf) > maxBuf {
		n.buf = nil
	}
	n.buf = n.names.In(n.buf[:0], msg)
	return n.buf, nil
}

func (n *naming) Write(ctx context.Context, msg []byte) error {
	return n.Transport.Write(ctx, n.names.Out(nil, msg))
}

// directNaming is naming of a jsonrpc.DirectWriter.
type directNaming struct {
	*naming
	direct jsonrpc.DirectWriter
}

// WriteMore implements jsonrpc.DirectWriter.
func (n *directNaming) WriteMore(msg []byte, more bool) error {
	return n.direct.WriteMore(n.names.Out(nil, msg), more)
}

// TryWrite implements jsonrpc.DirectWriter. Words for the host are no longer than ours.
func (n *directNaming) TryWrite(msg []byte, more bool) (jsonrpc.Tried, error) {
	return n.direct.TryWrite(n.names.Out(nil, msg), more)
}
