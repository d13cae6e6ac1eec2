package wsrpc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"tandemux/internal/jsonrpc"
	"tandemux/internal/rawio"
)

const (
	// corkBytes is how much may wait for a following message.
	corkBytes = 64 << 10
	// keptBytes is the largest write buffer kept from one message to the next.
	keptBytes = 64 << 10
	// apartBytes is how long a host's message is that is written from where it lies, not
	// gathered: what many connections get is in memory once.
	apartBytes = 16 << 10
	// readAhead is the size of the buffer that socket reads go through, so
	// that many small frames cost few system calls.
	readAhead = 64 << 10
	// hostReadAhead is the same for a host, whose clients send little.
	hostReadAhead = 8 << 10
	// maxAhead bounds what a client's buffer grows by for a message that is still to come.
	maxAhead = 4 << 20
	// writeWait is how long the peer may take nothing at all before the
	// connection counts as dead.
	writeWait = 30 * time.Second
	// writeChunk bounds one write, so that writeWait measures progress.
	writeChunk = 256 << 10
)

// wire is a socket below a WebSocket. It frames messages itself: the library flushes
// its small buffer after each frame, and in the middle of larger ones, and waits for a
// peer that takes nothing.
type wire struct {
	net.Conn
	direct *rawio.Conn // nil unless Conn is a socket itself
	client bool        // frames are masked
	local  bool        // it is a unix socket

	reading sync.Mutex // protects following: Close reads, too
	frames  frames     // of what was read
	in      []byte     // read from the socket, not yet by anybody else
	br      []byte     // the buffer behind in, made at the first small read

	mu     sync.Mutex // Protects following; pongs are written beside messages.
	out    []byte     // gathered, not yet taken by the socket
	failed error
	timed  bool // a write deadline is set

	sent atomic.Int64 // bytes that the socket has taken
}

func newWire(conn net.Conn, client bool) *wire {
	_, local := conn.(*net.UnixConn)
	conn = rawio.Socket(conn)
	w := &wire{Conn: conn, client: client, local: local}
	if sock, ok := conn.(syscall.Conn); ok {
		if direct, err := rawio.New(sock); err == nil {
			w.direct = direct
		}
	}
	return w
}

func (w *wire) receive(p []byte) (int, error) {
	if w.direct != nil {
		return w.direct.Read(p)
	}
	return w.Conn.Read(p)
}

// Read is net.Conn's, for the library: it gets nothing of the frame after the one that it
// reads. One that makes a message longer than it may be is refused by its header, with 1009.
func (w *wire) Read(p []byte) (n int, err error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	if len(w.in) == 0 && !w.frames.over {
		if len(p) >= w.ahead() && w.frames.left >= int64(len(p)) {
			n, err = w.receive(p)
			w.frames.left -= int64(n)
			return n, err
		}
		if err := w.fill(); err != nil {
			return 0, err
		}
	}
	n = copy(p, w.in)
	if n = w.frames.take(p[:n]); w.frames.over && n == 0 {
		return 0, w.refuse()
	}
	w.in = w.in[n:]
	return n, nil
}

// ahead is how much is read at once.
func (w *wire) ahead() int {
	if w.client {
		return readAhead
	}
	return hostReadAhead
}

// follows is how much the host has said that is to come of its message, and some more for what
// the library has read of it, up to what a client takes memory for before it is there.
func (w *wire) follows() int {
	if !w.client {
		return 0
	}
	w.reading.Lock()
	defer w.reading.Unlock()
	return int(min(w.frames.left, maxAhead)) + 4096
}

// fill reads into the buffer, which is empty. An error that comes with bytes comes again.
func (w *wire) fill() error {
	if w.br == nil {
		w.br = make([]byte, w.ahead())
	}
	n, err := w.receive(w.br)
	if w.in = w.br[:n]; n > 0 {
		err = nil
	}
	return err
}

// whole appends the next message to buf, if it is one frame that lies in the buffer, as
// nearly all do. All else is the library's, as is waiting, unless wait is true: it ends with
// the connection alone.
func (w *wire) whole(buf []byte, wait bool) ([]byte, bool) {
	w.reading.Lock()
	defer w.reading.Unlock()
	if !w.frames.between() || len(w.in) == 0 && (!wait || w.fill() != nil) {
		return buf, false
	}
	size, at := length(w.in)
	if at == 0 || w.in[0] != finText || w.in[1] >= 0x80 == w.client ||
		size > uint64(len(w.in)-at) || w.frames.limit > 0 && int64(size) > w.frames.limit {
		return buf, false
	}
	from := len(buf)
	buf = append(buf, w.in[at:at+int(size)]...)
	if !w.client {
		mask(buf[from:], w.in[at-4:at])
	}
	w.in = w.in[at+int(size):]
	return buf, true
}

