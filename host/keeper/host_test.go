//go:build linux

package keeper

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
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

// The host is killed; its shells answer the next one, and what ended meanwhile
// is reported to each new host until it is forgotten.
func TestHostDies(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	k.dial().Close()
	host := exec.Command(os.Args[0])
	host.Env = append(os.Environ(), roleEnv+"=host", socketEnv+"="+k.socket)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "ready <nil>\n" {
		t.Fatalf("host said %q, %v", line, err)
	}
	host.Process.Kill()
	host.Wait()

	ctx := context.Background()
	c := k.dial()
	list, err := c.List(ctx)
	if err != nil || len(list) != 2 || list[0].ID != "orphan" || list[0].Exit != nil || list[0].Argv[0] != "/bin/sh" {
		t.Fatalf("List = %+v, %v", list, err)
	}
	p, err := c.Adopt(ctx, "quick")
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(p.Pty, "\n")
	if e := exit(t, c); e != (Exit{ID: "quick", Code: 5}) {
		t.Errorf("exit = %+v", e)
	}
	p.Pty.Close()
	c.Close()

	for range 2 { // the exit is not lost on the first who hears it
		c = k.dial()
		if e := exit(t, c); e != (Exit{ID: "quick", Code: 5}) {
			t.Errorf("exit = %+v", e)
		}
		c.Close()
	}

	c = k.dial()
	exit(t, c)
	p, err = c.Adopt(ctx, "orphan")
	if err != nil || p.Pid != list[0].Pid {
		t.Fatalf("Adopt = %+v, %v", p, err)
	}
	defer p.Pty.Close()
	if err := c.Forget(ctx, "orphan"); !errors.Is(err, ErrRunning) {
		t.Errorf("forget a running child: %v", err)
	}
	io.WriteString(p.Pty, "again\n")
	readUntil(t, p.Pty, "got:again")
	if e := exit(t, c); e != (Exit{ID: "orphan", Code: 7}) {
		t.Errorf("exit = %+v", e)
	}
	for _, id := range []string{"orphan", "quick"} {
		if err := c.Forget(ctx, id); err != nil {
			t.Error(err)
		}
	}
	if err := c.Forget(ctx, "quick"); !errors.Is(err, ErrUnknown) {
		t.Errorf("forget twice: %v", err)
	}
	if _, err := c.Adopt(ctx, "quick"); !errors.Is(err, ErrUnknown) {
		t.Errorf("adopt a forgotten child: %v", err)
	}
}

// What a child wrote before it ended, while no host was there, is still read.
func TestLastWords(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	p := spawn(t, c, shell("w", "read x; echo last words; exit 4"))
	io.WriteString(p.Pty, "\n")
	p.Pty.Close()
	c.Close()
	c = k.dial()
	if e := exit(t, c); e.Code != 4 {
		t.Fatalf("exit = %+v", e)
	}
	p, err := c.Adopt(context.Background(), "w")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Pty.Close()
	if out := readAll(t, p.Pty); !strings.Contains(out, "last words") {
		t.Errorf("read %q", out)
	}
}

func TestSupersede(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	old := k.dial()
	p := spawn(t, old, shell("a", "read x; exit 1"))
	c := k.dial()
	select {
	case <-old.Done():
	case <-time.After(time.Minute):
		t.Fatal("the old host was not told")
	}
	if !errors.Is(old.Err(), ErrSuperseded) {
		t.Errorf("old host's error: %v", old.Err())
	}
	if _, ok := <-old.Exits(); ok {
		t.Error("an exit on a superseded connection")
	}
	if _, err := old.List(context.Background()); !errors.Is(err, ErrSuperseded) {
		t.Errorf("List on a superseded connection: %v", err)
	}
	// Its pty stays good, and the exit goes to the new host.
	io.WriteString(p.Pty, "\n")
	if e := exit(t, c); e.Code != 1 {
		t.Errorf("exit = %+v", e)
	}
}

// Hosts that stop in the middle of a message, or talk nonsense, cost only
// their own connection.
func TestBadHosts(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	p := spawn(t, c, shell("a", "read x; exit 9"))
	files := k.files()
	frame := func(body string) string {
		return string(binary.BigEndian.AppendUint32(nil, uint32(len(body)))) + body
	}
	hello := frame(`{"seq":1,"op":"hello","min":1,"max":2}`)
	for name, bytes := range map[string]string{
		"nothing":            "",
		"half a length":      "\x00\x00",
		"half a frame":       hello + "\x00\x00\x01\x00{",
		"huge length":        hello + "\xff\xff\xff\xff",
		"not JSON":           hello + frame("hello"),
		"no hello":           frame(`{"seq":1,"op":"list"}`),
		"half a hello":       hello[:20],
		"spawn and leave":    hello + frame(`{"seq":2,"op":"spawn","spec":{"id":"left","argv":["/bin/cat"],"dir":"/","cols":80,"rows":24}}`),
		"unknown op":         hello + frame(`{"seq":2,"op":"dance"}`),
		"spawn without spec": hello + frame(`{"seq":2,"op":"spawn"}`),
	} {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: k.socket})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if rest, ok := strings.CutPrefix(bytes, hello); ok {
			conn.Write([]byte(hello))
			var m message
			if err := newWire(conn).recv(&m); err != nil || m.Version != 2 {
				t.Fatalf("%s: hello: %+v, %v", name, m, err)
			}
			bytes = rest
		}
		conn.Write([]byte(bytes))
		if name == "spawn and leave" {
			conn.Read(make([]byte, 1)) // the next host's hello would have it refused
		}
		conn.Close()
	}
	c = k.dial()
	ctx := context.Background()
	until(t, "the bad hosts to be gone", func() bool {
		list, err := c.List(ctx)
		if err != nil { // a late one of them superseded this one
			c = k.dial()
			return false
		}
		return len(list) == 2 && k.files() <= files+2 // the child "left" has a pty and a pidfd
	})
	io.WriteString(p.Pty, "\n")
	if e := exit(t, c); e != (Exit{ID: "a", Code: 9}) {
		t.Errorf("exit = %+v", e)
	}
}

