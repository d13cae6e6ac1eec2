//go:build linux

package keeper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// memory makes a memory file with text in it.
func memory(t *testing.T, text string) *os.File {
	t.Helper()
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "test")
	t.Cleanup(func() { f.Close() })
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return f
}

func contents(t *testing.T, f *os.File) string {
	t.Helper()
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What a host leaves, the next one finds; no child sees any of it.
func TestHandOver(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	old := k.dial()
	ctx := context.Background()
	base := k.files()
	for i, text := range []string{"first", "second"} {
		if err := old.Store(ctx, "ahp-terminal:/a", memory(t, text)); err != nil {
			t.Fatal(err)
		}
		if n := k.files(); n != base+1 {
			t.Errorf("store %d: %d descriptors, %d before", i, n, base)
		}
	}
	if err := old.Store(ctx, "x-tandemux-layout:/a", memory(t, "layout")); err != nil {
		t.Fatal(err)
	}
	s := shell("a", "ls -l /proc/self/fd; read x")
	s.Note = []byte{0, 1, 0xff}
	p := spawn(t, old, s)
	if out := readUntil(t, p.Pty, "proc"); strings.Contains(out, "memfd") {
		t.Errorf("the child has the keeper's files: %s", out)
	}
	c := k.dial() // supersedes
	list, err := c.List(ctx)
	if err != nil || len(list) != 1 || !bytes.Equal(list[0].Note, s.Note) {
		t.Errorf("List = %+v, %v", list, err)
	}
	files, err := c.Files(ctx)
	if err != nil || fmt.Sprint(files) != "[{ahp-terminal:/a 6} {x-tandemux-layout:/a 6}]" {
		t.Errorf("Files = %v, %v", files, err)
	}
	for range 2 { // fetching takes nothing away
		f, err := c.Fetch(ctx, "ahp-terminal:/a")
		if err != nil {
			t.Fatal(err)
		}
		if got := contents(t, f); got != "second" {
			t.Errorf("fetched %q", got)
		}
	}
	for _, name := range []string{"ahp-terminal:/a", "ahp-terminal:/a", "x-tandemux-layout:/a"} {
		if err := c.Discard(ctx, name); err != nil {
			t.Error(err)
		}
	}
	if _, err := c.Fetch(ctx, "ahp-terminal:/a"); !errors.Is(err, ErrUnknown) {
		t.Errorf("fetch a discarded file: %v", err)
	}
	until(t, "the old connection to be gone", func() bool { return k.files() <= base+1 }) // the child's pty
}

func TestHandOverRefusals(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	ctx := context.Background()
	spawn(t, c, shell("a", "read x"))
	base := k.files()
	pair, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer pair.Close()
	sock, err := pair.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer sock.Close()
	long := shell("b", "")
	long.Note = make([]byte, MaxNote+1)
	_, spawnErr := c.Spawn(ctx, long)
	for name, err := range map[string]error{
		"a socket":      c.Store(ctx, "s", sock),
		"no name":       c.Store(ctx, "", memory(t, "")),
		"a long name":   c.Store(ctx, strings.Repeat("x", maxName+1), memory(t, "")),
		"note at spawn": spawnErr,
	} {
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.ask(ctx, request{Op: opStore, Name: "x", File: true}, nil); !errors.Is(err, ErrFull) {
		t.Errorf("store without a descriptor: %v", err)
	}
	if _, err := c.ask(ctx, request{Op: opStore, Name: "x"}, nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("store that announces none: %v", err)
	}
	if files, err := c.Files(ctx); err != nil || len(files) != 0 {
		t.Errorf("Files = %v, %v", files, err)
	}
	until(t, "nothing to be left", func() bool { return k.files() <= base })
}

// Many stores at once: each descriptor finds its own name.
func TestStorePipelined(t *testing.T) {
	t.Parallel()
	c := startKeeper(t).dial()
	ctx := context.Background()
	const n = 100
	errs := make(chan error, 2*n)
	for i := range n {
		name := fmt.Sprint("file ", i)
		f := memory(t, name)
		go func() { errs <- c.Store(ctx, name, f) }()
		go func() { _, err := c.List(ctx); errs <- err }()
	}
	for range 2 * n {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	files, err := c.Files(ctx)
	if err != nil || len(files) != n {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, info := range files {
		f, err := c.Fetch(ctx, info.Name)
		if err != nil {
			t.Fatal(err)
		}
		if got := contents(t, f); got != info.Name {
			t.Errorf("%q holds %q", info.Name, got)
		}
	}
}

// Two that can't meet part with words about what to do, and no shell is lost.
func TestCannotMeet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ speaks, want string }{
		{"4 6", "is newer than this program: it speaks version 4 and later, and this tandemux speaks versions 2 to 3 of its protocol: use the newer tandemux"},
		{"-3 0", "the keeper says: the host speaks versions 2 to 3"},
	} {
		k := startKeeper(t, "/usr/bin/env", versionsEnv+"="+tt.speaks)
		until(t, "the keeper to refuse", func() bool {
			c, err := Dial(context.Background(), k.socket)
			if err == nil {
				c.Close()
				t.Fatal("they met")
			}
			if errors.Is(err, ErrNotRunning) {
				return false
			}
			if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("speaks %s: %v", tt.speaks, err)
			}
			return true
		})
	}
	err := cannotMeet(&message{Pid: 7, Min: -1, Max: -1, Error: &fault{Code: "version", Text: "no"}})
	if !errors.Is(err, ErrVersion) {
		t.Errorf("%v", err)
	}
}

// A keeper whose table of descriptors is full refuses children and files, and
// serves the next host all the same.
func TestFullTable(t *testing.T) {
	t.Parallel()
	k := startKeeper(t, "/bin/sh", "-c", `ulimit -n 80; exec "$0"`)
	c := k.dial()
	ctx := context.Background()
	n := 0
	var err error
	for ; n < 80; n++ {
		var p Process
		if p, err = c.Spawn(ctx, shell(fmt.Sprint(n), "read x; exit 2")); err != nil {
			break
		}
		p.Pty.Close()
	}
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "ulimit -n") {
		t.Fatalf("child %d: %v", n, err)
	}
	if n < 80-spareFDs-15 {
		t.Errorf("full after %d children", n)
	}
	// A stored file takes the number that the refused pty had, and no more.
	for i := range 5 {
		err = c.Store(ctx, fmt.Sprint(i), memory(t, "x"))
	}
	if !errors.Is(err, ErrFull) {
		t.Errorf("Store = %v", err)
	}
	for range 5 {
		c = k.dial()
		if list, err := c.List(ctx); err != nil || len(list) != n {
			t.Fatalf("%d children, %v", len(list), err)
		}
	}
	p, err := c.Adopt(ctx, "3")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Pty.Close()
	io.WriteString(p.Pty, "\n")
	if e := exit(t, c); e != (Exit{ID: "3", Code: 2}) {
		t.Errorf("exit = %+v", e)
	}
	if err := c.Forget(ctx, "3"); err != nil {
		t.Fatal(err)
	}
	for i := range 5 { // there is room again
		c.Discard(ctx, fmt.Sprint(i))
	}
	spawn(t, c, shell("again", "read x"))
}

