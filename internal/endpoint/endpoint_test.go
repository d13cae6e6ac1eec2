package endpoint

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host/listen"
	"tandemux/internal/daemon"
	"tandemux/internal/local"
)

func TestParseMachine(t *testing.T) {
	t.Setenv(sshEnv, "")
	for address, want := range map[string]string{
		"ssh://box": "box", "ssh://me@box:2222/": "-p 2222 -l me box", "ssh://[::1]:22": "-p 22 ::1",
		"ssh://": "", "ssh://me:pw@box": "", "ssh://-oProxyCommand=x": "", "ssh://-l@box": "", "ssh://box/dir": "",
		"ssh://box?x=y": "", "ssh://box#x": "", "ssh://a%20b": "", "ssh://me%0a@box": "",
	} {
		u, err := url.Parse(address)
		var m *machine
		if err == nil {
			m, err = parseMachine(u)
		}
		if want == "" {
			if err == nil {
				t.Errorf("%s was taken: %v", address, m)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		words := m.words(true, farCommand)
		if !slices.Contains(words, "BatchMode=yes") || words[len(words)-3] != "--" || words[len(words)-1] != farCommand {
			t.Errorf("%s: %q", address, words)
		}
		line := strings.Join(slices.DeleteFunc(words[6:], func(w string) bool {
			return w == "--" || w == farCommand || strings.Contains(w, "BatchMode") || w == "-o"
		}), " ")
		if line != want {
			t.Errorf("%s: %q, want %q", address, line, want)
		}
	}
	t.Setenv(sshEnv, "my-ssh -F conf")
	if words := (&machine{name: "box"}).words(false, farCommand); !slices.Equal(words[:4], []string{"my-ssh", "-F", "conf", "-T"}) || slices.Contains(words, "BatchMode=yes") {
		t.Errorf("%q", words)
	}
}

// TestGreet: what a login prints is passed over, within bounds.
func TestGreet(t *testing.T) {
	const hello = "\ntandemux-bridge 1 v1\nREST"
	for name, c := range map[string]struct{ in, err string }{
		"plain":       {hello, ""},
		"a banner":    {"Welcome!\nno newline" + hello, ""},
		"a long line": {strings.Repeat("x", 40<<10) + hello, ""},
		"nothing":     {"", "EOF"},
		"noise":       {"command not found\n", "EOF"},
		"too much":    {strings.Repeat("x\n", 40<<10) + hello, "nothing that tandemux would"},
		"another":     {"tandemux-bridge 2 v9\n", "install the same version"},
		"cut":         {"\ntandemux-bridge 1", "EOF"},
	} {
		p := &sshPipe{r: bufio.NewReaderSize(strings.NewReader(c.in), 32<<10)}
		err := p.greet()
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		rest, rerr := io.ReadAll(p)
		if err != nil || rerr != nil || string(rest) != "REST" {
			t.Errorf("%s: %v, then %q, %v", name, err, rest, rerr)
		}
	}
}

// TestBridge carries bytes both ways and ends with either side.
func TestBridge(t *testing.T) {
	dir, err := os.MkdirTemp("", "tandemux") // short, for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	d := local.Dirs{Dirs: daemon.Dirs{Runtime: dir, State: dir}, Config: dir}
	ln, err := net.Listen("unix", filepath.Join(dir, listen.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for _, hangUp := range []string{"client", "host", "context"} {
		ctx, cancel := context.WithCancel(t.Context())
		in, toBridge := io.Pipe()
		fromBridge, out := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- Bridge(ctx, d, in, out); out.Close() }()
		c, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(fromBridge)
		if err := (&sshPipe{r: r}).greet(); err != nil {
			t.Fatal(err)
		}
		big := bytes.Repeat([]byte("0123456789abcdef"), 64<<10) // 1 MiB
		go toBridge.Write(big)                                  //nolint:errcheck // read below
		got := make([]byte, len(big))
		if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, big) {
			t.Fatalf("to the host: %v", err)
		}
		go c.Write(big) //nolint:errcheck // read below
		if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, big) {
			t.Fatalf("from the host: %v", err)
		}
		map[string]func(){"client": func() { toBridge.Close() }, "host": func() { c.Close() }, "context": cancel}[hangUp]()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", hangUp, err)
		}
		c.SetReadDeadline(time.Now().Add(20 * time.Second))
		if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s hung up, and the connection to the host is left open", hangUp)
		}
		cancel()
		toBridge.Close()
		fromBridge.Close()
		c.Close()
	}
}

