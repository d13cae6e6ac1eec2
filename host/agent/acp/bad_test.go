package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tandemux/host/agent"
)

// failure runs a prompt that must fail and gives the error.
func (b *bench) failure(text string) *agent.Error {
	b.t.Helper()
	_, err := b.prompt(b.t.Context(), text)
	var e *agent.Error
	if !errors.As(err, &e) {
		b.t.Fatalf("the turn did not fail: %v\n%s", err, b.log)
	}
	return e
}

// opening tries to open a session and gives the error.
func (b *bench) opening() *agent.Error {
	b.t.Helper()
	p, err := New(b.config)
	if err != nil {
		b.t.Fatal(err)
	}
	b.p = p
	began := time.Now()
	s, err := p.Open(b.t.Context(), b.spec(""))
	if err == nil {
		s.Close()
	}
	var e *agent.Error
	if !errors.As(err, &e) {
		b.t.Fatalf("the session opened, or: %v", err)
	}
	if d := time.Since(began); d > 25*time.Second {
		b.t.Errorf("that took %v", d)
	}
	return e
}

func want(t *testing.T, e *agent.Error, kind string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(e.Message, text) {
			t.Errorf("%q does not say %q", e.Message, text)
		}
	}
	if e.Kind != kind {
		t.Errorf("kind %s, want %s: %s", e.Kind, kind, e.Message)
	}
}

func TestAgentThatIsNotThere(t *testing.T) {
	t.Parallel()
	b := newBench(t, "", func(c *Config) { c.Command = []string{"no-such-agent-anywhere"} })
	want(t, b.opening(), agent.KindNotFound, `"no-such-agent-anywhere"`, "[agents.scripted]")
	b = newBench(t, "", func(c *Config) { c.Command = []string{"/nowhere/agent"} })
	want(t, b.opening(), agent.KindNotFound, "/nowhere/agent")
	b = newBench(t, "", func(c *Config) { c.Command = []string{"/etc/passwd"} })
	want(t, b.opening(), agent.KindStart, "permission denied")
	for _, c := range []Config{{}, {ID: "x"}, {ID: "x", Command: []string{""}}, {ID: "x", Command: []string{"y"}, Confirm: "maybe"}} {
		if _, err := New(c); err == nil {
			t.Errorf("a provider of %+v", c)
		}
	}
}

func TestAgentThatExitsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, "stderr no model configured\non initialize exit 5", func(*Config) {})
	want(t, b.opening(), agent.KindCrashed, "exit code 5", "no model configured")
	b = newBench(t, "", func(c *Config) { c.Command = []string{"true"} })
	want(t, b.opening(), agent.KindCrashed, "exit code 0")
	b = newBench(t, "on session/new exit 6", func(*Config) {})
	want(t, b.opening(), agent.KindCrashed, "exit code 6")
}

// What an agent says on stderr is told where it refuses to begin (A14).
func TestAgentThatRefusesToBegin(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"initialize", "session/new"} {
		b := newBench(t, "stderr no API key: run setup\non "+method+" error -32603 Internal error", func(*Config) {})
		want(t, b.opening(), agent.KindAgent, "refused "+method+": Internal error", "no API key: run setup")
	}
}

func TestAgentThatNeverAnswers(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"initialize", "session/new"} {
		var err *agent.Error
		for start := 500 * time.Millisecond; start < time.Minute; start *= 2 { // it may take longer until it says something
			b := newBench(t, "stderr thinking\non "+method+" hang", func(c *Config) { c.Start = start })
			if err = b.opening(); strings.Contains(err.Message, method) && strings.Contains(err.Message, "thinking") {
				break
			}
		}
		want(t, err, agent.KindTimeout, "did not answer "+method+" in time", "thinking")
	}
	b := newBench(t, "", func(c *Config) { // It reads nothing and says nothing.
		c.Start, c.Command = 300*time.Millisecond, []string{"sleep", "1000"}
	})
	want(t, b.opening(), agent.KindTimeout, "initialize")
}

