package rawio

import (
	"io"
	"net"
	"syscall"
	"time"
)

// File is a socket or a terminal. Its methods are like an os.File's. One goroutine at a time may
// call each; Close and deadlines may be called from any.
type File interface {
	io.ReadWriteCloser
	syscall.Conn
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
}

// Socket replaces a unix socket by one in a File. It returns other connections unchanged.
func Socket(c net.Conn) net.Conn {
	s, is := c.(*net.UnixConn)
	if !is {
		return c
	}
	f, err := take(s)
	if err != nil {
		return c
	}
	return &socket{f, s.LocalAddr(), s.RemoteAddr()}
}

type socket struct {
	File
	local, remote net.Addr
}

func (s *socket) LocalAddr() net.Addr  { return s.local }
func (s *socket) RemoteAddr() net.Addr { return s.remote }

func (s *socket) SetDeadline(t time.Time) error {
	if err := s.SetReadDeadline(t); err != nil {
		return err
	}
	return s.SetWriteDeadline(t)
}

// WriteBuffers writes all of several buffers, as net.Buffers does.
func WriteBuffers(w io.Writer, bufs net.Buffers) (int64, error) {
	if s, is := w.(*socket); is {
		if d, is := s.File.(interface {
			writeBuffers(bufs [][]byte) (int64, error)
		}); is {
			return d.writeBuffers(bufs)
		}
	}
	return bufs.WriteTo(w)
}