// Nothing but SIGTERM and SIGKILL ends a keeper.
func TestSignalsSurvived(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	p := spawn(t, c, shell("a", "read x; exit 9"))
	for _, sig := range []syscall.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGALRM, syscall.SIGUSR1,
		syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGWINCH,
	} {
		for range 3 {
			k.cmd.Process.Signal(sig)
		}
	}
	if _, err := c.List(context.Background()); err != nil {
		t.Fatal(err)
	}
	io.WriteString(p.Pty, "\n")
	if e := exit(t, c); e.Code != 9 {
		t.Errorf("exit = %+v", e)
	}
}

// A panic while a request is answered costs that connection.
func TestPanic(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	p := spawn(t, c, shell("a", "read x; exit 9"))
	ctx := context.Background()
	if _, err := c.ask(ctx, request{Op: "panic"}, nil); err == nil {
		t.Error("the request succeeded")
	}
	c = k.dial()
	if list, err := c.List(ctx); err != nil || len(list) != 1 {
		t.Fatalf("List = %v, %v", list, err)
	}
	io.WriteString(p.Pty, "\n")
	if e := exit(t, c); e.Code != 9 {
		t.Errorf("exit = %+v", e)
	}
}

// What an old host asked before it knew that it was superseded is not done.
func TestSupersededRequest(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	k.dial().Close()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: k.socket})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	w := newWire(conn)
	var m message
	if err := errors.Join(w.send(request{Op: opHello, Min: 1, Max: 2}, -1), w.recv(&m)); err != nil {
		t.Fatal(err)
	}
	// A stopped host: its request is on the way when the other one comes.
	c := k.dial()
	s := shell("late", "read x")
	w.send(request{Seq: 1, Op: opSpawn, Spec: &s}, -1)
	for {
		var m message
		if err := w.recv(&m); err != nil {
			break
		}
		if m.Seq == 1 && (m.Error == nil || !errors.Is(m.Error, ErrSuperseded)) {
			t.Errorf("answer %+v", m)
		}
	}
	if list, err := c.List(context.Background()); err != nil || len(list) != 0 {
		t.Errorf("List = %v, %v", list, err)
	}
}