// TestSilentHost: what is said of a host that does not answer.
func TestSilentHost(t *testing.T) {
	dir, err := os.MkdirTemp("", "tandemux") // short, for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	ln, err := net.Listen("unix", filepath.Join(dir, listen.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = Connect(ctx, Endpoint{Dirs: local.Dirs{Dirs: daemon.Dirs{Runtime: dir, State: dir}}}, Options{Kind: "cli"})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), "the host, or the keeper below it, does not answer: host.log in ") {
		t.Errorf("a host that does not answer: %v", err)
	}
}

// TestTrusted: the last line of a host counts; one that makes no sense is said,
// not passed over.
func TestTrusted(t *testing.T) {
	d := local.Dirs{Dirs: daemon.Dirs{State: filepath.Join(t.TempDir(), "state")}}
	one, two := "sha256:"+strings.Repeat("1", 64), "sha256:"+strings.Repeat("2", 64)
	if pin, err := trusted(d, "a:1"); pin != "" || err != nil {
		t.Errorf("no file: %q, %v", pin, err)
	}
	for _, pin := range []string{one, two} {
		if err := trust(d, "a:1", pin); err != nil {
			t.Fatal(err)
		}
	}
	if err := trust(d, "a:12", one); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a:1": two, "a:12": one, "a:2": "", "b:1": ""} {
		if pin, err := trusted(d, name); pin != want || err != nil {
			t.Errorf("%s: %q, %v", name, pin, err)
		}
	}
	path := filepath.Join(d.State, trustName)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := trust(d, "a:1", "sha256:12"); err != nil {
		t.Fatal(err)
	}
	if pin, err := trusted(d, "a:1"); err == nil || !strings.Contains(err.Error(), path+":4:") {
		t.Errorf("a damaged line: %q, %v", pin, err)
	}
}

// TestElsewhere: what is true of this machine does not travel.
func TestElsewhere(t *testing.T) {
	environ := []string{"PATH=/x", "HOME=/me", "SECRET=1", "LANG=C.UTF-8", "LC_TIME=de", "TANDEMUX_TOKEN=t", "TANDEMUX_HOST=h"}
	for address, want := range map[string]string{
		"":                 "HOME LANG LC_TIME PATH SECRET",
		"unix:///x":        "HOME LANG LC_TIME PATH SECRET",
		"ssh://box":        "LANG LC_TIME",
		"wss://box":        "LANG LC_TIME",
		"ws://127.0.0.1:1": "LANG LC_TIME",
	} {
		var p Endpoint
		if address != "" {
			if err := p.parse(address, "--host"); err != nil {
				t.Fatal(err)
			}
		}
		env := p.ChildEnv(environ)
		var names []string
		for k := range env {
			names = append(names, k)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q: %s, want %s", address, got, want)
		}
		params := ahp.CreateTerminalParams{Cwd: "file:///here"}
		if err := p.Adapt(&params, ""); err != nil || (params.Cwd == "") != p.Elsewhere() {
			t.Errorf("%q: cwd %q, %v", address, params.Cwd, err)
		}
	}
	for address, want := range map[string]bool{
		"ws://box": true, "ws://192.0.2.1:1": true, "ws://127.0.0.1:1": false, "ws://[::1]:1": false, "ws://localhost": false, "wss://box": false,
	} {
		p := Endpoint{token: "t"}
		if err := p.parse(address, "--host"); err != nil || p.InTheClear() != want {
			t.Errorf("%s: in the clear %v, %v", address, p.InTheClear(), err)
		}
	}
}

func TestTail(t *testing.T) {
	var s tail
	for i := range 5000 {
		fmt.Fprintf(&s, "line %d\n", i)
	}
	s.Write([]byte("Warning: Permanently added\n\n")) //nolint:errcheck // never fails
	if got := s.last(); got != "line 4997 line 4998 line 4999" || len(s.text) > maxTail {
		t.Errorf("%q, %d bytes", got, len(s.text))
	}
}

// TestTasksThroughAHub: the hub's own tasks are not taken for those of a host behind it.
func TestTasksThroughAHub(t *testing.T) {
	p := Endpoint{url: "wss://127.0.0.1:1/hosts/build/ahp", scheme: "wss", host: "127.0.0.1:1", pin: "x"}
	if _, err := p.API(t.Context(), true); err == nil || !strings.Contains(err.Error(), "goes through a hub") {
		t.Errorf("its tasks are asked for: %v", err)
	}
	p.url = "wss://127.0.0.1:1/ahp"
	if _, err := p.API(t.Context(), true); err != nil {
		t.Error(err)
	}
}