func TestAgentOfAnotherVersion(t *testing.T) {
	b := newBench(t, "version 2", func(*Config) {})
	want(t, b.opening(), agent.KindProtocol, "version 2")
}

func TestAgentThatIsNone(t *testing.T) {
	t.Parallel()
	b := newBench(t, "", func(c *Config) { c.Command = []string{"yes", "not an agent"} })
	want(t, b.opening(), agent.KindProtocol, "are no messages")
	b = newBench(t, "garbage 52428800", func(*Config) {}) // 50 MB without a line's end
	want(t, b.opening(), agent.KindProtocol, "are no messages")
}

// A message of 50 MB ends the agent, and is not held.
func TestAgentWithAHugeMessage(t *testing.T) {
	b := newBench(t, "once $WORK/first\nprompt\nsay before\nlarge 52428800\nalways\nprompt\nsay after", func(*Config) {})
	b.open("")
	before := allocated()
	want(t, b.failure("1"), agent.KindProtocol, "a message of more than 32 MB")
	if grown := allocated() - before; grown > 200<<20 {
		t.Errorf("%d MB were allocated", grown>>20)
	}
	if o, err := b.prompt(t.Context(), "2"); err != nil || o.Stop != agent.StopEnd {
		t.Errorf("the next turn: %v, %v", o, err)
	}
}

// One that fits is told.
func TestAgentWithALargeMessage(t *testing.T) {
	b := newBench(t, "prompt\nlarge 8000000", func(*Config) {})
	b.open("")
	if _, err := b.prompt(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.log.String(), "x"); n < 8000000 {
		t.Errorf("%d bytes were told", n)
	}
}

func allocated() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapSys)
}

// slow is a sink that is behind.
type slow struct {
	sink
	n    atomic.Int64
	gate chan struct{}
}

func (s *slow) Message(string) {
	if s.n.Add(1) == 10 {
		<-s.gate
	}
}

// A flood waits for the host: what the host has not taken stays with the agent.
func TestAgentThatFloods(t *testing.T) {
	const chunks = 20000
	b := newBench(t, "prompt\nflood "+strconv.Itoa(chunks), func(*Config) {})
	b.open("")
	s := &slow{sink: sink{b.log, b}, gate: make(chan struct{})}
	before := allocated()
	done := make(chan error, 1)
	go func() {
		_, err := b.s.Prompt(t.Context(), agent.Turn{ID: "t1", Text: "go"}, s)
		done <- err
	}()
	for s.n.Load() < 10 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond) // Time for the agent to write all it can.
	if grown := allocated() - before; grown > 32<<20 {
		t.Errorf("%d MB were allocated while the host was behind", grown>>20)
	}
	close(s.gate)
	if err := <-done; err != nil || s.n.Load() != chunks {
		t.Errorf("%d chunks of %d arrived: %v", s.n.Load(), chunks, err)
	}
}

// A turn can be cancelled while its flood goes on.
func TestCancelAFlood(t *testing.T) {
	t.Parallel()
	b := newBench(t, "prompt\nsay begun\nflood 100000000", func(c *Config) { c.Grace = 300 * time.Millisecond })
	b.open("")
	b.when = [][2]string{{"begun", "cancel"}}
	began := time.Now()
	if o, err := b.prompt(t.Context(), "1"); err != nil || o.Stop != agent.StopCancelled {
		t.Errorf("%v, %v", o, err)
	}
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("that took %v", d)
	}
}

