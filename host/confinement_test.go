package host_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/find"
	"tandemux/host"
	"tandemux/host/agent"
	"tandemux/host/listen"
	"tandemux/host/sandbox"
	"tandemux/internal/wsrpc"
)

// taskOf makes a fixture with a task's session in a sandbox, whose agent does what a
// script says. $OUT is a directory outside, with a file "secret".
func taskOf(t *testing.T, script string, change ...func(*sandbox.Spec)) (*conversation, func(*host.Config)) {
	t.Helper()
	if err := sandbox.Check(t.Context(), "").Err; err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"work", "out"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"work/file": "inside\n", "out/secret": "secret\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spec := sandbox.Spec{Name: "t1", Workspace: filepath.Join(dir, "work"), Write: true, Program: self, Env: []string{"API_KEY=key", "GORACE=atexit_sleep_ms=0"}}
	for _, f := range change {
		f(&spec)
	}
	p := scriptedAgent(t, strings.ReplaceAll(script, "$OUT", filepath.Join(dir, "out")))
	config := func(c *host.Config) {
		c.Agents = []agent.Provider{p}
		c.Confine = func(name string) (agent.Confinement, error) {
			if name != spec.Name {
				return nil, fmt.Errorf("there is no task %s", name)
			}
			return sandbox.New(spec)
		}
	}
	w := start(t, config)
	return beginTask(t, w, filepath.Join(dir, "work")), config
}

// beginTask begins the session as the tasks do.
func beginTask(t *testing.T, w *fixture, work string) *conversation {
	t.Helper()
	tr, err := w.host.Front().Service("tasks")(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := &conversation{peer: w.peer("tasks", tr), w: w, work: work, session: "ahp-session:/s", chat: "ahp-chat:/c"}
	c.initialize()
	c.must(ahp.MethodCreateSession, ahp.CreateSessionParams{
		Channel: c.session, WorkingDirectories: []ahp.URI{"file://" + work}, Meta: &ahp.SessionMeta{Chat: c.chat, Sandbox: "t1"},
	}, nil)
	c.watch(t)
	return c
}

// watch begins to fold the chat and the root.
func (c *conversation) watch(t *testing.T) {
	t.Helper()
	c.seen = func(e ahp.Envelope) {
		switch {
		case e.RejectionReason != "":
		case e.Channel == c.chat:
			c.state = ahp.ReduceChat(c.state, e.Action)
		case e.Channel == ahp.RootURI:
			c.root = ahp.ReduceRoot(c.root, e.Action)
		}
	}
	decodeState(t, c.subscribe(ahp.RootURI), &c.root)
	decodeState(t, c.subscribe(c.chat), &c.state)
}

// TestConfinedAgent: the agent, its terminals and the files that it asks for are in
// the sandbox (U72–U80).
func TestConfinedAgent(t *testing.T) {
	t.Setenv("SECRET_OF_HOST", "1")
	c, _ := taskOf(t, `prompt
say cwd $CWD;
call r1 fs/read_text_file {"sessionId":"$SESSION","path":"/workspace/file"}
show r1
call r2 fs/read_text_file {"sessionId":"$SESSION","path":"$OUT/secret"}
show r2
call r3 fs/read_text_file {"sessionId":"$SESSION","path":"/etc/hostname"}
show r3
call w1 fs/write_text_file {"sessionId":"$SESSION","path":"/workspace/dir/new","content":"new"}
show w1
call r5 fs/read_text_file {"sessionId":"$SESSION","path":"/workspace/dir"}
show r5
call w2 fs/write_text_file {"sessionId":"$SESSION","path":"/root/new","content":"new"}
show w2
call t1 terminal/create {"sessionId":"$SESSION","command":"cat $OUT/secret; pwd; cat file; echo $API_KEY [$SECRET_OF_HOST] $HOME $MINE; ln -s $OUT/secret /workspace/link","env":[{"name":"MINE","value":"m"}]}
call x1 terminal/wait_for_exit {"sessionId":"$SESSION","terminalId":"$t1.terminalId"}
call o1 terminal/output {"sessionId":"$SESSION","terminalId":"$t1.terminalId"}
show o1
call r4 fs/read_text_file {"sessionId":"$SESSION","path":"/workspace/link"}
show r4
call t2 terminal/create {"sessionId":"$SESSION","command":"pwd","args":[],"cwd":"/workspace/dir"}
call x2 terminal/wait_for_exit {"sessionId":"$SESSION","terminalId":"$t2.terminalId"}
call o2 terminal/output {"sessionId":"$SESSION","terminalId":"$t2.terminalId"}
show o2
call t3 terminal/create {"sessionId":"$SESSION","command":"pwd","cwd":"$OUT"}
show t3
stop end_turn`)
	c.prompt("go")
	got := said(c.ended())
	for _, want := range []string{
		"cwd /workspace;", `inside\n`, "No such file or directory", `/workspace\ninside\nkey [] /root m`, `/workspace/dir`, "/workspace/dir is not a regular file",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in what the agent says: %s", want, got)
		}
	}
	if n := strings.Count(got, "Access denied"); n != 5 {
		t.Errorf("%d accesses were denied, not 5: %s", n, got)
	}
	if strings.Contains(got, "secret\\n") || strings.Contains(got, c.work) {
		t.Errorf("it learned what is outside: %s", got)
	}
	if text, err := os.ReadFile(filepath.Join(c.work, "dir/new")); err != nil || string(text) != "new" {
		t.Errorf("what it wrote: %q, %v", text, err)
	}
}

