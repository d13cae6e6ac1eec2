package rawio_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"tandemux/internal/rawio"
)

// pair gives two ends of a unix socket.
func pair(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	ln, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	c, err := net.Dial("unix", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); s.Close() })
	return c.(*net.UnixConn), s.(*net.UnixConn)
}

func conn(t *testing.T, c syscall.Conn) *rawio.Conn {
	t.Helper()
	n, err := rawio.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWriteTakesWhatFitsAndNeverWaits(t *testing.T) {
	a, b := pair(t)
	w, r := conn(t, a), conn(t, b)
	sent := 0
	chunk := bytes.Repeat([]byte("x"), 64<<10)
	for {
		n, err := w.Write(chunk)
		if err != nil {
			t.Fatal(err)
		}
		sent += n
		if n == 0 {
			break
		}
	}
	if sent == 0 || sent > 64<<20 {
		t.Fatalf("sent %d bytes without a reader", sent)
	}
	a.CloseWrite()
	got := 0
	for {
		n, err := r.Read(chunk)
		got += n
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got != sent {
		t.Errorf("read %d bytes of %d", got, sent)
	}
}

func TestReadWaitsInThePoller(t *testing.T) {
	a, b := pair(t)
	r := conn(t, b)
	got := make(chan string, 1)
	go func() {
		buf := make([]byte, 16)
		n, err := r.Read(buf)
		if err != nil {
			got <- err.Error()
			return
		}
		got <- string(buf[:n])
	}()
	if _, err := a.Write([]byte("key")); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != "key" {
		t.Errorf("read %q", s)
	}
	b.SetReadDeadline(time.Unix(1, 0))
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read past the deadline: %v", err)
	}
	b.Close()
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) && !errors.Is(err, net.ErrClosed) {
		t.Errorf("read after Close: %v", err)
	}
	if _, err := r.Write([]byte("x")); err == nil {
		t.Error("write after Close succeeded")
	}
}

func TestWriteToAPeerThatIsGone(t *testing.T) {
	a, b := pair(t)
	w := conn(t, a)
	b.Close()
	if _, err := w.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("write: %v", err)
	}
}
