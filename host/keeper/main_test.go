package keeper

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandemux/internal/leak"
	"tandemux/internal/memtrim"
	"tandemux/internal/rawio"
)

// The test binary is also the keeper process and a host process: real ones, so
// that descriptors, sessions and SIGKILL are real.
const (
	roleEnv     = "TANDEMUX_KEEPER_TEST_ROLE"
	socketEnv   = "TANDEMUX_KEEPER_TEST_SOCKET"
	versionsEnv = "TANDEMUX_KEEPER_TEST_VERSIONS" // "MIN MAX"
	idleEnv     = "TANDEMUX_KEEPER_TEST_IDLE"     // a duration
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "keeper":
		keeperProcess()
	case "host":
		hostProcess()
	case "busy":
		busyHost()
	default:
		leak.Main(m)
	}
}

// keeperProcess is a keeper that writes its number of goroutines to standard
// output on SIGUSR2.
func keeperProcess() {
	memtrim.Idle() // whose goroutine counts from here on
	ask := make(chan os.Signal, 1)
	signal.Notify(ask, syscall.SIGUSR2)
	go func() {
		for range ask {
			fmt.Println(runtime.NumGoroutine())
		}
	}()
	if v := os.Getenv(versionsEnv); v != "" {
		fmt.Sscan(v, &speaks.min, &speaks.max)
	}
	if d, err := time.ParseDuration(os.Getenv(idleEnv)); err == nil {
		idleTime = d
	}
	handlers["panic"] = func(*session, *request) (message, error) { panic("as asked") }
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT) // children must not inherit this
	ln, err := Listen(os.Getenv(socketEnv))
	if err == nil {
		err = Serve(ctx, ln, nil)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "keeper:", err)
		os.Exit(1)
	}
}

// hostProcess spawns a shell, says so, and waits to be killed.
func hostProcess() {
	c, err := Dial(context.Background(), os.Getenv(socketEnv))
	if err == nil {
		_, err = c.Spawn(context.Background(), shell("orphan", "read a; echo got:$a; exit 7"))
	}
	if err == nil {
		_, err = c.Spawn(context.Background(), shell("quick", "read a; exit 5"))
	}
	fmt.Println("ready", err)
	select {}
}

// busyHost starts and ends children and stores files as fast as it can, until
// it is killed.
func busyHost() {
	ctx := context.Background()
	c, err := Dial(ctx, os.Getenv(socketEnv))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	f, err := os.Open(os.Args[0])
	if err != nil {
		os.Exit(1)
	}
	for i := 0; ; i++ {
		id := fmt.Sprint(os.Getpid(), " ", i)
		s := shell(id, "exit 3")
		s.Note = []byte(id)
		if i%2 == 0 {
			s.Argv[2] = "read x; exit 4"
		}
		p, err := c.Spawn(ctx, s)
		if err == nil {
			err = c.Store(ctx, id, f)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		p.Pty.Close()
	}
}

// process is a keeper in its own process.
type process struct {
	t      *testing.T
	socket string
	cmd    *exec.Cmd
	out    *bufio.Reader
}

// startKeeper starts a keeper process that ends with the test.
func startKeeper(t *testing.T, wrap ...string) *process {
	t.Helper()
	dir, err := os.MkdirTemp("", "keeper") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &process{t: t, socket: filepath.Join(dir, "s")}
	argv := append(wrap, os.Args[0])
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env = append(os.Environ(), roleEnv+"=keeper", socketEnv+"="+p.socket)
	p.cmd.Stderr = os.Stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	})
	return p
}

// dial connects, waiting for the keeper to be up.
func (p *process) dial() *Client {
	p.t.Helper()
	var c *Client
	until(p.t, "the keeper to answer", func() bool {
		var err error
		c, err = Dial(context.Background(), p.socket)
		return err == nil
	})
	p.t.Cleanup(func() { c.Close() })
	return c
}

// files counts the keeper's descriptors.
func (p *process) files() int {
	p.t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	return len(list)
}

// goroutines asks the keeper for its number of goroutines.
func (p *process) goroutines() int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGUSR2); err != nil {
		p.t.Fatal(err)
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

// until waits for a state, looking often.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	give := time.After(time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-give:
			t.Fatalf("waited too long for %s", what)
		}
	}
}

// shell is a Spec that runs a script.
func shell(id, script string) Spec {
	return Spec{
		ID: id, Argv: []string{"/bin/sh", "-c", script}, Dir: "/",
		Env:  []string{"PATH=/usr/local/bin:/usr/bin:/bin", "TERM=dumb"},
		Cols: 80, Rows: 24,
	}
}

// spawn starts a child whose pty is closed with the test.
func spawn(t *testing.T, c *Client, s Spec) Process {
	t.Helper()
	p, err := c.Spawn(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Pty.Close() })
	return p
}

// readUntil reads a pty until the text has come.
func readUntil(t *testing.T, f rawio.File, want string) string {
	t.Helper()
	var all strings.Builder
	buf := make([]byte, 4096)
	f.SetReadDeadline(time.Now().Add(time.Minute))
	for !strings.Contains(all.String(), want) {
		n, err := f.Read(buf)
		all.Write(buf[:n])
		if err != nil {
			t.Fatalf("read %q, waiting for %q: %v", all.String(), want, err)
		}
	}
	return all.String()
}

// readAll reads a pty to its end.
func readAll(t *testing.T, f rawio.File) string {
	t.Helper()
	f.SetReadDeadline(time.Now().Add(time.Minute))
	all, err := io.ReadAll(f)
	if err != nil && !strings.Contains(err.Error(), "input/output error") {
		t.Fatalf("read %q: %v", all, err)
	}
	return string(all)
}

// exit waits for the next exit.
func exit(t *testing.T, c *Client) Exit {
	t.Helper()
	select {
	case e, ok := <-c.Exits():
		if !ok {
			t.Fatalf("the connection ended: %v", c.Err())
		}
		return e
	case <-time.After(time.Minute):
		t.Fatal("no exit was reported")
	}
	panic("not reached")
}