// The agent's own processes end with it, and so do its terminals: after a crash
// in the middle of a tool call, and after Close.
func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"kill", "exit 1", "stop end_turn"} {
		b := newBench(t, `prompt
child $WORK/child
call t terminal/create {"sessionId":"$SESSION","command":"sleep","args":["1000"]}
update {"sessionUpdate":"tool_call","toolCallId":"c1","title":"t","kind":"execute","status":"in_progress","content":[{"type":"terminal","terminalId":"$t.terminalId"}]}
`+end, func(*Config) {})
		b.open("")
		_, err := b.prompt(t.Context(), "1")
		if (err == nil) != (end == "stop end_turn") {
			t.Errorf("%s: %v", end, err)
		}
		b.close()
		b.terms.mu.Lock()
		for _, term := range b.terms.all {
			<-term.done
		}
		if len(b.terms.all) != 1 {
			t.Errorf("%s: %d terminals were made", end, len(b.terms.all))
		}
		b.terms.mu.Unlock()
		gone(t, filepath.Join(b.work, "child"))
	}
}

// gone waits until the process whose id is in a file has ended.
func gone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if syscall.Kill(pid, 0) != nil || zombie(pid) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d is left behind", pid)
		}
	}
}

// zombie reports whether a process has ended and only waits for its parent.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(stat), ") ")
	return err == nil && strings.HasPrefix(rest, "Z")
}

// A host that is killed leaves no agent behind: not the agent, deaf to the end of
// its stdin and to SIGTERM, and not its child.
func TestHostThatIsKilled(t *testing.T) {
	t.Parallel()
	if work := os.Getenv("ACPTEST_HOST"); work != "" {
		hostToBeKilled(t, work)
		return
	}
	work := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^TestHostThatIsKilled$")
	cmd.Env = append(os.Environ(), "ACPTEST_HOST="+work)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	child := filepath.Join(work, "child")
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if b, err := os.ReadFile(child); err == nil && len(b) > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the host has not begun")
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	gone(t, child)
	gone(t, filepath.Join(work, "agent"))
}

func hostToBeKilled(t *testing.T, work string) {
	b := newBench(t, "prompt\ndeaf\nchild "+work+"/child\nhang", func(*Config) {})
	b.open("")
	pid := b.s.(*session).l.proc.cmd.Process.Pid
	os.WriteFile(filepath.Join(work, "agent"), []byte(strconv.Itoa(pid)), 0o600)
	b.prompt(t.Context(), "1")
}

// Requests are bounded, and an agent that asks for more than that is told.
func TestTooManyRequests(t *testing.T) {
	t.Parallel()
	var script strings.Builder
	script.WriteString("prompt\n" + `call t terminal/create {"sessionId":"$SESSION","command":"sleep","args":["1000"]}` + "\n")
	for i := range maxRequests + 1 {
		script.WriteString("go w" + strconv.Itoa(i) + ` terminal/wait_for_exit {"sessionId":"$SESSION","terminalId":"$t.terminalId"}` + "\n")
	}
	script.WriteString("join w" + strconv.Itoa(maxRequests) + "\nshow w" + strconv.Itoa(maxRequests))
	b := newBench(t, script.String(), func(*Config) {})
	b.open("")
	b.prompt(t.Context(), "1")
	if log := b.log.String(); !strings.Contains(log, "256 requests are under way already") {
		t.Error(log)
	}
}

// Tool calls are bounded in number and in what they hold.
func TestTooManyToolCalls(t *testing.T) {
	b := newBench(t, "prompt\nsay x", func(*Config) {})
	b.open("")
	s := b.s.(*session)
	counted := &counter{sink: sink{b.log, b}}
	tn := newTurn(context.Background(), "t1", counted)
	for i := range maxCalls + 10 {
		tn.do(func(k agent.Sink) { s.toolUpdate(tn, k, &update{toolCall: toolCall{ID: strconv.Itoa(i)}}) })
	}
	if counted.tools != maxCalls || counted.notices != 1 {
		t.Errorf("%d tool calls and %d notices were told", counted.tools, counted.notices)
	}
	huge, _ := json.Marshal([]toolContent{{Type: "diff", Path: "x", NewText: strings.Repeat("x", maxContent)}, {Type: "diff", Path: "y", NewText: "y"}})
	tn.do(func(k agent.Sink) {
		u := &update{toolCall: toolCall{ID: "1", RawInput: json.RawMessage(`"` + strings.Repeat("x", maxRaw) + `"`)}}
		u.Content = huge
		s.toolUpdate(tn, k, u)
	})
	c := tn.calls["1"]
	if len(c.Content) != 2 || c.Content[0].Diff != nil || c.Content[1].Diff == nil || len(c.Input) > 100 {
		t.Errorf("%d pieces, an input of %d bytes", len(c.Content), len(c.Input))
	}
	tn.end()
}

