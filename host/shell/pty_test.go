package shell

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/internal/pty"
)

// patience bounds every wait; it is long because the machine may be busy.
const patience = 20 * time.Second

// shells are the real shells to test with: those of PATH, and those that
// TANDEMUX_TEST_SHELLS lists, separated by colons (other versions).
func shells(t testing.TB) []string {
	var all []string
	for _, name := range []string{"bash", "zsh", "fish"} {
		if path, err := exec.LookPath(name); err == nil {
			all = append(all, path)
		} else {
			t.Logf("no %s on this machine: its tests do not run", name)
		}
	}
	if more := os.Getenv("TANDEMUX_TEST_SHELLS"); more != "" {
		all = append(all, strings.Split(more, ":")...)
	}
	return all
}

// each runs a test in parallel for every shell of these kinds.
func each(t *testing.T, kinds string, f func(t *testing.T, shell string)) {
	found := false
	for _, path := range shells(t) {
		if !strings.Contains(kinds, filepath.Base(path)) {
			continue
		}
		found = true
		name := filepath.Base(path)
		if dir := filepath.Base(filepath.Dir(path)); dir != "bin" {
			name = dir
		}
		t.Run(name, func(t *testing.T) { t.Parallel(); f(t, path) })
	}
	if !found {
		t.Skipf("none of %s on this machine", kinds)
	}
}

// setup is how a session is to be.
type setup struct {
	shell string
	args  []string
	files map[string]string // by their name in HOME
	env   []string
	plain bool // no injection
	early bool // as in session
}

// place is an event and where in the data it happened.
type place struct {
	Event
	at int
}

// session is a shell on a pty whose output is split into data and events.
type session struct {
	t     testing.TB
	home  string
	pty   *os.File
	cmd   *exec.Cmd
	nonce string
	early bool // it does not tell when it reads, or does so before its prompt

	mu      sync.Mutex
	changed *sync.Cond
	data    []byte // without the marks
	events  []place
	split   splitter
	ended   bool
}

