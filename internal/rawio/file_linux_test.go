package rawio

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sockets gives two ends of a unix socket, both Files.
func sockets(t *testing.T) (a, b *descriptor) {
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
	ends := [2]*descriptor{}
	for i, c := range []net.Conn{Socket(c), Socket(s)} {
		t.Cleanup(func() { c.Close() })
		ends[i] = c.(*socket).File.(*descriptor)
	}
	return ends[0], ends[1]
}

// woken reports whether Go's poller has something for who reads.
func (d *descriptor) woken(t *testing.T) bool {
	t.Helper()
	n := 0
	err := d.in.raw.Control(func(ep uintptr) { n, _ = unix.Poll([]unix.PollFd{{Fd: int32(ep), Events: unix.POLLIN}}, 0) })
	if err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// Who has written is not woken when it is read, in Go's poller it would be.
func TestFileIsNotWokenByWhoReads(t *testing.T) {
	a, b := sockets(t)
	buf := make([]byte, 1<<10)
	for range 3 {
		if _, err := a.Write([]byte("key")); err != nil {
			t.Fatal(err)
		}
		if !b.woken(t) {
			t.Fatal("what came wakes nobody")
		}
		if n, err := b.Read(buf); err != nil || string(buf[:n]) != "key" {
			t.Fatalf("read %q, %v", buf[:n], err)
		}
		if a.woken(t) || b.woken(t) {
			t.Fatal("woken by what was read")
		}
	}
}

func TestFileReadWaits(t *testing.T) {
	a, b := sockets(t)
	got := make(chan string)
	go func() {
		defer close(got)
		buf := make([]byte, 16)
		for {
			n, err := b.Read(buf)
			if err != nil {
				got <- err.Error()
				return
			}
			got <- string(buf[:n])
		}
	}()
	for _, s := range []string{"one", "two", "three"} {
		if _, err := a.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
		if r := <-got; r != s {
			t.Fatalf("read %q of %q", r, s)
		}
	}
	b.SetReadDeadline(time.Now())
	if r := <-got; r != os.ErrDeadlineExceeded.Error() {
		t.Errorf("past the deadline: %q", r)
	}
	b.SetReadDeadline(time.Time{})
	a.Close()
	if _, err := b.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

// A Write that waits goes on when there is room, and ends with its deadline.
func TestFileWriteWaits(t *testing.T) {
	a, b := sockets(t)
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<17) // 2 MiB
	done := make(chan error, 1)
	go func() {
		head := append([]byte("head"), want[:5]...)
		n, err := WriteBuffers(&socket{File: a}, net.Buffers{head, want, nil})
		if err == nil && n != int64(len(head)+len(want)) {
			err = io.ErrShortWrite
		}
		done <- err
	}()
	all := make([]byte, 9+len(want))
	if _, err := io.ReadFull(b, all); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(all[9:], want) || string(all[:9]) != "head01234" {
		t.Error("other bytes came")
	}
	n := 0
	go func() {
		var err error
		n, err = a.Write(want)
		done <- err
	}()
	if _, err := b.Read(make([]byte, 1)); err != nil { // it has begun
		t.Fatal(err)
	}
	a.SetWriteDeadline(time.Now())
	if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 || n == len(want) {
		t.Errorf("wrote %d of %d: %v", n, len(want), err)
	}
	a.SetWriteDeadline(time.Time{})
	go io.Copy(io.Discard, b) //nolint:errcheck // ends with the test
	if _, err := a.Write(want); err != nil {
		t.Errorf("when the deadline is gone: %v", err)
	}
}

// Close ends what waits, and nothing uses a descriptor that is closed, or another's in its
// place.
func TestFileClose(t *testing.T) {
	for range 50 {
		a, b := sockets(t)
		var work sync.WaitGroup
		errs := make(chan error, 2)
		work.Go(func() {
			_, err := io.Copy(io.Discard, a)
			errs <- err
		})
		work.Go(func() {
			for {
				if _, err := a.Write(make([]byte, 64<<10)); err != nil {
					errs <- err
					return
				}
			}
		})
		time.Sleep(time.Millisecond)
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		work.Wait()
		for range 2 {
			if err := <-errs; !errors.Is(err, os.ErrClosed) {
				t.Fatalf("after Close: %v", err)
			}
		}
		if err := a.Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("the second Close: %v", err)
		}
		raw, _ := a.SyscallConn()
		if err := raw.Control(func(uintptr) { t.Error("used") }); !errors.Is(err, os.ErrClosed) {
			t.Errorf("Control: %v", err)
		}
		if _, err := io.Copy(io.Discard, b); err != nil {
			t.Errorf("the other side: %v", err) // its end comes: nothing holds the socket open
		}
	}
}

