package wsrpc

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/coder/websocket"

	"tandemux/internal/jsonrpc"
)

// Options configures Accept.
type Options struct {
	// ReadLimit bounds a received message in bytes; 0 means HostReadLimit. A
	// longer one ends the connection with status 1009.
	ReadLimit int64
	// Pings has the transport be a jsonrpc.Pinger.
	Pings bool
}

// Accept upgrades a request whose Host, Origin and token the caller has
// checked. On an error the response has been written.
func Accept(w http.ResponseWriter, r *http.Request, o Options) (jsonrpc.Transport, error) {
	h := &hijacker{ResponseWriter: w}
	var t *transport
	var pong func(ctx context.Context, payload []byte)
	if o.Pings {
		pong = func(_ context.Context, payload []byte) { t.pong = append([]byte(jsonrpc.PingMark), payload...) }
	}
	ws, err := websocket.Accept(h, r, &websocket.AcceptOptions{
		OnPongReceived: pong,
		// The host has checked Origin already, together with Host and the
		// token, by rules that the library does not know: a unix socket has no
		// host name, and a browser's page may be allowed by the user.
		InsecureSkipVerify: true,
		// Terminal output is many small messages on a local socket, where
		// compression costs more time than it saves.
		CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, fmt.Errorf("accept connection: %w", err)
	}
	t = newTransport(ws, h.wire, cmp.Or(o.ReadLimit, HostReadLimit))
	t.pings = o.Pings
	return t, nil
}

// hijacker puts a wire between the library and the socket.
type hijacker struct {
	http.ResponseWriter
	wire *wire
}

// Hijack takes the socket over from the HTTP server.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	hj, ok := h.ResponseWriter.(http.Hijacker)
	if !ok {
		return nil, nil, errors.New("this HTTP server cannot upgrade connections")
	}
	conn, rw, err := hj.Hijack()
	if err != nil {
		return nil, nil, err
	}
	// The response to the upgrade is in rw's writer, on its way to the socket.
	if err := rw.Flush(); err != nil {
		conn.Close()
		return nil, nil, err
	}
	h.wire = newWire(conn, false)
	early, _ := rw.Reader.Peek(rw.Reader.Buffered())
	h.wire.in = append([]byte(nil), early...)
	br := bufio.NewReader(h.wire)
	return h.wire, bufio.NewReadWriter(br, bufio.NewWriter(h.wire)), nil
}
