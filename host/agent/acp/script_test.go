package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"tandemux/ahp"
	"tandemux/host/agent"
)

var rewrite = flag.Bool("update", false, "write what happened into the scripts")

// TestScripts runs testdata/*.txtar: an agent's script, what is asked of it, and
// all that is told of it.
//
//	prompt TEXT          a turn, to its end
//	when TEXT cancel     of the turn that follows: once that has been told
//	answer OPTION [INPUT] of the turn that follows: to its next question, with an
//	                     edited input
//	set OPTION VALUE
//	reopen               closes the session and resumes it
//	probe                asks a process of its own what it is
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			runScript(t, file)
		})
	}
}

func runScript(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	section := map[string]*txtar.File{}
	for i := range ar.Files {
		section[ar.Files[i].Name] = &ar.Files[i]
	}
	b := newBench(t, string(section["agent"].Data), func(*Config) {})
	if f := section["config"]; f != nil {
		if err := json.Unmarshal(f.Data, &b.config); err != nil {
			t.Fatal(err)
		}
	}
	if f := section["server"]; f != nil {
		if err := json.Unmarshal(f.Data, &b.servers); err != nil {
			t.Fatal(err)
		}
	}
	b.open("")
	for line := range strings.Lines(string(section["steps"].Data)) {
		b.step(strings.TrimSpace(line))
	}
	b.close()
	got := b.log.String()
	if *rewrite {
		section["want"].Data = []byte(got)
		if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := string(section["want"].Data); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// bench is a host that writes down what it is told.
type bench struct {
	t      testing.TB
	config Config
	work   string
	p      *Provider
	s      agent.Session
	log    *record
	files  *agent.Roots
	terms  *processes

	answers []string
	when    [][2]string // text, then what
	servers []agent.Server
}

func newBench(t testing.TB, script string, configure func(*Config)) *bench {
	t.Helper()
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	roots, err := agent.NewRoots([]string{work})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, work: work, log: &record{work: work}, files: roots, terms: &processes{}}
	b.terms.log = b.log
	b.config = Config{
		ID: "scripted", Command: []string{self}, Version: "test", Grace: 5 * time.Second, Start: 30 * time.Second,
		Env: []agent.Var{{Name: "ACPTEST_SCRIPT", Value: strings.ReplaceAll(script, "$WORK", work)}, {Name: "WORK", Value: work}, {Name: "GORACE", Value: "atexit_sleep_ms=0"}},
	}
	configure(&b.config)
	return b
}

func (b *bench) spec(resume string) agent.Spec {
	return agent.Spec{
		Session: "ahp-session:/s", Chat: "ahp-chat:/c", Roots: []string{b.work}, Resume: resume,
		Terminals: b.terms, Files: b.files, Events: b.log, Servers: b.servers,
	}
}

func (b *bench) open(resume string) {
	b.t.Helper()
	if b.p == nil {
		p, err := New(b.config)
		if err != nil {
			b.t.Fatal(err)
		}
		b.p = p
	}
	s, err := b.p.Open(b.t.Context(), b.spec(resume))
	if err != nil {
		b.log.add("open: %s", describe(err))
		return
	}
	b.s = s
	b.t.Cleanup(func() { s.Close() })
	b.log.add("open: session %s, resumed %v", s.ID(), s.Resumed())
}

func describe(err error) string {
	var e *agent.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	text := e.Kind + ": " + e.Message
	for _, a := range e.Auth {
		text += fmt.Sprintf(" [%s %s %q %v %d]", a.ID, a.Kind, a.Command, a.Variables, len(a.Env))
	}
	return text
}

func (b *bench) step(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "":
	case "prompt":
		b.prompt(b.t.Context(), rest)
	case "when":
		i := strings.LastIndexByte(rest, ' ')
		b.when = append(b.when, [2]string{rest[:i], rest[i+1:]})
	case "answer":
		b.answers = append(b.answers, rest)
	case "set":
		id, value, _ := strings.Cut(rest, " ")
		if err := b.s.SetOption(b.t.Context(), id, value); err != nil {
			b.log.add("set: %s", describe(err))
		}
	case "reopen":
		id := b.s.ID()
		b.close()
		b.open(id)
	case "probe":
		info, err := b.p.Probe(b.t.Context())
		b.log.add("probe: %+v, %v", info, err)
	default:
		b.t.Fatalf("step %q", line)
	}
}