// mask masks, or unmasks (RFC 6455, 5.3).
func mask(p, key []byte) {
	for i := range p {
		p[i] ^= key[i&3]
	}
}

// refuse tells the peer that its message is too long.
func (w *wire) refuse() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = append(w.out, 0x88, 2, byte(websocket.StatusMessageTooBig>>8), byte(websocket.StatusMessageTooBig&0xff))
	w.flush() //nolint:errcheck // it is over, whether the peer knows why or not
	return websocket.ErrMessageTooBig
}

// send writes a text frame behind what was gathered, or gathers it while more follow.
// An empty message only sends what was gathered.
func (w *wire) send(msg []byte, more bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(msg) >= apartBytes && !w.client && w.direct != nil {
		w.out = appendHeader(w.out, len(msg), 0)
		return w.flush(msg)
	}
	if len(msg) > 0 {
		w.out = appendFrame(w.out, msg, w.client)
	}
	if more && len(w.out) < corkBytes {
		return w.failed
	}
	return w.flush()
}

// sendPieces is send for a message that lies in several places.
func (w *wire) sendPieces(pieces [][]byte) error {
	if w.client || w.direct == nil {
		return w.send(slices.Concat(pieces...), false)
	}
	n := 0
	for _, p := range pieces {
		n += len(p)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = appendHeader(w.out, n, 0)
	return w.flush(pieces...)
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
	if more {
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
		return jsonrpc.Kept, nil
	}
	w.out = w.out[:0]
	return jsonrpc.Written, nil
}

// appendFrame appends a whole text frame, or a ping (RFC 6455, 5.2). A client's is masked.
func appendFrame(buf, msg []byte, client bool) []byte {
	const finPing, masked = 0x89, 0x80
	if payload, is := bytes.CutPrefix(msg, []byte(jsonrpc.PingMark)); is && !client {
		return append(append(buf, finPing, byte(len(payload))), payload...)
	}
	if !client {
		return append(appendHeader(buf, len(msg), 0), msg...)
	}
	buf = appendHeader(buf, len(msg), masked)
	var key [4]byte
	binary.NativeEndian.PutUint32(key[:], rand.Uint32())
	buf = append(buf, key[:]...)
	start := len(buf)
	buf = append(buf, msg...)
	mask(buf[start:], key[:])
	return buf
}

// finText begins a text frame that is a whole message.
const finText = 0x81

// appendHeader appends the header of a text frame of n bytes; bit says whether it is masked.
func appendHeader(buf []byte, n int, bit byte) []byte {
	switch buf = append(buf, finText); {
	case n < 126:
		return append(buf, bit|byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(buf, bit|126), uint16(n))
	}
	return binary.BigEndian.AppendUint64(append(buf, bit|127), uint64(n))
}

// Write is net.Conn's: what the library writes, which is the handshake and control frames.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = append(w.out, p...)
	if err := w.flush(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush writes what was gathered, and behind it what was not. The lock is held.
func (w *wire) flush(apart ...[]byte) error {
	all := make(net.Buffers, 0, 4)
	for all = append(append(all, w.out), apart...); len(all) > 0 && w.failed == nil; {
		var bufs net.Buffers
		for room := writeChunk; room > 0 && len(all) > 0; {
			n := min(room, len(all[0]))
			if n > 0 {
				bufs = append(bufs, all[0][:n])
			}
			if all[0], room = all[0][n:], room-n; len(all[0]) == 0 {
				all = all[1:]
			}
		}
		if len(bufs) == 0 {
			break
		}
		w.timed = true
		w.Conn.SetWriteDeadline(time.Now().Add(writeWait))
		n, err := rawio.WriteBuffers(w.Conn, bufs)
		w.sent.Add(n)
		if err != nil {
			return w.fail(err)
		}
	}
	if w.out = w.out[:0]; cap(w.out) > keptBytes {
		w.out = nil
	}
	return w.failed
}

func (w *wire) fail(err error) error {
	if timeout, is := errors.AsType[net.Error](err); is && timeout.Timeout() {
		err = errors.New("the peer has taken nothing for " + writeWait.String())
	}
	w.failed = err
	return err
}
