package keeper

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxFrame bounds a message; an environment and a full list are large.
	maxFrame = 8 << 20
	// keepBuf is the largest buffer that is kept for the next frame, in bytes.
	keepBuf = 64 << 10
	// leastRead is the least room for a read, in bytes.
	leastRead = 1 << 10
	// maxFiles bounds descriptors that arrived and were not taken yet.
	maxFiles = 8
	// sendTimeout is how long a peer may leave a message unread before it counts as
	// gone. A stopped host must not delay the keeper's reaping.
	sendTimeout = 10 * time.Second
)

// wire sends and receives frames. send may be called from any goroutine, recv
// and takeFile from one.
type wire struct {
	conn *net.UnixConn

	wmu sync.Mutex // held while a frame, or a run of frames, is written

	rbuf  []byte // what was read beyond the last frame
	files []int  // descriptors in order of arrival
}

func newWire(conn *net.UnixConn) *wire { return &wire{conn: conn} }

// send writes one message; fd goes with it unless it is negative.
func (w *wire) send(msg any, fd int) error {
	w.wmu.Lock()
	defer w.wmu.Unlock()
	return w.sendLocked(msg, fd)
}

// sendLocked is send for a caller that holds wmu.
func (w *wire) sendLocked(msg any, fd int) error {
	body, err := json.Marshal(msg)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	if len(body) > maxFrame {
		return fmt.Errorf("message of %d bytes is over the limit of %d: %w", len(body), maxFrame, ErrInvalid)
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body)))
	frame = append(frame, body...)
	if err := w.conn.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
		return err
	}
	var rights []byte
	if fd >= 0 {
		rights = unix.UnixRights(fd)
	}
	// A descriptor travels with the first byte, so a partial write may be
	// finished without it.
	n, _, err := w.conn.WriteMsgUnix(frame, rights, nil)
	if err == nil && n < len(frame) {
		_, err = w.conn.Write(frame[n:])
	}
	return err
}

// recv reads one message into msg. After an error the connection can't be used any more.
func (w *wire) recv(msg any) error {
	if err := w.fill(4); err != nil {
		return err
	}
	size := int(binary.BigEndian.Uint32(w.rbuf))
	if size > maxFrame {
		return fmt.Errorf("frame of %d bytes is over the limit of %d", size, maxFrame)
	}
	if err := w.fill(4 + size); err != nil {
		return err
	}
	err := json.Unmarshal(w.rbuf[4:4+size], msg)
	w.rbuf = append(w.rbuf[:0], w.rbuf[4+size:]...)
	if cap(w.rbuf) > keepBuf && len(w.rbuf) < keepBuf {
		w.rbuf = append([]byte(nil), w.rbuf...) // a keeper stays small after a large frame
	}
	if err != nil {
		return fmt.Errorf("decode message: %w", err)
	}
	return nil
}

// fill reads until rbuf holds n bytes. Its buffer is not on the stack, which would stay large.
func (w *wire) fill(n int) error {
	var oob [256]byte
	for have := len(w.rbuf); have < n; have = len(w.rbuf) {
		w.rbuf = slices.Grow(w.rbuf, max(n-have, leastRead))
		got, goob, _, _, err := w.conn.ReadMsgUnix(w.rbuf[have:cap(w.rbuf)], oob[:])
		if goob > 0 {
			if err := w.keepFiles(oob[:goob]); err != nil {
				return err
			}
		}
		switch {
		case err != nil:
			return err
		case got <= 0 && goob == 0: // some systems report the end without an error
			if len(w.rbuf) > 0 {
				return io.ErrUnexpectedEOF
			}
			return io.EOF
		}
		w.rbuf = w.rbuf[:have+got]
	}
	return nil
}

// keepFiles queues the descriptors of a control message.
func (w *wire) keepFiles(oob []byte) error {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return fmt.Errorf("parse control message: %w", err)
	}
	for _, m := range msgs {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			continue // some other kind of control message
		}
		w.files = append(w.files, fds...)
	}
	if len(w.files) > maxFiles {
		return errors.New("peer sent too many descriptors")
	}
	return nil
}

// takeFile returns the oldest descriptor that arrived; the caller owns it.
func (w *wire) takeFile() (fd int, ok bool) {
	if len(w.files) == 0 {
		return -1, false
	}
	fd = w.files[0]
	w.files = w.files[1:]
	return fd, true
}

// empty reports whether nothing of the next frame has arrived, so that no descriptor belongs to
// that.
func (w *wire) empty() bool { return len(w.rbuf) == 0 }

// dropFiles closes descriptors that were not taken.
func (w *wire) dropFiles() {
	for _, fd := range w.files {
		unix.Close(fd)
	}
	w.files = nil
}

// close ends the connection; a recv that waits returns.
func (w *wire) close() { w.conn.Close() }