type counter struct {
	sink
	tools, notices int
}

func (c *counter) Tool(agent.ToolCall) { c.tools++ }
func (c *counter) Notice(string)       { c.notices++ }

// TestLastWords: what an agent said before it ended is read, however late.
func TestLastWords(t *testing.T) {
	p, err := New(Config{ID: "it", Command: []string{"sh", "-c", "echo one; echo two >&2"}})
	if err != nil {
		t.Fatal(err)
	}
	pr, err := p.start(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer pr.out.Close()
	<-pr.gone
	time.Sleep(2 * agent.LastWords) // the lateness is the point
	if text, err := io.ReadAll(pr.out); err != nil || string(text) != "one\n" {
		t.Errorf("it said %q, %v", text, err)
	}
	if said := pr.errors.last(); said != "two" {
		t.Errorf("it said %q on stderr", said)
	}
	pr.stop()
}

// The log of stderr has a bound, and is for its owner only.
func TestLogIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "logs", "scripted.log")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := newStderr(r, file, nil)
	line := []byte(strings.Repeat("x", 999) + "\n")
	for range 4000 {
		w.Write(line)
	}
	w.Write([]byte("the last words\n\n"))
	w.Close()
	s.close()
	total := int64(0)
	for _, f := range []string{file, file + ".1"} {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		if total += info.Size(); info.Size() > maxLog || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has %d bytes, %v", f, info.Size(), info.Mode())
		}
	}
	if s.last() != "the last words" {
		t.Errorf("its last line is %q", s.last())
	}
}

// Close ends a turn that runs, and what comes after fails.
func TestCloseInATurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, "prompt\nsay begun\nhang", func(*Config) {})
	b.open("")
	begun := make(chan struct{})
	s := &closing{sink: sink{b.log, b}, begun: begun}
	done := make(chan error, 1)
	go func() {
		_, err := b.s.Prompt(t.Context(), agent.Turn{ID: "t1"}, s)
		done <- err
	}()
	<-begun
	b.s.Close()
	var e *agent.Error
	if err := <-done; !errors.As(err, &e) || e.Kind != agent.KindClosed {
		t.Errorf("the turn ended with %v", err)
	}
	if _, err := b.s.Prompt(t.Context(), agent.Turn{}, s); !errors.As(err, &e) || e.Kind != agent.KindClosed {
		t.Errorf("a turn after that: %v", err)
	}
	b.s.Close()
}

type closing struct {
	sink
	begun chan struct{}
}

func (c *closing) Message(string) { close(c.begun) }

// TestLastSaid: of what a program prints when it fails, the line for people is taken.
func TestLastSaid(t *testing.T) {
	for said, want := range map[string]string{
		"":                       "",
		"one\ntwo\n\n":           "two",
		"\n}\n":                  "",
		"  all that there is\n}": "all that there is",
		"/app/run.js:1\nthrow new Error('x')\n^\n\nError: no key\n    at run (/app/run.js:1:7)\n\nNode.js v22.1.0\n":                         "Error: no key",
		"not as root\n\nError handling request {\n  method: 'session/new',\n  params: { cwd: '/' }\n} {\n  data: { details: 'closed' }\n}\n": "not as root",
		"Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nKeyError: 'KEY'\n":                                        "KeyError: 'KEY'",
	} {
		s := &stderr{}
		s.write([]byte(said))
		if got := s.last(); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