// A descriptor that a host sends for no reason is closed.
func TestUninvitedDescriptor(t *testing.T) {
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
	if err := errors.Join(w.send(request{Op: opHello, Min: MinVersion, Max: ProtocolVersion}, -1), w.recv(&m)); err != nil {
		t.Fatal(err)
	}
	files := k.files()
	for range 20 {
		if err := errors.Join(w.send(request{Op: opList}, 0), w.recv(&m)); err != nil {
			t.Fatal(err)
		}
	}
	// One is open for a moment beyond the answer, and the runtime may need one.
	until(t, "the descriptors to be closed", func() bool { return k.files() <= files+2 })
}

func TestVersions(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	k.dial().Close()
	for _, tt := range []struct {
		min, max, version int
	}{{1, 1, 0}, {1, 2, 2}, {1, 7, 3}, {2, 7, 3}, {3, 7, 3}, {4, 7, 0}, {0, 0, 0}} {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: k.socket})
		if err != nil {
			t.Fatal(err)
		}
		w := newWire(conn)
		var m message
		if err := errors.Join(w.send(request{Op: opHello, Min: tt.min, Max: tt.max}, -1), w.recv(&m)); err != nil {
			t.Fatal(err)
		}
		if m.Version != tt.version || (m.Error == nil) != (tt.version > 0) {
			t.Errorf("hello %d..%d: %+v", tt.min, tt.max, m)
		}
		if m.Error != nil && !errors.Is(m.Error, ErrVersion) {
			t.Errorf("hello %d..%d: %v", tt.min, tt.max, m.Error)
		}
		conn.Close()
	}
}

func TestSocket(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	fi, err := os.Stat(k.socket)
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v", fi.Mode(), err)
	}
	if c.Pid() != k.cmd.Process.Pid {
		t.Errorf("Pid = %d, want %d", c.Pid(), k.cmd.Process.Pid)
	}
	if _, err := Listen(k.socket); err == nil || !strings.Contains(err.Error(), "another keeper listens") {
		t.Errorf("Listen on a live socket: %v", err)
	}
	dir := filepath.Dir(k.socket)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(file); err == nil || !strings.Contains(err.Error(), "is not a socket") {
		t.Errorf("Listen on a file: %v", err)
	}
	k.cmd.Process.Kill()
	k.cmd.Wait()
	<-c.Done()
	if c.Err() == nil {
		t.Error("no error after the keeper's death")
	}
	if _, err := Dial(context.Background(), k.socket); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Dial a dead keeper: %v", err)
	}
	if _, err := Dial(context.Background(), filepath.Join(dir, "none")); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Dial nothing: %v", err)
	}
	ln, err := Listen(k.socket)
	if err != nil {
		t.Fatalf("Listen on a stale socket: %v", err)
	}
	ln.Close()
}

// TestSocketOfTheDying: a keeper that was killed is connected to until all is closed that it had,
// which may be after its host has seen its end and starts another.
func TestSocketOfTheDying(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	dying, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	dying.(*net.UnixListener).SetUnlinkOnClose(false)
	time.AfterFunc(50*time.Millisecond, func() { dying.Close() })
	ln, err := Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
}

// Another user is turned away even where the file modes let it in.
func TestOtherUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root to become another user")
	}
	k := startKeeper(t)
	k.dial().Close()
	os.Chmod(filepath.Dir(k.socket), 0o755)
	os.Chmod(k.socket, 0o666)
	bin := filepath.Join(filepath.Dir(k.socket), "stranger")
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	// By another program: a file that this one has open for writing while it forks is busy.
	write := exec.Command("sh", "-c", `cat >"$0" && chmod 755 "$0"`, bin)
	write.Stdin = bytes.NewReader(self)
	if err := write.Run(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin)
	cmd.Dir = "/"
	cmd.Env = []string{roleEnv + "=host", socketEnv + "=" + k.socket}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); errors.Is(err, syscall.EPERM) {
		t.Skip("root may not become another user here: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	cmd.Process.Kill()
	cmd.Wait()
	// The stranger's own check of the keeper comes first.
	if !strings.Contains(line, "peer runs as uid") {
		t.Errorf("the stranger says %q", line)
	}
	// And the keeper's, without one on the other side.
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	done := make(chan error, 1)
	go func() { done <- connectAs(fd, 65534, k.socket) }()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 10})
	body := []byte(`{"seq":1,"op":"hello","min":1,"max":2}`)
	unix.Write(fd, append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	if n, err := unix.Read(fd, make([]byte, 100)); n > 0 || err == unix.EAGAIN {
		t.Errorf("the keeper answered another user: %d bytes, %v", n, err)
	}
}