// begin starts a shell with a home of its own.
func begin(t testing.TB, s setup) *session {
	t.Helper()
	home := t.TempDir()
	// Else fish reads all manual pages, in the background, for minutes.
	if err := os.MkdirAll(filepath.Join(home, ".local/share/fish/generated_completions"), 0o700); err != nil {
		t.Fatal(err)
	}
	if len(s.files) == 0 {
		s.files = map[string]string{".zshrc": ""} // Without any, zsh asks new users questions.
	}
	for name, text := range s.files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "@HOME@", home)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "USER=u",
		"SHELL=" + s.shell, "PWD=" + home, "TANDEMUX=/run/tandemux", "TANDEMUX_TERMINAL=t",
	}
	l := Launch{Argv: append([]string{s.shell}, s.args...), Env: env}
	for _, kv := range s.env {
		l.Env = append(l.Env, strings.ReplaceAll(kv, "@HOME@", home))
	}
	se := &session{t: t, home: home, early: s.early || filepath.Base(s.shell) == "fish"}
	se.changed = sync.NewCond(&se.mu)
	if !s.plain {
		out, nonce, ok, err := Inject(l, filepath.Join(t.TempDir(), "it's a dir"))
		if err != nil || !ok {
			t.Fatalf("Inject: %v %v", ok, err)
		}
		l, se.nonce = out, nonce
	}
	se.cmd = exec.Command(l.Argv[0], l.Argv[1:]...)
	se.cmd.Env, se.cmd.Dir = l.Env, home
	f, err := pty.StartWithSize(se.cmd, &pty.Winsize{Rows: 50, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	se.pty = f
	done := make(chan struct{})
	go func() { defer close(done); se.read() }()
	t.Cleanup(func() {
		se.cmd.Process.Kill()
		se.cmd.Wait()
		f.Close()
		<-done
		if t.Failed() {
			t.Logf("output: %q", se.data)
			for _, p := range se.events {
				t.Logf("%6d %s", p.at, p.Event)
			}
		}
	})
	return se
}

func (s *session) read() {
	tracker := new(Tracker)
	buf := make([]byte, 32<<10)
	asked := 0
	for {
		n, err := s.pty.Read(buf)
		s.mu.Lock()
		s.split.write(buf[:n], func(data []byte) { s.data = append(s.data, data...) }, func(body []byte) bool {
			m, ours := Parse(body, s.nonce)
			for _, e := range tracker.Mark(m) {
				s.events = append(s.events, place{e, len(s.data)})
			}
			return ours
		})
		if err != nil {
			for _, e := range tracker.finish(nil, nil) {
				s.events = append(s.events, place{e, len(s.data)})
			}
			s.ended = true
		}
		// A terminal says what it is; fish 4 waits for that.
		if n := bytes.Count(s.data, []byte("\x1b[0c")) + bytes.Count(s.data, []byte("\x1b[c")); n > asked {
			asked = n
			s.pty.WriteString("\x1b[?62;22c")
		}
		s.changed.Broadcast()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// splitter takes the OSCs out of a stream, as whoever reads a pty does.
type splitter struct{ held []byte }

func (sp *splitter) write(p []byte, data func([]byte), osc func([]byte) bool) {
	p = append(sp.held, p...)
	for {
		at := bytes.Index(p, []byte("\x1b]"))
		if at < 0 {
			keep := 0
			if bytes.HasSuffix(p, []byte{0x1b}) {
				keep = 1
			}
			data(p[:len(p)-keep])
			sp.held = slices.Clone(p[len(p)-keep:])
			return
		}
		data(p[:at])
		p = p[at:]
		end := bytes.IndexAny(p[2:], "\a\x1b")
		if end < 0 || p[2+end] == 0x1b && len(p) == 2+end+1 {
			sp.held = slices.Clone(p)
			return
		}
		body, next := p[2:2+end], 2+end+1
		if p[2+end] == 0x1b {
			if next--; p[2+end+1] == '\\' {
				next += 2
			}
		}
		if !osc(body) {
			data(p[:next])
		}
		p = p[next:]
	}
}

// wait waits until f is true of the session, and fails the test if that does
// not come about.
func (s *session) wait(what string, f func() bool) {
	s.t.Helper()
	if !s.within(patience, f) {
		s.t.Fatalf("no %s in %s, or the shell ended before", what, patience)
	}
}

// within waits until f is true of the session, and reports whether that came about.
func (s *session) within(d time.Duration, f func() bool) bool {
	start := time.Now()
	late := time.AfterFunc(d, func() { s.mu.Lock(); s.changed.Broadcast(); s.mu.Unlock() })
	defer late.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !f() {
		if s.ended || time.Since(start) >= d {
			return false
		}
		s.changed.Wait()
	}
	return true
}

func (s *session) send(text string) {
	s.t.Helper()
	if _, err := s.pty.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) count(k EventKind) int {
	n := 0
	for _, e := range s.events {
		if e.Kind == k {
			n++
		}
	}
	return n
}

func (s *session) total(k EventKind) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count(k)
}

// ready waits for the first prompt.
func (s *session) ready() *session {
	s.t.Helper()
	s.wait("first prompt", func() bool {
		return slices.ContainsFunc(s.events, func(p place) bool { return p.Kind == PromptStart && p.Trusted }) && s.reads()
	})
	return s
}

// reads reports that the shell's line editor has set up the terminal, after the
// last prompt's start; before, ^V and the like are the terminal's.
func (s *session) reads() bool {
	for i := len(s.events) - 1; i >= 0; i-- {
		switch e := s.events[i]; e.Kind {
		case PromptEnd:
			return true
		case PromptStart:
			if e.Ends {
				return false // The promise is kept, or the test stops here.
			}
			return s.early || bytes.Contains(s.data[e.at:], []byte("\x1b[?2004h")) || bytes.Contains(s.data[e.at:], []byte("> "))
		}
	}
	return false
}

// until waits for text in the data from offset on and returns where it ends.
func (s *session) until(text string, from int) int {
	s.t.Helper()
	end := 0
	s.wait(fmt.Sprintf("%q", text), func() bool {
		i := bytes.Index(s.data[from:], []byte(text))
		end = from + i + len(text)
		return i >= 0
	})
	return end
}

// command is what a command was to the host.
type command struct {
	line   string
	known  bool
	exit   string // "nil" when unknown
	output string
	shown  string // what was between PromptEnd and the execution
}

// run types a line, and waits for the command's end and the next prompt.
func (s *session) run(line string) command {
	s.t.Helper()
	return s.keys(line + "\r")
}

func (s *session) keys(keys string) command {
	s.t.Helper()
	s.mu.Lock()
	from, prompts := len(s.events), s.count(PromptStart)
	s.mu.Unlock()
	s.send(keys)
	s.wait(fmt.Sprintf("prompt after %q", keys), func() bool {
		return s.count(PromptStart) > prompts && s.reads()
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	var c command
	begun, input, n := -1, -1, 0
	for i, e := range s.events {
		switch {
		case e.Kind == PromptEnd && begun < 0:
			input = e.at
		case i < from:
		case e.Kind == Executed:
			if n++; n > 1 {
				s.t.Fatalf("%q: executed twice", keys)
			}
			c.line, c.known, begun = e.CommandLine, e.Known, e.at
			if input >= 0 {
				c.shown = string(s.data[input:begun])
			}
		case e.Kind == Finished:
			c.exit, c.output = exitText(e.ExitCode), string(s.data[begun:e.at])
		}
	}
	if n == 0 {
		s.t.Fatalf("%q: not executed", keys)
	}
	return c
}

func exitText(code *int) string {
	if code == nil {
		return "nil"
	}
	return fmt.Sprint(*code)
}

// expect runs a line and says what is not as it has to be.
func (s *session) expect(line, exit, output string) {
	s.t.Helper()
	c := s.run(line)
	if !c.known || c.line != line {
		s.t.Errorf("%q: command line %q, known %v", line, c.line, c.known)
	}
	if c.exit != exit {
		s.t.Errorf("%q: exit %s, want %s", line, c.exit, exit)
	}
	if got := strings.ReplaceAll(c.output, "\r\n", "\n"); got != output {
		s.t.Errorf("%q: output %q, want %q", line, got, output)
	}
}

var kindNames = map[EventKind]string{
	Available: "available", PromptStart: "prompt", PromptEnd: "input", ContinuationStart: "more", ContinuationEnd: "less",
	Executed: "executed", Finished: "finished", Cwd: "cwd",
}

func (e Event) String() string {
	s := kindNames[e.Kind]
	switch e.Kind {
	case Executed:
		s += fmt.Sprintf(" %q %v", e.CommandLine, e.Known)
	case Finished:
		s += " " + exitText(e.ExitCode)
	case Cwd:
		s += fmt.Sprintf(" %s %q", e.Host, e.Dir)
	}
	if !e.Trusted {
		s += " (untrusted)"
	}
	return s
}
