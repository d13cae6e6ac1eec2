//go:build linux

package keeper

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

// reads gives a Spec a pipe as standard input, and the end that feeds it.
func reads(t *testing.T, s *Spec) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	s.Stdin = r
	return w
}

// unread waits until nobody can read what is written any more.
func unread(t *testing.T, s Spec, w *os.File) {
	t.Helper()
	s.Stdin.Close()
	until(t, "the other end of the pipe to be closed by all", func() bool {
		_, err := w.Write([]byte("x"))
		return errors.Is(err, syscall.EPIPE)
	})
}

// A child has the pipe as standard input, blocking, and its terminal all the same.
func TestStdin(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	if !c.TakesStdin() {
		t.Fatal("the keeper doesn't know of it")
	}
	base := k.files()
	s := shell("a", "ls -C /proc/self/fd; cat; grep flags /proc/self/fdinfo/0; stty size </dev/tty; echo typed; read x </dev/tty; exit $x")
	w := reads(t, &s)
	p := spawn(t, c, s)
	s.Stdin.Close()
	io.WriteString(w, "fed\n")
	w.Close()
	out := strings.ReplaceAll(readUntil(t, p.Pty, "typed\r\n"), "\r", "")
	if want := "0  1  2  3\nfed\nflags:\t00\n24 80\ntyped\n"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
	if n := k.files(); n != base+1 {
		t.Errorf("%d descriptors, want one more than %d", n, base)
	}
	io.WriteString(p.Pty, "7\n")
	if e := exit(t, c); e.Code != 7 {
		t.Errorf("exit = %+v", e)
	}
	s = shell("b", "read x; exit 8")
	w = reads(t, &s)
	spawn(t, c, s)
	io.WriteString(w, "line\n")
	if e := exit(t, c); e.Code != 8 {
		t.Errorf("exit = %+v", e)
	}
	unread(t, s, w)
}

// Where no child is started nobody keeps its standard input.
func TestStdinRefused(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	ctx := context.Background()
	spawn(t, c, shell("taken", "read x"))
	base := k.files()
	for what, change := range map[string]func(*Spec){
		"no size":    func(s *Spec) { s.Cols = 0 },
		"no command": func(s *Spec) { s.Argv = []string{"/no/such"} },
		"taken":      func(s *Spec) { s.ID = "taken" },
		"too long":   func(s *Spec) { s.Argv = []string{"/bin/true", strings.Repeat("x", 1<<20)} },
		"not sent":   func(s *Spec) { s.Argv = []string{"/bin/true", strings.Repeat("x", maxFrame)} },
	} {
		s := shell("x", "read x")
		change(&s)
		w := reads(t, &s)
		if _, err := c.Spawn(ctx, s); err == nil {
			t.Errorf("%s: it is started", what)
		}
		unread(t, s, w)
	}
	s := shell("x", "read x")
	w := reads(t, &s)
	if _, err := c.askWith(ctx, request{Op: opSpawn, File: true}, int(s.Stdin.Fd()), nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("a spawn without a spec: %v", err)
	}
	unread(t, s, w)
	if _, err := c.ask(ctx, request{Op: opSpawn, Spec: &s, File: true}, nil); !errors.Is(err, ErrFull) {
		t.Errorf("a spawn whose descriptor does not come: %v", err)
	}
	// Who asked does not wait any more: the child is ended.
	s = shell("late", "cat")
	w = reads(t, &s)
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := c.Spawn(over, s); err == nil {
		t.Error("a cancelled spawn succeeds")
	}
	unread(t, s, w)
	until(t, "the descriptors to be as before", func() bool { return k.files() <= base })
}

// A host that was superseded gets no child, and its pipe is let go.
func TestStdinSuperseded(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	k.dial().Close()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: k.socket})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	old := newWire(conn)
	var m message
	if err := errors.Join(old.send(request{Op: opHello, Min: MinVersion, Max: ProtocolVersion}, -1), old.recv(&m)); err != nil {
		t.Fatal(err)
	}
	c := k.dial()
	s := shell("late", "cat")
	w := reads(t, &s)
	old.send(request{Seq: 1, Op: opSpawn, Spec: &s, File: true}, int(s.Stdin.Fd())) //nolint:errcheck // the connection may have ended
	unread(t, s, w)
	if list, err := c.List(context.Background()); err != nil || len(list) != 0 {
		t.Errorf("List = %+v, %v", list, err)
	}
}

// A keeper of an earlier release doesn't know of standard input.
func TestStdinVersion(t *testing.T) {
	t.Parallel()
	if startKeeper(t, "/usr/bin/env", versionsEnv+"=2 2").dial().TakesStdin() {
		t.Error("a keeper of version 2 knows of it")
	}
}