func (b *bench) close() {
	if b.s != nil {
		b.s.Close()
		b.s = nil
	}
}

// prompt runs a turn to its end.
func (b *bench) prompt(ctx context.Context, text string) (agent.Outcome, error) {
	if b.s == nil {
		return agent.Outcome{}, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b.log.mu.Lock()
	b.log.told, b.log.when, b.log.cancel = "", b.when, cancel
	b.log.mu.Unlock()
	b.when = nil
	o, err := b.s.Prompt(ctx, agent.Turn{ID: "t1", Text: text}, &sink{b.log, b})
	if o.Usage != nil {
		b.log.add("usage: %+v", *o.Usage)
	}
	if err != nil {
		b.log.add("failed: %s", describe(err))
	} else {
		b.log.add("ended: %s %s", o.Stop, o.Message)
	}
	return o, err
}

// record is what was told, as lines.
type record struct {
	work string

	mu     sync.Mutex
	b      strings.Builder
	open   string // the kind of message that is being told
	told   string
	when   [][2]string
	cancel func()
}

func (r *record) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end()
	line := strings.TrimSpace(fmt.Sprintf(format, args...))
	self, _ := os.Executable()
	r.b.WriteString(strings.NewReplacer(r.work, "$WORK", self, "$SELF").Replace(line) + "\n")
	r.due(line)
}

// text adds to a message.
func (r *record) text(kind, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open != kind {
		r.end()
		r.b.WriteString(kind + ": ")
		r.open = kind
	}
	r.b.WriteString(strings.NewReplacer(r.work, "$WORK", "\n", `\n`).Replace(text))
	r.due(text)
}

func (r *record) end() {
	if r.open != "" {
		r.b.WriteString("\n")
	}
	r.open = ""
}

// due does what was to be done once something was told.
func (r *record) due(text string) {
	if r.told += text; len(r.told) > 1<<20 {
		r.told = r.told[len(r.told)-1000:]
	}
	for i, w := range r.when {
		if strings.Contains(r.told, w[0]) {
			r.when = slices.Delete(slices.Clone(r.when), i, i+1)
			if w[1] == "cancel" {
				r.cancel()
			}
			return
		}
	}
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end()
	return r.b.String()
}

func (r *record) Title(title string) { r.add("title: %s", title) }

func (r *record) Options(options []agent.Option) {
	for _, o := range options {
		ids := []string{}
		for _, c := range o.Choices {
			ids = append(ids, strings.Trim(c.Group+"/"+c.ID, "/"))
		}
		r.add("option %s (%s) = %s of %v", o.ID, o.Category, o.Value, ids)
	}
}

func (r *record) Commands(commands []agent.Command) {
	for _, c := range commands {
		r.add("command /%s %s (%s)", c.Name, c.Hint, c.Description)
	}
}

type sink struct {
	*record
	b *bench
}

func (s *sink) Message(text string)   { s.text("message", text) }
func (s *sink) Reasoning(text string) { s.text("thought", text) }
func (s *sink) Notice(text string)    { s.add("notice: %s", text) }
func (s *sink) Usage(u agent.Usage)   { s.add("usage: %+v", u) }

func (s *sink) Plan(entries []agent.PlanEntry) {
	for _, e := range entries {
		s.add("plan: [%s] %s (%s)", e.Status, e.Text, e.Priority)
	}
}

func (s *sink) Tool(c agent.ToolCall) {
	var b strings.Builder
	fmt.Fprintf(&b, "tool %s: %s %q %s %s", c.ID, c.Name, c.Title, c.Kind, []string{"pending", "running", "completed", "failed"}[c.Status])
	if c.Input != nil {
		fmt.Fprintf(&b, " input %s", c.Input)
	}
	if c.Output != nil {
		fmt.Fprintf(&b, " output %s", c.Output)
	}
	for _, l := range c.Locations {
		fmt.Fprintf(&b, " at %s:%d", l.Path, l.Line)
	}
	for _, i := range c.Content {
		switch {
		case i.Diff != nil:
			old := "new file"
			if i.Diff.Old != nil {
				old = fmt.Sprintf("%q", *i.Diff.Old)
			}
			fmt.Fprintf(&b, "\n  diff %s: %s to %q", i.Diff.Path, old, i.Diff.New)
		case i.Terminal != nil:
			fmt.Fprintf(&b, "\n  terminal %s %s %q %s", i.Terminal.URI, i.Terminal.Title, i.Terminal.Output, exitText(i.Terminal.Exit))
		case i.Resource != nil:
			fmt.Fprintf(&b, "\n  resource %s %s %d bytes", i.Resource.Label, i.Resource.URI, len(i.Resource.Data))
		default:
			fmt.Fprintf(&b, "\n  text %q", clip(i.Text, 200))
		}
	}
	s.add("%s", b.String())
}

