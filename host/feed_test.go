package host_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"tandemux/ahp"
	"tandemux/host/keeper"
	"tandemux/host/listen"
	"tandemux/host/terminals"
)

// between comes between the keeper and the hosts to be started: see gets what they
// send before the keeper does.
func (w *fixture) between(see func(msg []byte)) (direct string) {
	w.t.Helper()
	socket := filepath.Join(w.dir, "run", listen.KeeperName)
	direct = filepath.Join(w.dir, "direct")
	if err := os.Rename(socket, direct); err != nil {
		w.t.Fatal(err)
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			host, err := ln.AcceptUnix()
			if err != nil {
				return
			}
			k, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: direct, Net: "unix"})
			if err != nil {
				host.Close()
				continue
			}
			go carry(host, k, func([]byte) {})
			go carry(k, host, see)
		}
	}()
	return direct
}

// carry passes on bytes and descriptors until one end closes.
func carry(to, from *net.UnixConn, see func(msg []byte)) {
	defer to.Close()
	defer from.Close()
	buf, rights := make([]byte, 64<<10), make([]byte, 256)
	for {
		n, m, _, _, err := from.ReadMsgUnix(buf, rights)
		if err != nil || n == 0 {
			return
		}
		see(buf[:n])
		_, _, err = to.WriteMsgUnix(buf[:n], rights[:m], nil)
		sent, _ := syscall.ParseSocketControlMessage(rights[:m])
		for i := range sent {
			fds, _ := syscall.ParseUnixRights(&sent[i])
			for _, fd := range fds {
				syscall.Close(fd)
			}
		}
		if err != nil {
			return
		}
	}
}

// isSpawn reports whether a host asks the keeper for a child.
func isSpawn(msg []byte) bool {
	return bytes.Contains(msg[:min(len(msg), 100)], []byte(`"op":"spawn"`))
}

// feeds makes a terminal of a command that is fed, and feeds it to its end.
func (p *peer) feeds(uri ahp.URI, argv ...string) {
	p.t.Helper()
	p.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: p.name}, Meta: &ahp.CreateMeta{Command: argv, Stdin: true, AwaitHolder: true},
	}, nil)
	p.subscribe(uri)
	var r ahp.FeedResult
	if p.must(ahp.MethodFeed, ahp.FeedParams{Channel: uri, Data: []byte("fed\n")}, &r); !r.Open {
		p.t.Error("the command does not read")
	}
	p.must(ahp.MethodFeed, ahp.FeedParams{Channel: uri, End: true}, nil)
}

// A command reads what is fed though the runtime directory is removed, as by a
// logout, while it is started.
func TestFeedThroughLogout(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.shutdown()
	w.between(func(msg []byte) {
		if isSpawn(msg) {
			os.RemoveAll(filepath.Join(w.dir, "run", terminals.FeedDir))
		}
	})
	w.startHost()
	p := w.connect("one")
	p.initialize()
	p.feeds("ahp-terminal:/fed", "sh", "-c", "wc -c; exit 7")
	p.output("ahp-terminal:/fed", "4\r\n")
	p.exits("ahp-terminal:/fed", 7)
}

// exits waits for a terminal's exit.
func (p *peer) exits(uri ahp.URI, code int) {
	p.t.Helper()
	var r ahp.WaitResult
	p.must(ahp.MethodWait, ahp.WaitParams{Channel: uri, Until: ahp.WaitExit, TimeoutMs: patience.Milliseconds()}, &r)
	if r.ExitCode == nil || *r.ExitCode != code {
		p.t.Errorf("%s: %+v, want the exit code %d", uri, r, code)
	}
}

// A keeper of an earlier release can't give a command its standard input, which a
// named pipe is then.
func TestFeedWithOldKeeper(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.shutdown()
	direct := w.between(func(msg []byte) {
		if bytes.Contains(msg, []byte(`"op":"hello"`)) {
			msg[bytes.Index(msg, []byte(`"max":`))+len(`"max":`)] = '2'
		}
	})
	w.startHost()
	p := w.connect("one")
	p.initialize()
	p.feeds("ahp-terminal:/fed", "sh", "-c", "wc -c; exit 7")
	p.output("ahp-terminal:/fed", "4\r\n")
	p.exits("ahp-terminal:/fed", 7)
	err := p.call(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: "ahp-terminal:/none", Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "one"}, Meta: &ahp.CreateMeta{Command: []string{"no-such"}, Stdin: true},
	}, nil)
	if ahp.CodeOf(err) != ahp.CodeNotFound {
		t.Errorf("a command that is not there: %v", err)
	}
	w.shutdown()
	k, err := keeper.Dial(context.Background(), direct)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if list, err := k.List(context.Background()); err != nil || len(list) != 1 || list[0].Argv[0] != "/bin/sh" {
		t.Errorf("the keeper has %q, %v, want a shell that opens the pipe", list[0].Argv, err)
	}
}

