package linktest

import (
	"io"
	"net"
	"testing"
	"time"
)

// TestCut: a way that is cut takes nothing in that direction, not even the end, and gives it
// once it is open again; the other direction goes on.
func TestCut(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	p := Link{Delay: time.Millisecond}.New(t, ln.Addr().String(), 1)
	near, err := net.Dial("tcp", p.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	far, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	passes := func(from, to net.Conn, within time.Duration) bool {
		t.Helper()
		if _, err := from.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		to.SetReadDeadline(time.Now().Add(within)) //nolint:errcheck // a socket
		_, err := io.ReadFull(to, make([]byte, 1))
		return err == nil
	}
	p.Cut(Out)
	if passes(near, far, 100*time.Millisecond) {
		t.Error("what was cut passes")
	}
	if !passes(far, near, 10*time.Second) {
		t.Error("the other direction is cut")
	}
	near.Close()
	far.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) //nolint:errcheck // a socket
	if n, err := far.Read(make([]byte, 1)); err == nil || err == io.EOF {
		t.Errorf("through what is cut come %d bytes, %v", n, err)
	}
	p.Heal()
	far.SetReadDeadline(time.Now().Add(10 * time.Second)) //nolint:errcheck // a socket
	if text, err := io.ReadAll(far); err != nil || string(text) != "x" {
		t.Errorf("once it is open come %q, %v", text, err)
	}
}
