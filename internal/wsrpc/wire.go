package wsrpc

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"tandemux/internal/jsonrpc"
	"tandemux/internal/rawio"
)

const (
	// corkBytes is how much may wait for a following message.
	corkBytes = 64 << 10
	// readAhead is the size of the buffer that socket reads go through, so
	// that many small frames cost few system calls.
	readAhead = 64 << 10
	// hostReadAhead is the same for a host, whose clients send little.
	hostReadAhead = 8 << 10
	// writeWait is how long the peer may take nothing at all before the
	// connection counts as dead.
	writeWait = 30 * time.Second
	// writeChunk bounds one write, so that writeWait measures progress.
	writeChunk = 256 << 10
)

// wire is a socket below a WebSocket. The library flushes its small buffer
// after each frame, and in the middle of larger ones; a corked wire gathers
// that, and writes at uncork.
type wire struct {
	net.Conn
	direct *rawio.Conn // nil unless Conn is a socket itself
	client bool        // frames are masked

	in []byte // read from the socket, not yet by the library
	br []byte // the buffer behind in, made at the first small read

	mu     sync.Mutex // Protects following; pongs are written beside messages.
	corked bool
	out    []byte
	failed error
	timed  bool // a write deadline is set

	sent atomic.Int64 // bytes that the socket has taken
}

func newWire(conn net.Conn, client bool) *wire {
	w := &wire{Conn: conn, client: client}
	if sock, ok := conn.(syscall.Conn); ok {
		if direct, err := rawio.New(sock); err == nil {
			w.direct = direct
		}
	}
	return w
}

// receive reads from the socket.
func (w *wire) receive(p []byte) (int, error) {
	if w.direct != nil {
		return w.direct.Read(p)
	}
	return w.Conn.Read(p)
}

// Read is net.Conn's; small reads go through a larger buffer.
func (w *wire) Read(p []byte) (int, error) {
	if len(w.in) == 0 {
		ahead := hostReadAhead
		if w.client {
			ahead = readAhead
		}
		if len(p) >= ahead {
			return w.receive(p)
		}
		if w.br == nil {
			w.br = make([]byte, ahead)
		}
		n, err := w.receive(w.br)
		if n == 0 {
			return 0, err
		}
		w.in = w.br[:n] // An error, if any, comes again with the next read.
	}
	n := copy(p, w.in)
	w.in = w.in[n:]
	return n, nil
}

// cork makes Write gather.
func (w *wire) cork() {
	w.mu.Lock()
	w.corked = true
	w.mu.Unlock()
}

// uncork writes what was gathered, unless more follows and there is room.
func (w *wire) uncork(more bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.corked = more
	if more && len(w.out) < corkBytes {
		return w.failed
	}
	return w.flush(nil)
}

// try writes a text frame, and what was gathered before it, as far as the socket
// takes it at once. It waits for nobody: not for a pong, either, that the
// library writes to a peer that reads nothing.
func (w *wire) try(msg []byte, more bool) (jsonrpc.Tried, error) {
	if w.direct == nil || !w.mu.TryLock() {
		return jsonrpc.Refused, nil
	}
	defer w.mu.Unlock()
	if w.failed != nil {
		return jsonrpc.Written, w.failed
	}
	w.out = appendFrame(w.out, msg, w.client)
	if w.corked = more; more {
		return jsonrpc.Written, nil
	}
	if w.timed { // A deadline that has passed would fail the write.
		w.timed = false
		w.Conn.SetWriteDeadline(time.Time{})
	}
	n, err := w.direct.Write(w.out)
	w.sent.Add(int64(n))
	if err != nil {
		return jsonrpc.Written, w.fail(err)
	}
	if n < len(w.out) {
		w.out = w.out[:copy(w.out, w.out[n:])]
		w.corked = true
		return jsonrpc.Kept, nil
	}
	w.out = w.out[:0]
	return jsonrpc.Written, nil
}

// appendFrame appends a whole text frame (RFC 6455, 5.2). A client's is masked.
func appendFrame(buf, msg []byte, client bool) []byte {
	const finText, masked = 0x81, 0x80
	var bit byte
	if client {
		bit = masked
	}
	buf = append(buf, finText)
	switch n := len(msg); {
	case n < 126:
		buf = append(buf, bit|byte(n))
	case n < 1<<16:
		buf = binary.BigEndian.AppendUint16(append(buf, bit|126), uint16(n))
	default:
		buf = binary.BigEndian.AppendUint64(append(buf, bit|127), uint64(n))
	}
	if !client {
		return append(buf, msg...)
	}
	var key [4]byte
	binary.NativeEndian.PutUint32(key[:], rand.Uint32())
	buf = append(buf, key[:]...)
	start := len(buf)
	buf = append(buf, msg...)
	for i := range msg {
		buf[start+i] ^= key[i&3]
	}
	return buf
}

// patience gives the peer writeWait to take something.
func (w *wire) patience() {
	w.timed = true
	w.Conn.SetWriteDeadline(time.Now().Add(writeWait))
}

// Write is net.Conn's.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return 0, w.failed
	}
	if w.corked && len(w.out)+len(p) <= corkBytes {
		w.out = append(w.out, p...)
		return len(p), nil
	}
	if err := w.flush(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush writes what was gathered and p behind it. The lock is held.
func (w *wire) flush(p []byte) error {
	if w.failed != nil {
		return w.failed
	}
	if len(w.out) > 0 && len(p) > 0 {
		bufs := net.Buffers{w.out, p[:min(len(p), writeChunk)]}
		p = p[len(bufs[1]):]
		w.patience()
		n, err := bufs.WriteTo(w.Conn)
		w.sent.Add(n)
		if err != nil {
			return w.fail(err)
		}
	} else if len(w.out) > 0 {
		w.patience()
		n, err := w.Conn.Write(w.out)
		w.sent.Add(int64(n))
		if err != nil {
			return w.fail(err)
		}
	}
	w.out = w.out[:0]
	for len(p) > 0 {
		chunk := p[:min(len(p), writeChunk)]
		w.patience()
		n, err := w.Conn.Write(chunk)
		w.sent.Add(int64(n))
		if err != nil {
			return w.fail(err)
		}
		p = p[len(chunk):]
	}
	return nil
}

func (w *wire) fail(err error) error {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		err = errors.New("the peer has taken nothing for " + writeWait.String())
	}
	w.failed = err
	return err
}