// The keeper runs on when its program is replaced and removed.
func TestBinaryReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin := filepath.Join(dir, "tandemux")
	// By another process: what another test forks meanwhile would have it open for writing, and it could not be run.
	if out, err := exec.Command("cp", os.Args[0], bin).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	k := startKeeper(t, bin)
	c := k.dial()
	p := spawn(t, c, shell("a", "read x; exit 1"))
	next := filepath.Join(dir, "next")
	if err := os.WriteFile(next, []byte("#!/bin/false\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, bin); err != nil {
		t.Fatal(err)
	}
	spawn(t, c, shell("b", "exit 2"))
	if e := exit(t, c); e.Code != 2 {
		t.Errorf("exit = %+v", e)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	c = k.dial()
	exit(t, c)
	io.WriteString(p.Pty, "\n")
	if e := exit(t, c); e.Code != 1 {
		t.Errorf("exit = %+v", e)
	}
}

// Hosts are killed at any instant: whatever they had asked for was done whole
// or not at all, and the keeper has no descriptor too many.
func TestHostsDieAtRandom(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	k.dial().Close()
	base := k.files()
	ctx := context.Background()
	// More of them, that live longer, where none has got to start a child.
	children, rounds := 0, 0
	for ; rounds < 12 || children == 0 && rounds < 100; rounds++ {
		host := exec.Command(os.Args[0])
		host.Env = append(os.Environ(), roleEnv+"=busy", socketEnv+"="+k.socket)
		host.Stdout = os.Stdout
		if err := host.Start(); err != nil {
			t.Fatal(err)
		}
		// The instant is the point, so this is a wait for time.
		time.Sleep(time.Duration(rand.IntN(60+10*max(rounds-12, 0))) * time.Millisecond)
		host.Process.Kill()
		host.Wait()
		c := k.dial()
		list, err := c.List(ctx)
		if err != nil {
			t.Fatal(err)
		}
		files, err := c.Files(ctx)
		if err != nil {
			t.Fatal(err)
		}
		children += len(list)
		for _, info := range list {
			if string(info.Note) != info.ID {
				t.Errorf("%q has the note %q", info.ID, info.Note)
			}
			p, err := c.Adopt(ctx, info.ID)
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(p.Pty, "\n")
			p.Pty.Close()
		}
		for range list {
			if e := exit(t, c); e.Code != 3 && e.Code != 4 {
				t.Errorf("exit = %+v", e)
			}
		}
		until(t, "one descriptor for each child and file, and one for us", func() bool { return k.files() <= base+len(list)+len(files)+1 })
		for _, info := range list {
			if err := c.Forget(ctx, info.ID); err != nil {
				t.Error(err)
			}
		}
		for _, f := range files {
			c.Discard(ctx, f.Name)
		}
		c.Close()
	}
	until(t, "all to be let go", func() bool { return k.files() <= base })
	if children == 0 {
		t.Error("no host lived long enough to start a child")
	}
	t.Logf("%d hosts killed, %d children adopted", rounds, children)
}

// The keeper of a hundred terminals is small.
func TestMemory(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	ctx := context.Background()
	const n = 100
	for i := range n {
		s := shell(fmt.Sprint("ahp-terminal:/", i), "read x")
		s.Note = make([]byte, 1<<10)
		p, err := c.Spawn(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		p.Pty.Close()
		if err := c.Store(ctx, s.ID, memory(t, "x")); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", k.cmd.Process.Pid))
	if err != nil {
		t.Skip(err)
	}
	kilobytes := func(name string) (kb int) {
		_, rest, _ := strings.Cut(string(text), "\n"+name+":")
		if _, err := fmt.Sscan(rest, &kb); err != nil {
			t.Fatal(name, err)
		}
		return kb
	}
	kb := kilobytes("Private_Dirty")
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", k.cmd.Process.Pid))
	t.Logf("%d terminals: PSS %d kB, of its own %d kB, %d descriptors, %d threads", n, kilobytes("Pss"), kb, k.files(), len(threads))
	if len(threads) > 20 {
		t.Errorf("%d threads", len(threads))
	}
	if kb > 16<<10 && !raceEnabled {
		t.Errorf("%d kB", kb)
	}
}
