package daemon

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// holderEnv makes the test binary a process that holds a place: "FILE KEY". It
// ends with its standard input, and says when it is signalled.
const holderEnv = "TANDEMUX_DAEMON_TEST_HOLDER"

func TestMain(m *testing.M) {
	file, key, ok := strings.Cut(os.Getenv(holderEnv), " ")
	if !ok {
		os.Exit(m.Run())
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	if _, err := (Place{file, key}).Take(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("holds")
	go func() {
		for range asked {
			fmt.Println("asked")
		}
	}()
	io.Copy(io.Discard, os.Stdin)
}

// holder starts a process that holds a place.
func holder(t *testing.T, p Place) (cmd *exec.Cmd, says *bufio.Scanner) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(exe)
	cmd.Env = append(os.Environ(), holderEnv+"="+p.File+" "+p.Key)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	says = bufio.NewScanner(out)
	if !says.Scan() || says.Text() != "holds" {
		t.Fatalf("the holder says %q", says.Text())
	}
	return cmd, says
}

// TestPlace: one process holds a place, others see which one and can signal it, and
// it is free when that one has been killed.
func TestPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "host.lock")
	p, other := Place{file, "one"}, Place{file, "another"}
	if pid, err := p.Holder(); pid != 0 || err != nil {
		t.Errorf("without a file the holder is %d, %v", pid, err)
	}
	if pid, err := p.Signal(syscall.SIGUSR1); pid != 0 || err != nil {
		t.Errorf("without a file %d is signalled, %v", pid, err)
	}
	cmd, says := holder(t, p)
	// A place of our own in the same file must survive that we ask about another.
	release, err := other.Take()
	if err != nil {
		t.Fatalf("take another place: %v", err)
	}
	if _, err := p.Take(); !errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), fmt.Sprint(cmd.Process.Pid)) {
		t.Errorf("take a place that is held: %v", err)
	}
	if pid, err := p.Holder(); pid != cmd.Process.Pid || err != nil {
		t.Errorf("the holder is %d, %v; want %d", pid, err, cmd.Process.Pid)
	}
	exe, _ := os.Executable()
	second := exec.Command(exe)
	second.Env = append(os.Environ(), holderEnv+"="+other.File+" "+other.Key)
	if out, err := second.Output(); err == nil {
		t.Errorf("another process takes our place: %s", out)
	}
	if pid, err := p.Signal(syscall.SIGUSR1); pid != cmd.Process.Pid || err != nil {
		t.Errorf("signal the holder: %d, %v", pid, err)
	}
	if !says.Scan() || says.Text() != "asked" {
		t.Errorf("the holder says %q when it is signalled", says.Text())
	}
	release()
	cmd.Process.Kill()
	cmd.Wait()
	if pid, err := p.Holder(); pid != 0 || err != nil {
		t.Errorf("after its end the holder is %d, %v", pid, err)
	}
	release, err = p.Take()
	if err != nil {
		t.Fatalf("take the place of a dead process: %v", err)
	}
	release()
}

// TestPlacesAreApart: places of other directories and kinds don't exclude each other.
func TestPlacesAreApart(t *testing.T) {
	a, b, c := PlaceOf("/s", "host", "/run/a"), PlaceOf("/s", "host", "/run/b"), PlaceOf("/s", "keeper", "/run/a")
	if a.File != b.File || a.Key == b.Key || a.File == c.File || a != PlaceOf("/s", "host", "/run/a") {
		t.Errorf("%q, %q, %q", a, b, c)
	}
	if la, lb := a.lock(0), b.lock(0); la.Start == lb.Start || la.Start < 0 || lb.Start < 0 {
		t.Errorf("bytes %d and %d", la.Start, lb.Start)
	}
}

// TestRebind: a listener whose directory was removed is reached under the same name
// again, while it accepts and with the connections that it had.
func TestRebind(t *testing.T) {
	top, err := os.MkdirTemp("", "tandemux")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(top)
	dir := filepath.Join(top, "run")
	path := filepath.Join(dir, "s")
	mkdir := func() {
		t.Helper()
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	mkdir()
	ln, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan net.Conn)
	go func() {
		defer close(accepted)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	meet := func() net.Conn {
		t.Helper()
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		select {
		case c := <-accepted:
			return c
		case <-time.After(10 * time.Second):
			t.Fatal("the connection is not accepted")
		}
		return nil
	}
	meet().Close()
	client, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server := <-accepted
	defer server.Close()
	if !ln.Bound() {
		t.Error("it is not bound")
	}
	for range 3 {
		os.RemoveAll(dir)
		if ln.Bound() {
			t.Error("it is bound without a directory")
		}
		if err := ln.Rebind(); err == nil {
			t.Error("it was bound without a directory")
		}
		mkdir()
		if err := ln.Rebind(); err != nil || !ln.Bound() {
			t.Fatalf("bound %v: %v", ln.Bound(), err)
		}
		meet().Close()
	}
	if _, err := client.Write([]byte("x")); err != nil {
		t.Errorf("a connection of before: %v", err)
	}
	if n, err := server.Read(make([]byte, 1)); n != 1 {
		t.Errorf("a connection of before: %v", err)
	}
	// Closing removes our socket, and no other one's.
	os.Remove(path)
	theirs, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	if err := ln.Close(); err != nil {
		t.Error(err)
	}
	for range accepted {
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("another one's socket was removed: %v", err)
	}
	if err := ln.Rebind(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed listener binds anew: %v", err)
	}
}