// TestShutdown shows P12.
func TestShutdown(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	ctx := context.Background()
	polite := spawn(t, c, shell("polite", "trap 'exit 6' TERM; echo up; while :; do read x; done"))
	stubborn := spawn(t, c, shell("stubborn", "trap '' TERM HUP; echo up; while :; do sleep 1; done"))
	stopped := spawn(t, c, shell("stopped", "echo up; kill -STOP $$; exit 0"))
	for _, p := range []Process{polite, stubborn, stopped} {
		readUntil(t, p.Pty, "up")
	}
	began := time.Now()
	if err := c.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d < graceTime || d > 2*(graceTime+killTime) {
		t.Errorf("shutdown took %v", d)
	}
	if err := k.cmd.Wait(); err != nil {
		t.Errorf("keeper: %v", err)
	}
	for _, p := range []Process{polite, stubborn, stopped} {
		if err := syscall.Kill(p.Pid, 0); err != syscall.ESRCH {
			t.Errorf("child %s is still there: %v", p.ID, err)
		}
	}
	if _, err := os.Lstat(k.socket); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
	if _, err := c.Spawn(ctx, shell("late", "")); err == nil {
		t.Error("spawned after the keeper's end")
	}
}

// SIGTERM, as from a service manager, ends everything in order.
func TestTerminated(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	p := spawn(t, c, shell("a", "echo up; read x"))
	readUntil(t, p.Pty, "up")
	k.cmd.Process.Signal(syscall.SIGTERM)
	k.cmd.Wait()
	if err := syscall.Kill(p.Pid, 0); err != syscall.ESRCH {
		t.Errorf("the child is still there: %v", err)
	}
	<-c.Done()
}

// A spawn that was given up is undone when its answer comes.
func TestSpawnGivenUp(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "keeper")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ln, err := Listen(filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	asked, answer, ops := make(chan struct{}), make(chan struct{}), make(chan string, 1)
	go func() { // a slow keeper
		conn, err := ln.AcceptUnix()
		if err != nil {
			return
		}
		defer conn.Close()
		w := newWire(conn)
		var r request
		w.recv(&r)
		w.send(message{Seq: r.Seq, Version: 2, Pid: 1}, -1)
		w.recv(&r)
		close(asked)
		<-answer
		w.send(message{Seq: r.Seq, Pid: 2, File: true}, 0)
		r = request{}
		w.recv(&r)
		ops <- r.Op + " " + r.ID
		w.send(message{Seq: r.Seq}, -1)
		w.recv(&r) // until the client leaves
	}()
	c, err := Dial(context.Background(), filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-asked
		cancel()
	}()
	if _, err := c.Spawn(ctx, shell("x", "")); !errors.Is(err, context.Canceled) {
		t.Fatalf("Spawn = %v", err)
	}
	close(answer)
	if got := <-ops; got != "drop x" {
		t.Errorf("the client asked for %q", got)
	}
}

// Drop ends and forgets, and reports nothing.
func TestDrop(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	ctx := context.Background()
	for _, script := range []string{"echo up; read x", "echo up"} {
		p := spawn(t, c, shell("a", script))
		readUntil(t, p.Pty, "up")
		if _, err := c.ask(ctx, request{Op: opDrop, ID: "a"}, nil); err != nil {
			t.Fatal(err)
		}
		until(t, "the id to be free", func() bool {
			_, err := c.Spawn(ctx, shell("a", "exit 3"))
			if err != nil && !errors.Is(err, ErrExists) {
				t.Fatal(err)
			}
			return err == nil
		})
		until(t, "the new child's exit", func() bool { return exit(t, c).Code == 3 })
		if err := c.Forget(ctx, "a"); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzRecv(f *testing.F) {
	for _, m := range []any{request{Seq: 1, Op: opHello, Min: 1, Max: 1}, message{Event: eventExit, Exit: &Exit{ID: "x"}}} {
		body, _ := json.Marshal(m)
		f.Add(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 64<<10 {
			return
		}
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		file := os.NewFile(uintptr(pair[0]), "a")
		conn, err := net.FileConn(file)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		unix.Write(pair[1], in)
		unix.Close(pair[1])
		w := newWire(conn.(*net.UnixConn))
		frames := 0
		for {
			var r request
			if err := w.recv(&r); err != nil {
				break
			}
			frames++
		}
		if frames*4 > len(in) {
			t.Errorf("%d frames from %d bytes", frames, len(in))
		}
	})
}