// TestConfinedReadOnly: what may only be read inside is not written by the host
// either (U70).
func TestConfinedReadOnly(t *testing.T) {
	t.Parallel()
	c, _ := taskOf(t, `prompt
call w1 fs/write_text_file {"sessionId":"$SESSION","path":"/workspace/new","content":"new"}
show w1
call t1 terminal/create {"sessionId":"$SESSION","command":"touch new || echo cannot"}
call x1 terminal/wait_for_exit {"sessionId":"$SESSION","terminalId":"$t1.terminalId"}
call o1 terminal/output {"sessionId":"$SESSION","terminalId":"$t1.terminalId"}
show o1
stop end_turn`, func(s *sandbox.Spec) { s.Write = false })
	c.prompt("go")
	if got := said(c.ended()); !strings.Contains(got, "can only be read") || !strings.Contains(got, "cannot") {
		t.Error(got)
	}
	if _, err := os.Lstat(filepath.Join(c.work, "new")); err == nil {
		t.Error("it was written")
	}
}

// TestSandboxIsTheTasks: nobody else can name a sandbox, and without one to be had
// nothing is started.
func TestSandboxIsTheTasks(t *testing.T) {
	var fails atomic.Bool
	w := start(t, func(c *host.Config) {
		c.Agents = []agent.Provider{scriptedAgent(t, "prompt\nsay hello\n")}
		c.Confine = func(string) (agent.Confinement, error) {
			if fails.Load() {
				return nil, errors.New("no bubblewrap")
			}
			return nil, nil
		}
	})
	params := ahp.CreateSessionParams{Channel: "ahp-session:/s", WorkingDirectories: []ahp.URI{"file://" + w.dir}, Meta: &ahp.SessionMeta{Sandbox: "t1"}}
	for _, p := range []*peer{w.connect("operator"), w.connectTCP("token", w.token().Token)} {
		p.initialize()
		if err := p.call(ahp.MethodCreateSession, params, nil); ahp.CodeOf(err) != ahp.CodePermissionDenied {
			t.Errorf("%s: %v", p.name, err)
		}
	}
	tr, err := w.host.Front().Service("tasks")(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tasks := w.peer("tasks", tr)
	tasks.initialize()
	for _, says := range []string{"there is none", "no bubblewrap"} {
		if err := tasks.call(ahp.MethodCreateSession, params, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
		fails.Store(true)
	}
	var list ahp.ListSessionsResult
	tasks.must(ahp.MethodListSessions, ahp.ListSessionsParams{Channel: ahp.RootURI}, &list)
	if len(list.Items) != 0 {
		t.Errorf("there are sessions: %v", list.Items)
	}
}

// insider connects by the session's own socket.
func (c *conversation) insider(name string) *peer {
	c.t.Helper()
	at, err := filepath.Glob(filepath.Join(c.w.dir, "run", "s", "*", listen.SocketName))
	if err != nil || len(at) != 1 {
		c.t.Fatalf("the session's sockets are %q, %v", at, err)
	}
	p := c.w.dial(name, wsrpc.Target{URL: "unix://" + at[0]})
	return p
}

// TestInsider: who is in a sandbox reaches the terminals that run there and nothing
// else of the host.
func TestInsider(t *testing.T) {
	t.Parallel()
	c, _ := taskOf(t, "prompt\nsay hello\n")
	operator := c.w.connect("operator")
	operator.initialize()
	operator.create("ahp-terminal:/private", "sh", "-c", "echo private; exec cat")
	operator.output("ahp-terminal:/private", "private")
	for name, meta := range map[string]*ahp.HelloMeta{
		"plain": nil,
		"guest": {Agent: &ahp.AgentMeta{Name: "claude", Session: c.session}},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.insider(name)
			p.t = t
			var hello ahp.InitializeResult
			p.must(ahp.MethodInitialize, ahp.InitializeParams{Channel: ahp.RootURI, ProtocolVersions: []string{"1.0.0"}, ClientID: name, Meta: meta}, &hello)
			var root ahp.RootState
			decodeState(t, p.subscribe(ahp.RootURI), &root)
			if strings.Contains(asJSON(t, root), "private") || len(root.Agents) != 0 {
				t.Errorf("it sees %s", asJSON(t, root))
			}
			own := ahp.Claim{Kind: ahp.ClaimSession, Session: c.session}
			private := map[string]any{"channel": "ahp-terminal:/private", "timeoutMs": 1000, "command": []string{"x"}, "reason": "please", "claim": own}
			for method, params := range map[string]any{
				ahp.MethodSubscribe: private, ahp.MethodRead: private, ahp.MethodCommands: private, ahp.MethodWait: private,
				ahp.MethodRun: private, ahp.MethodPromote: private, ahp.MethodAsk: private, ahp.MethodDisposeTerminal: private,
				ahp.MethodStop: nil, ahp.MethodYield: nil, ahp.MethodTokenNew: map[string]any{"name": "x"}, ahp.MethodTokenList: nil, ahp.MethodProfile: nil, find.MethodHistory: nil,
				ahp.MethodAgent:          map[string]any{"command": []string{"sh"}},
				ahp.MethodCreateSession:  ahp.CreateSessionParams{Channel: "ahp-session:/new"},
				ahp.MethodCreateChat:     ahp.CreateChatParams{Channel: c.session, Chat: "ahp-chat:/new"},
				ahp.MethodDisposeSession: map[string]any{"channel": c.session}, ahp.MethodFetchTurns: map[string]any{"channel": c.chat},
				"resourceRead": map[string]any{"channel": "file:///etc/passwd", "uri": "file:///etc/passwd"}, "resourceList": map[string]any{"uri": "file:///"},
				"createResourceWatch": map[string]any{"uri": "file:///"}, "resourceDelete": map[string]any{"uri": "file:///x"},
				"resourceWrite": map[string]any{"uri": "file:///x", "data": "", "encoding": "utf-8"},
			} {
				if err := p.call(method, params, nil); err == nil {
					t.Errorf("%s is answered", method)
				}
			}
			for _, uri := range []ahp.URI{c.session, c.chat, "x-tandemux-layout:/main", "x-tandemux-activity:/"} {
				if err := p.call(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: uri}, nil); err == nil {
					t.Errorf("it may watch %s", uri)
				}
			}
			for kind, claim := range map[string]ahp.Claim{
				"its own":           {Kind: ahp.ClaimClient, ClientID: name},
				"another session's": {Kind: ahp.ClaimSession, Session: "ahp-session:/other"},
			} {
				err := p.call(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{Channel: "ahp-terminal:/no", Claim: claim, Meta: &ahp.CreateMeta{Command: []string{"true"}}}, nil)
				if ahp.CodeOf(err) != ahp.CodePermissionDenied {
					t.Errorf("a terminal for %s: %v", kind, err)
				}
			}
			uri := "ahp-terminal:/" + name
			p.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
				Channel: uri, Claim: own, Cwd: "file:///workspace",
				Meta: &ahp.CreateMeta{Command: []string{"sh", "-c", "pwd; cat " + filepath.Dir(c.work) + "/out/secret; ps -e | wc -l; exec cat"}},
			}, nil)
			p.subscribe(uri)
			p.output(uri, "/workspace\r\ncat: ")
			if err := p.call(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{Channel: uri + "2", Claim: own, Cwd: "file://" + c.work, Meta: &ahp.CreateMeta{Command: []string{"true"}}}, nil); ahp.CodeOf(err) != ahp.CodePermissionDenied {
				t.Errorf("a directory as it is called outside: %v", err)
			}
			p.dispatch(uri, 1, ahp.TerminalInput{Data: "typed\r"})
			p.output(uri, "typed")
			operator.t = t
			operator.subscribe(uri) // and everybody else sees it
			beside := ahp.URI("ahp-terminal:/beside-" + name)
			operator.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
				Channel: beside, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "operator"},
				Meta: &ahp.CreateMeta{Command: []string{"sh", "-c", "pwd; exec cat"}, CwdOf: uri},
			}, nil)
			operator.subscribe(beside)
			operator.output(beside, c.work+"\r\n")
		})
	}
	socket, _ := filepath.Glob(filepath.Join(c.w.dir, "run", "s", "*", listen.SocketName))
	for _, path := range []string{"/mcp", "/api/v1/tasks", "/pty"} {
		if status := get(t, socket[0], path); status != http.StatusNotFound {
			t.Errorf("%s is answered with %d", path, status)
		}
	}
}

