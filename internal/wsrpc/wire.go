package wsrpc

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// corkBytes is how much may wait for a following message.
	corkBytes = 64 << 10
	// readAhead is the size of the buffer that socket reads go through, so
	// that many small frames cost few system calls.
	readAhead = 64 << 10
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

	in []byte // read from the socket, not yet by the library
	br []byte // the buffer behind in, made at the first small read

	mu     sync.Mutex // Protects following; pongs are written beside messages.
	corked bool
	out    []byte
	failed error

	sent atomic.Int64 // bytes that the socket has taken
}

// Read is net.Conn's; small reads go through a larger buffer.
func (w *wire) Read(p []byte) (int, error) {
	if len(w.in) == 0 {
		if len(p) >= readAhead {
			return w.Conn.Read(p)
		}
		if w.br == nil {
			w.br = make([]byte, readAhead)
		}
		n, err := w.Conn.Read(w.br)
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
		w.Conn.SetWriteDeadline(time.Now().Add(writeWait))
		n, err := bufs.WriteTo(w.Conn)
		w.sent.Add(n)
		if err != nil {
			return w.fail(err)
		}
	} else if len(w.out) > 0 {
		w.Conn.SetWriteDeadline(time.Now().Add(writeWait))
		n, err := w.Conn.Write(w.out)
		w.sent.Add(int64(n))
		if err != nil {
			return w.fail(err)
		}
	}
	w.out = w.out[:0]
	for len(p) > 0 {
		chunk := p[:min(len(p), writeChunk)]
		w.Conn.SetWriteDeadline(time.Now().Add(writeWait))
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
