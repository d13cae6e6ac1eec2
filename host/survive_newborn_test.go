package host_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"tandemux/host/journal"
	"tandemux/host/keeper"
	"tandemux/host/listen"
)

// TestKilledBeforeCheckpoint: a host that dies between the start of a terminal's
// process and its journal's first checkpoint costs nothing and says nothing: it had
// told nobody anything, and what was printed is in the journal or the pty.
func TestKilledBeforeCheckpoint(t *testing.T) {
	t.Parallel()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	m := startMortal(t)
	c, mirror := m.client("owner")
	m.shellAt(c, mirror, "ahp-terminal:/first")
	m.kill()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	k, err := keeper.Dial(ctx, filepath.Join(m.dir, "run", listen.KeeperName))
	check(err)
	defer k.Close()
	children, err := k.List(ctx)
	check(err)
	// What a host does to begin a terminal, up to each step at which it can die.
	steps := []string{"spawned", "read", "preceded"}
	for _, step := range steps {
		uri := "ahp-terminal:/" + step
		j, err := journal.NewMemory(filepath.Join(m.dir, "run"), journal.Options{Name: uri, Slots: 32})
		check(err)
		check(k.Store(ctx, step+" "+uri, j.File))
		want := "printed\r\n"
		if step == "preceded" {
			check(j.Log.Append(journal.Record{Type: "terminal/before", Version: 1, Data: []byte("of old\n")}))
			want = "of old\r\n" + want
		}
		p, err := k.Spawn(ctx, keeper.Spec{
			ID: step, Dir: "/", Argv: []string{"sh", "-c", "stty -echo; echo printed; while read x; do echo got $x; done"}, Cols: 80, Rows: 24,
			Note: bytes.ReplaceAll(children[0].Note, []byte("/first"), []byte("/"+step)),
		})
		check(err)
		if step == "read" {
			raw, err := p.Pty.SyscallConn()
			check(err)
			fd := 0
			check(raw.Control(func(pty uintptr) { fd = int(pty) }))
			_, err = j.Landing.Prepare(fd)
			check(err)
			if !j.Landing.Begin() {
				t.Fatal("a new journal has no room")
			}
			n := 0
			m.until("the output is read", func() bool {
				some, err := j.Landing.Read(fd)
				if !errors.Is(err, syscall.EAGAIN) {
					check(err)
					n += some
				}
				return n == len(want)
			})
		}
		p.Pty.Close()
		j.Close()
	}
	k.Close()
	m.revive()
	c.Retry()
	for _, step := range steps {
		uri := "ahp-terminal:/" + step
		check(c.Subscribe(ctx, uri))
		m.shows(mirror, uri, "printed") // The shell has switched the echo off by then.
		m.types(c, uri, "x\n")
		m.shows(mirror, uri, "got x\r\n")
		want := "printed\r\ngot x\r\n"
		if step == "preceded" {
			want = "of old\r\n" + want
		}
		s, _ := mirror.Terminal(uri)
		if got := text(s); got != want {
			t.Errorf("%s: %q, want %q", step, got, want)
		}
	}
	m.leaveNothing(c)
}