// A command whose host is killed before the command has begun to read sees the end of
// its input.
func TestKilledWhileFeeding(t *testing.T) {
	t.Parallel()
	m := startMortal(t)
	m.kill()
	const uri = "ahp-terminal:/fed"
	asked, killed := make(chan struct{}), make(chan struct{})
	direct := m.between(func(msg []byte) {
		if isSpawn(msg) {
			close(asked)
			<-killed
		}
	})
	m.revive()
	c, mirror := m.client("one")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	go c.Call(ctx, ahp.MethodCreateTerminal, ahp.CreateTerminalParams{ //nolint:errcheck // the host dies
		Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "one"}, Meta: &ahp.CreateMeta{Command: []string{"sh", "-c", "cat; read x </dev/tty; exit 7"}, Stdin: true},
	}, nil)
	<-asked
	m.kill()
	close(killed)
	m.until("the command is started", func() bool {
		census, err := keeper.Probe(ctx, direct)
		return err == nil && len(census.Running) == 1
	})
	m.revive()
	c.Retry()
	m.until("the terminal is there", func() bool { return c.Subscribe(ctx, uri) == nil })
	m.types(c, uri, "\n")
	m.until("the command has ended", func() bool {
		s, ok := mirror.Terminal(uri)
		return ok && s.Lifecycle.Exited()
	})
	if s, _ := mirror.Terminal(uri); s.Lifecycle.ExitCode == nil || *s.Lifecycle.ExitCode != 7 {
		t.Errorf("%+v: %s", s.Lifecycle, text(s))
	}
}

// TestKilledBeforeFeed: a pipe that no shell has opened goes with the next host, as nobody
// fills it; a shell that waits for it sees its end.
func TestKilledBeforeFeed(t *testing.T) {
	t.Parallel()
	m := startMortal(t)
	m.kill()
	dir := filepath.Join(m.dir, "run", terminals.FeedDir)
	path := filepath.Join(dir, "x")
	if err := errors.Join(os.Mkdir(dir, 0o700), syscall.Mkfifo(path, 0o600), syscall.Mkfifo(path+"y", 0o600)); err != nil {
		t.Fatal(err)
	}
	reader := exec.Command("cat", path)
	if err := reader.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- reader.Wait() }()
	m.until("it waits for the pipe", func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(reader.Process.Pid) + "/stat")
		return err != nil || bytes.Contains(stat, []byte("(cat) S "))
	})
	m.revive()
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left: %v, %v", left, err)
	}
	over := false
	t.Cleanup(func() { reader.Process.Kill() })
	m.until("the reader ends", func() bool {
		select {
		case <-ended:
			over = true
		default:
		}
		return over
	})
}

// A host ends, and its clients go, while a line that is fed waits for its shell, though
// the runtime directory was removed meanwhile.
func TestFeedNobodyOpens(t *testing.T) {
	t.Parallel()
	w := start(t)
	if err := os.WriteFile(filepath.Join(w.dir, "home", ".bashrc"), []byte("sleep 1000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(w.dir, "run", terminals.FeedDir)
	waiting := func(n int) func() bool {
		return func() bool { left, _ := os.ReadDir(dir); return len(left) == n }
	}
	for _, removed := range []bool{false, true} {
		if removed && runtime.GOOS != "linux" {
			continue // a pipe without a name can't be opened
		}
		p := w.connect(fmt.Sprint("removed ", removed))
		p.initialize()
		uri := "ahp-terminal:/" + fmt.Sprint(removed)
		startShell(w, p, uri, shells(t)["bash"])
		p.send(map[string]any{"jsonrpc": "2.0", "id": 100, "method": ahp.MethodRun, "params": ahp.RunParams{Channel: uri, Command: []string{"cat"}, Stdin: true}})
		w.until("the pipe is there", waiting(1))
		if removed {
			os.RemoveAll(dir)
		}
		p.hangUp()
		w.until("the pipe is gone", waiting(0))
	}
	w.shutdown()
}
