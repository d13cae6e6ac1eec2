package wsrpc

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	fast "github.com/segmentio/asm/utf8"

	"tandemux/internal/jsonrpc"
)

// Read limits in bytes: what a client accepts of a host, and a host of a
// client.
const (
	ClientReadLimit = 32 << 20
	HostReadLimit   = 8 << 20
)

// closeWait is how long Close waits for the peer's half of the closing
// handshake.
const closeWait = time.Second

// keep is the largest read buffer kept from one message to the next.
const keep = 1 << 20

// transport is a WebSocket as a jsonrpc.Transport.
// It implements jsonrpc.Local, jsonrpc.PieceWriter and jsonrpc.Pinger.
type transport struct {
	ws   *websocket.Conn
	wire *wire

	buf []byte // of Read, reused

	pings bool
	// Of Read's goroutine: an answer to a ping, and the message that follows it.
	pong   []byte
	behind io.Reader

	closeOnce sync.Once
	closeErr  error
}

func newTransport(ws *websocket.Conn, wire *wire, limit int64) *transport {
	ws.SetReadLimit(limit)
	return &transport{ws: ws, wire: wire}
}

// errNotText ends a connection whose peer sends what is not UTF-8 (RFC 6455,
// section 8.1).
var errNotText = errors.New("read message: the peer sent text that is not UTF-8")

func (t *transport) Pings() bool { return t.pings }

func (t *transport) Local() bool { return t.wire.local }

// Read returns the next message, after the last answer to a ping that lies before it. The end of
// ctx closes the connection; without one Read is faster.
// Binary frames are read as text, which some clients send.
func (t *transport) Read(ctx context.Context) ([]byte, error) {
	if cap(t.buf) > keep {
		t.buf = nil
	}
	r := t.behind
	if t.behind = nil; r == nil {
		if buf, whole := t.wire.whole(t.buf[:0], ctx.Done() == nil); whole {
			return t.text(buf)
		}
		var err error
		if _, r, err = t.ws.Reader(ctx); err != nil {
			return nil, readError(err)
		}
		if pong := t.pong; pong != nil {
			t.pong, t.behind = nil, r
			return pong, nil
		}
	}
	buf := t.buf[:0]
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, make([]byte, max(4096, cap(buf), t.wire.follows()))...)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return t.text(buf)
		}
		if err != nil {
			return nil, readError(err)
		}
	}
}

// text is a message that was read, if it is one.
func (t *transport) text(buf []byte) ([]byte, error) {
	t.buf = buf
	if _, forged := jsonrpc.Pong(buf); forged {
		buf[0] = '?' // as little JSON as it was, but no answer to a ping
	}
	if !fast.Valid(buf) {
		t.Close(int(websocket.StatusInvalidFramePayloadData), "messages are UTF-8")
		return nil, errNotText
	}
	return buf, nil
}

// readError makes the peer's close a *jsonrpc.CloseError.
func readError(err error) error {
	var ce websocket.CloseError
	switch {
	case errors.As(err, &ce):
		return &jsonrpc.CloseError{Code: int(ce.Code), Reason: ce.Reason}
	case errors.Is(err, websocket.ErrMessageTooBig):
		return fmt.Errorf("read message: %w", err)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("read message: %w", io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("read message: %w", err)
}

// Write sends msg as one text frame, in one system call. A peer that takes nothing for
// writeWait ends it, or Close does; ctx is not looked at.
func (t *transport) Write(_ context.Context, msg []byte) error {
	return t.WriteMore(msg, false)
}

// WriteMore holds the frame back while more follow, up to corkBytes.
func (t *transport) WriteMore(msg []byte, more bool) error {
	if err := t.wire.send(msg, more); err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	return nil
}

func (t *transport) WritePieces(pieces jsonrpc.Pieces) error {
	if err := t.wire.sendPieces(pieces); err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	return nil
}

// TryWrite is WriteMore without waiting for anybody.
func (t *transport) TryWrite(msg []byte, more bool) (jsonrpc.Tried, error) {
	tried, err := t.wire.try(msg, more)
	if err != nil {
		err = fmt.Errorf("write message: %w", err)
	}
	return tried, err
}

// Sent is the number of bytes that the socket has taken so far, in steps of at
// most writeChunk: a slow peer can be told from one that takes nothing, also in
// the middle of a long message.
func (t *transport) Sent() int64 { return t.wire.sent.Load() }

// Close does the closing handshake, for closeWait at most, and closes the
// socket.
func (t *transport) Close(code int, reason string) error {
	t.closeOnce.Do(func() {
		for len(reason) > 123 || !utf8.ValidString(reason) {
			reason = strings.ToValidUTF8(reason[:min(len(reason), 123)], "")
		}
		timer := time.AfterFunc(closeWait, func() { t.wire.Close() })
		defer timer.Stop()
		err := t.ws.Close(websocket.StatusCode(code), reason)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && websocket.CloseStatus(err) == -1 {
			t.closeErr = err
		}
	})
	return t.closeErr
}

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
	h.wire.frames.limit = cmp.Or(o.ReadLimit, HostReadLimit)
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
	h.wire.frames.begun = true
	early, _ := rw.Reader.Peek(rw.Reader.Buffered())
	h.wire.in = append([]byte(nil), early...)
	br := bufio.NewReader(h.wire)
	return h.wire, bufio.NewReadWriter(br, bufio.NewWriter(h.wire)), nil
}