// TestConfinementOutlives: the next host confines again, before anything is started,
// and what runs in the sandbox finds it by the same socket.
func TestConfinementOutlives(t *testing.T) {
	t.Parallel()
	c, config := taskOf(t, `prompt
call t1 terminal/create {"sessionId":"$SESSION","command":"pwd; test -e $OUT/secret && printf es%s caped; echo $TANDEMUX; i=0; while ! test -e go; do sleep 0.05; done; cat file; exec cat"}
say $CWD
stop end_turn`)
	c.prompt("go")
	if got := said(c.ended()); !strings.Contains(got, "/workspace") {
		t.Fatal(got)
	}
	c.until("the terminal", func() bool { return len(c.root.Terminals) == 1 })
	uri := c.root.Terminals[0].Resource
	c.w.shutdown()
	c.w.startHost(config)
	tr, err := c.w.host.Front().Service("tasks")(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.peer, c.seq = c.w.peer("tasks", tr), 0
	c.peer.name = "tasks2"
	c.initialize()
	c.watch(t)
	p := c.insider("inside")
	p.initialize()
	p.subscribe(uri)
	if err := os.WriteFile(filepath.Join(c.work, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.output(uri, "inside")
	if out := p.out[uri].String(); strings.Contains(out, "escaped") || !strings.Contains(out, "/run/tandemux/host.sock") {
		t.Errorf("the terminal shows %q", out)
	}
	c.prompt("again")
	if got := said(c.ended()); !strings.Contains(got, "/workspace") {
		t.Errorf("the agent of the next host says %q", got)
	}
	// A host that can't confine starts nothing.
	c.w.shutdown()
	c.w.startHost(func(h *host.Config) {
		config(h)
		h.Confine = func(string) (agent.Confinement, error) { return nil, errors.New("bubblewrap is gone") }
	})
	if tr, err = c.w.host.Front().Service("tasks")(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.peer, c.seq = c.w.peer("tasks3", tr), 0
	c.initialize()
	c.watch(t)
	c.prompt("and again")
	turn := c.ended()
	if turn.State != ahp.TurnError || !strings.Contains(asJSON(t, turn), "bubblewrap is gone") {
		t.Errorf("the turn ended as %s", asJSON(t, turn))
	}
}

// get asks a unix socket for a path.
func get(t *testing.T, socket, path string) int {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}}
	r, err := client.Get("http://localhost" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	return r.StatusCode
}

// TestConfinedLogin: what an agent in a sandbox would have people run is not run
// outside of it, and is not told.
func TestConfinedLogin(t *testing.T) {
	t.Parallel()
	c, _ := taskOf(t, `auth [{"id":"evil","name":"Log in","_meta":{"terminal-auth":{"command":"/tmp/evil","args":["x"]}}},{"id":"own","name":"Own","description":"/tmp/evil"},{"id":"key","name":"Key","type":"env_var","varName":"API_KEY"}]
on session/new error -32000 log in
prompt
say hello
`)
	var s ahp.SessionState
	c.w.until("the session to fail", func() bool {
		decodeState(t, c.subscribe(c.session), &s)
		return s.Lifecycle == ahp.LifecycleFailed
	})
	text := asJSON(t, s)
	if strings.Contains(text, "evil") || !strings.Contains(text, "API_KEY") {
		t.Errorf("the session says %s", text)
	}
	operator := c.w.connect("operator")
	operator.initialize()
	for _, p := range []ahp.LoginParams{
		{Channel: ahp.RootURI, Session: c.session, Provider: "scripted", Method: "evil", Terminal: "ahp-terminal:/l", Cols: 80, Rows: 24},
		{Channel: ahp.RootURI, Session: c.session, Provider: "scripted"},
	} {
		if err := operator.call(ahp.MethodLogin, p, nil); err == nil || !strings.Contains(err.Error(), "in a sandbox") {
			t.Errorf("log in with %v: %v", p, err)
		}
	}
}
