package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/internal/soak"
	"tandemux/internal/wsrpc"
)

// older is a host that can less than this program's: a proxy before a real one, which speaks
// AHP 0.5 alone and knows no request and no channel of tandemux's own.
type older struct{ socket string }

// ServeHTTP implements http.Handler.
func (o older) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		http.NotFound(w, r)
		return
	}
	near, err := wsrpc.Accept(w, r, wsrpc.Options{})
	if err != nil {
		return
	}
	defer near.Close(1000, "") //nolint:errcheck // it is over
	far, err := wsrpc.Dial(r.Context(), wsrpc.Target{URL: "unix://" + o.socket})
	if err != nil {
		return
	}
	defer far.Close(1000, "") //nolint:errcheck // it is over
	var writing sync.Mutex    // of near
	write := func(msg []byte) error {
		writing.Lock()
		defer writing.Unlock()
		return near.Write(r.Context(), msg)
	}
	go func() {
		defer near.Close(1001, "") //nolint:errcheck // it is over
		for {
			msg, err := far.Read(r.Context())
			if err != nil || write(msg) != nil {
				return
			}
		}
	}()
	for {
		msg, err := near.Read(r.Context())
		if err != nil {
			return
		}
		pass, answer := o.less(msg)
		if answer != nil {
			err = write(answer)
		} else {
			err = far.Write(r.Context(), pass)
		}
		if err != nil {
			return
		}
	}
}

// less gives a client's message as the host gets it, or the refusal of one that it does
// not know.
func (o older) less(msg []byte) (pass, answer []byte) {
	var m struct {
		ID     json.RawMessage            `json:"id"`
		Method string                     `json:"method"`
		Params map[string]json.RawMessage `json:"params"`
	}
	if json.Unmarshal(msg, &m) != nil {
		return msg, nil
	}
	own := strings.HasPrefix(m.Method, "x-tandemux/") || m.Method == ahp.MethodSubscribe && bytes.Contains(m.Params["channel"], []byte("x-tandemux-"))
	switch {
	case own && m.ID != nil:
		answer, _ = json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "method not found: " + m.Method}}) //nolint:errcheck // it can be
		return nil, answer
	case m.Method == ahp.MethodInitialize:
		return bytes.Replace(msg, []byte(`"1.0.0","0.9.0",`), nil, 1), nil
	}
	return msg, nil
}

// TestOlderHost: a host that knows less is in the list, opens in a pane and is typed into;
// what it does not know is missing there, and nothing else.
func TestOlderHost(t *testing.T) {
	soak.Long(t, "an interface and a host of another version")
	if beside(t) {
		return
	}
	home, _, bin := aHome(t, "tandemux")
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	for k, v := range map[string]string{
		"SHELL": bash, "TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PATH": bin + ":" + os.Getenv("PATH"),
		"TANDEMUX": "", "TANDEMUX_TERMINAL": "", "TANDEMUX_HOST": "", "TANDEMUX_TOKEN": "",
	} {
		t.Setenv(k, v)
	}
	there := t.TempDir()
	run, err := os.MkdirTemp("", "tandemux")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endHost(there, run) })
	for _, dir := range []string{home, there} {
		if err := os.WriteFile(filepath.Join(dir, ".bashrc"), []byte("PS1='$ '\nunset PROMPT_COMMAND\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	far := os.Environ()
	for k, v := range homeEnv(there, run) {
		far = append(far, k+"="+v)
	}
	tandemux := func(env []string, argv ...string) (out string, code int, said string) {
		t.Helper()
		cmd := exec.Command(filepath.Join(bin, "tandemux"), argv...)
		cmd.Env = env
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		text, err := cmd.Output()
		var ended *exec.ExitError
		if err != nil && !errors.As(err, &ended) {
			t.Fatal(err)
		}
		return string(text), cmd.ProcessState.ExitCode(), stderr.String()
	}
	check := func(env []string, want int, re string, argv ...string) {
		t.Helper()
		out, code, said := tandemux(env, argv...)
		if code != want || !regexp.MustCompile(re).MatchString(out+said) {
			t.Errorf("tandemux %s: code %d, want %d and %q:\n%s%s", strings.Join(argv, " "), code, want, re, out, said)
		}
	}
	check(far, 0, "", "new", "--name", "sh", "--background")
	proxy := httptest.NewServer(older{filepath.Join(run, "tandemux", "host.sock")})
	t.Cleanup(proxy.Close)

	check(nil, 0, "", "hosts", "add", "old", strings.Replace(proxy.URL, "http", "ws", 1))
	check(nil, 0, "", "new", "--background", "--name", "mine")
	check(nil, 0, "old +ws://.* unknown +1 .*AHP 0.5.0, which can less", "hosts", "check")
	check(nil, 0, `(?s)mine.*old:[a-z0-9]+ +sh `, "ls")
	check(nil, 0, "", "send", "old:sh", "--enter", "echo typed-$((40+2))")
	for end := time.Now().Add(waitLimit); ; time.Sleep(10 * time.Millisecond) {
		if out, _, _ := tandemux(far, "read", "sh"); strings.Contains(out, "\ntyped-42") {
			break
		} else if time.Now().After(end) {
			t.Fatalf("what was typed did not arrive:\n%s", out)
		}
	}
	check(nil, 1, "its tandemux is older than this one", "wait", "old:sh", "--idle", "1ms")
	// A search is the only thing that it does not know; the others' lines are there.
	check(nil, 3, "not reached: old", "search", "nothing-has-this")

	i, err := startTty(home, os.Environ(), 100, 24, []string{filepath.Join(bin, "tandemux")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.close)
	f := &farther{tty: i, t: t}
	f.see(`^\$`)
	f.keys("\x00w")
	f.see("old:sh")
	f.keys("old:sh")
	f.keys("\r")
	f.see("old:sh: .*")
	f.see("typed-42")
	f.keys("echo again-$((1+1))\r")
	f.see("again-2")
	f.keys("\x00:new-on old\r")
	f.keys("echo fresh-$((2+2))\r")
	f.see("fresh-4")
	if out, _, _ := tandemux(far, "ls"); strings.Count(out, "\n") != 3 {
		t.Errorf("there are at the older host:\n%s", out)
	}
	if !slices.Contains(ahp.Supported(), "0.5.0") {
		t.Error("0.5 is not spoken any more: this test has nothing left")
	}
}