func (s *sink) Confirm(ctx context.Context, c agent.Confirmation) (agent.Answer, error) {
	ids := []string{}
	for _, o := range c.Options {
		ids = append(ids, fmt.Sprintf("%s (%s, %s)", o.ID, o.Name, o.Group))
	}
	if c.Editable != "" {
		ids = append(ids, "may edit "+c.Editable)
	}
	s.add("confirm %s: %s", c.Call.ID, strings.Join(ids, "; "))
	if len(s.b.answers) > 0 {
		option, input, _ := strings.Cut(s.b.answers[0], " ")
		s.b.answers = s.b.answers[1:]
		return agent.Answer{Option: option, Input: json.RawMessage(input)}, nil
	}
	<-ctx.Done()
	s.add("confirm %s: given up", c.Call.ID)
	return agent.Answer{}, ctx.Err()
}

func exitText(x *agent.Exit) string {
	switch {
	case x == nil:
		return "runs"
	case x.Code != nil:
		return fmt.Sprintf("exit %d", *x.Code)
	}
	return "exit by " + x.Signal
}

// processes are terminals without a terminal: commands with pipes.
type processes struct {
	log *record
	mu  sync.Mutex
	all []*piped
}

type piped struct {
	of    *processes
	uri   ahp.URI
	cmd   *exec.Cmd
	limit int
	done  chan struct{}

	mu   sync.Mutex
	call string // that uses it
	out  bytes.Buffer
}

func (p *processes) Create(_ context.Context, s agent.TerminalSpec) (agent.Terminal, error) {
	if s.Command == "blocked" {
		return nil, &agent.Refusal{Text: "Blocked dangerous command: blocked"}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &piped{of: p, uri: fmt.Sprintf("ahp-terminal:/%d", len(p.all)+1), limit: s.OutputLimit, done: make(chan struct{})}
	t.cmd = exec.Command(s.Command, s.Args...)
	if len(s.Args) == 0 {
		t.cmd = exec.Command("sh", "-c", s.Command)
	}
	t.cmd.Dir = s.Dir
	for _, v := range s.Env {
		t.cmd.Env = append(t.cmd.Env, v.Name+"="+v.Value)
	}
	t.cmd.Stdout, t.cmd.Stderr = t, t
	if err := t.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		t.cmd.Wait()
		close(t.done)
	}()
	p.all = append(p.all, t)
	p.log.add("terminal %s for %s/%s: %s %q limit %d", t.uri, s.TurnID, s.ToolCallID, s.Command, s.Args, s.OutputLimit)
	return t, nil
}

func (t *piped) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.Write(b)
}

func (t *piped) URI() ahp.URI { return t.uri }

func (t *piped) Bind(_, id string) {
	t.mu.Lock()
	is := t.call == id
	t.call = id
	t.mu.Unlock()
	if !is {
		t.of.log.add("terminal %s is of %s", t.uri, id)
	}
}

func (t *piped) Output() (string, bool, *agent.Exit) {
	t.mu.Lock()
	text := t.out.String()
	t.mu.Unlock()
	select {
	case <-t.done:
		x := t.exit()
		return text, false, &x
	default:
		return text, false, nil
	}
}

func (t *piped) exit() agent.Exit {
	if code := t.cmd.ProcessState.ExitCode(); code >= 0 {
		return agent.Exit{Code: &code}
	}
	return agent.Exit{Signal: "SIGKILL"}
}

func (t *piped) Wait(ctx context.Context) (agent.Exit, error) {
	select {
	case <-t.done:
		return t.exit(), nil
	case <-ctx.Done():
		return agent.Exit{}, ctx.Err()
	}
}

func (t *piped) Kill(context.Context) error {
	t.cmd.Process.Kill()
	<-t.done
	return nil
}

func (t *piped) Release() {
	t.Kill(context.Background())
	t.of.log.add("terminal %s released", t.uri)
}