// Who begins to wait as a File is closed hears that it is closed, too.
func TestCloseBeforeWaiting(t *testing.T) {
	a, _ := sockets(t)
	raw, _ := a.SyscallConn()
	d := raw.(rawDescriptor).d
	out, err := d.writer()
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	if err := out.interest(unix.EPOLL_CTL_ADD, unix.EPOLLOUT); !errors.Is(err, os.ErrClosed) {
		t.Errorf("it is said: %v", err)
	}
}

// A terminal is read as sockets are, and says that it was hung up.
func TestFileOfATerminal(t *testing.T) {
	m, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip(err)
	}
	var n, unlock int32
	pty, err := Open(m)
	if err != nil {
		t.Fatal(err)
	}
	defer pty.Close()
	raw, _ := pty.SyscallConn()
	raw.Control(func(fd uintptr) {
		unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, int(unlock))
		v, _ := unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		n = int32(v)
	})
	slave, err := os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(int(n))), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	go io.WriteString(slave, "printed") //nolint:errcheck // what does not come fails below
	buf := make([]byte, 64)
	if k, err := pty.Read(buf); err != nil || string(buf[:k]) != "printed" {
		t.Errorf("read %q, %v", buf[:k], err)
	}
	if _, err := io.WriteString(pty, "key\n"); err != nil {
		t.Error(err)
	}
	if k, err := slave.Read(buf); err != nil || string(buf[:k]) != "key\n" {
		t.Errorf("the program read %q, %v", buf[:k], err)
	}
	slave.Close()
	for {
		if _, err := pty.Read(buf); err != nil {
			if !errors.Is(err, syscall.EIO) {
				t.Errorf("hung up: %v", err)
			}
			return
		}
	}
}

// One caller waits alone, and another is told at once.
func TestWaitAlone(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	first := make(chan bool, 1)
	wait := func() { first <- WaitAlone(nil, r.Fd(), time.Minute) }
	go wait()
	for !waits.Load() {
		select {
		case <-first: // a signal ended it before it was seen
			go wait()
		default:
			runtime.Gosched()
		}
	}
	if WaitAlone(nil, r.Fd(), time.Minute) {
		t.Error("two wait")
	}
	w.Write([]byte("x"))
	<-first // false where a signal ended it
	for tries := 1; !WaitAlone(nil, r.Fd(), time.Minute); tries++ {
		if tries == 10 {
			t.Fatal("what came was not seen")
		}
	}
}

// The poller is told of nothing that comes behind what WaitAlone waited for, and of all of it
// once Read has to wait.
func TestWaitAloneWithoutThePoller(t *testing.T) {
	a, b := sockets(t)
	raw, _ := b.SyscallConn()
	write := func() {
		if _, err := a.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 4 {
		calls, got := 0, 0
		err := raw.Read(func(fd uintptr) bool {
			buf := make([]byte, 8)
			switch calls++; calls {
			case 1:
				write()
				return false // the poller has seen it when it is back
			case 2:
				if !WaitAlone(raw, fd, time.Minute) {
					t.Error("what came was not seen")
				}
				n, _ := Read(fd, buf)
				got += n
				write()
				if round%2 == 1 && b.woken(t) { // not always: who asks has it forget what was there
					t.Error("the poller is told, too")
				}
				return false // what was written is there already
			default:
				n, _ := Read(fd, buf)
				if got += n; got == 2 {
					go a.Write([]byte("x")) //nolint:errcheck // what does not come is waited for below
				}
				return got == 3
			}
		})
		if err != nil || got != 3 {
			t.Fatalf("%d bytes came, %v", got, err)
		}
	}
}
