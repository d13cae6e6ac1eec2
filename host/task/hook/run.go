package hook

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"tandemux/host/agent"
	"tandemux/host/task/store"
	"tandemux/internal/plaintext"
	"tandemux/internal/procgroup"
)

const (
	// maxLine bounds a line, maxSaid all output of a call, in bytes.
	maxLine = 1 << 20
	maxSaid = 64 << 20
	// Grace is how long a program may take to end after SIGTERM.
	Grace = 3 * time.Second
)

// Call describes a program to run.
type Call struct {
	// Name is the hook's name in errors, such as "on_event".
	Name   string
	Launch agent.Launch
	Input  []byte // on its stdin
	// Line is called with each line of stdout, Stderr with each line of stderr.
	Line   func(Line)
	Stderr func(string)
	// Plain, if not nil, is called with each line of stdout instead of Line.
	Plain func(string)
	// Timeout is how long the program may run.
	Timeout time.Duration
	// Watched says that something else ends the program when this process dies.
	Watched bool
}

// Run runs a program to its end. The error says for people how it failed.
func Run(ctx context.Context, c Call) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("%s took longer than %v and was ended", c.Name, c.Timeout))
	defer cancel()
	r := &run{c: c, stop: stop}
	cmd, out, err := start(c)
	if err != nil {
		return fmt.Errorf("start %s: %w", c.Name, err)
	}
	var watch *procgroup.Watcher
	if !c.Watched {
		watch, _ = procgroup.Watch(cmd.Process.Pid) //nolint:errcheck // without it the program outlives a host that dies
	}
	defer watch.Release()
	var readers sync.WaitGroup
	readers.Go(func() { r.lines(out[0], r.line) })
	readers.Go(func() { r.lines(out[1], r.stderr) })
	ended := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) //nolint:errcheck // it may have ended
		select {
		case <-ended:
		case <-time.After(Grace):
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
		}
	})()
	err = cmd.Wait()
	close(ended)
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // usually no process of the group is left
	out[0].Ended()
	out[1].Ended()
	readers.Wait()
	out[0].Close()
	out[1].Close()
	switch {
	case r.failed != "":
		return errors.New(r.failed)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("%s failed (%s)%s", c.Name, procgroup.How(err), r.lastLine())
	}
	return nil
}

type run struct {
	c    Call
	stop context.CancelCauseFunc

	mu     sync.Mutex // held while the call's functions are called
	failed string
	last   string // the last line of stderr
}

// start starts the program and returns the read ends of its stdout and stderr.
func start(c Call) (cmd *exec.Cmd, out [2]*agent.Output, err error) {
	path, err := agent.LookPath(c.Launch.Argv[0], c.Launch.Env)
	if err != nil {
		return nil, out, err
	}
	var in, from [2]*os.File
	for i := range out {
		if from[i], in[i], err = os.Pipe(); err != nil {
			break
		}
		out[i] = agent.NewOutput(from[i])
	}
	if err == nil {
		cmd = &exec.Cmd{
			Path: path, Args: c.Launch.Argv, Env: c.Launch.Env, Dir: c.Launch.Dir, Stdin: bytes.NewReader(c.Input), Stdout: in[0], Stderr: in[1],
			SysProcAttr: &syscall.SysProcAttr{Setpgid: true}, WaitDelay: agent.LastWords,
		}
		err = cmd.Start()
	}
	in[0].Close()
	in[1].Close()
	if err != nil {
		from[0].Close()
		from[1].Close()
	}
	return cmd, out, err
}

// lines calls each with every line of from, up to the bounds.
func (r *run) lines(from io.Reader, each func([]byte)) {
	in, said := bufio.NewScanner(from), 0
	in.Buffer(nil, maxLine)
	for in.Scan() {
		if said += len(in.Bytes()) + 1; said > maxSaid {
			break
		}
		if text := bytes.TrimRight(in.Bytes(), "\r"); len(text) > 0 {
			r.mu.Lock()
			each(text)
			r.mu.Unlock()
		}
	}
	if said > maxSaid || errors.Is(in.Err(), bufio.ErrTooLong) {
		r.stop(fmt.Errorf("%s said more than %d bytes, or a line of more than %d, and was ended", r.c.Name, maxSaid, maxLine))
		io.Copy(io.Discard, from) //nolint:errcheck // until the program closes it
	}
}

func (r *run) line(text []byte) {
	if r.c.Plain != nil {
		r.c.Plain(string(text))
		return
	}
	l := parse(text)
	if l.Type == Failure {
		r.failed = cmp.Or(l.Text, r.c.Name+" failed")
	}
	r.c.Line(l)
}

func (r *run) stderr(text []byte) {
	r.last = string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
	r.c.Stderr(r.last)
}

// lastLine returns the end of the last line of stderr, for an error.
func (r *run) lastLine() string {
	text := strings.TrimSpace(r.last)
	if text == "" {
		return ""
	}
	return ": " + plaintext.Clip(text, 300, "…")
}

// The types of a Line, and the members that each has.
const (
	Message    = "message"     // Text, Data or Content: something said
	Reasoning  = "reasoning"   // Text: something thought
	State      = "state"       // Merge, Replace or Delete: the task's state
	Progress   = "progress"    // Percent, Text
	Log        = "log"         // Level, Text
	ToolCall   = "tool-call"   // ID, Name, Title, Input
	ToolResult = "tool-result" // ID, Output, Error
	Usage      = "usage"       // InputTokens, OutputTokens
	Failure    = "error"       // Text: the call has failed, whatever its exit code
)

// Line is a report of a program to its task.
type Line struct {
	Type string `json:"type"`
	Text string `json:"text"`

	Data    json.RawMessage `json:"data"`
	Content json.RawMessage `json:"content"`

	Merge   json.RawMessage `json:"merge"`
	Replace json.RawMessage `json:"replace"`
	Delete  bool            `json:"delete"`

	Percent *int   `json:"percent"`
	Level   string `json:"level"`

	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Title  string          `json:"title"`
	Input  json.RawMessage `json:"input"`
	Output json.RawMessage `json:"output"`
	Error  string          `json:"error"`

	InputTokens  int64 `json:"inputTokens"`
	OutputTokens int64 `json:"outputTokens"`
}

// parse reads a line. One that is no report is returned as a Log.
func parse(text []byte) Line {
	if text = bytes.TrimSpace(text); len(text) > 0 && text[0] == '{' {
		var l Line
		if json.Unmarshal(text, &l) == nil && l.Type != "" {
			return l
		}
	}
	return Line{Type: Log, Level: "info", Text: string(bytes.ToValidUTF8(text, []byte("\uFFFD")))}
}

// Input is what a hook gets on its stdin.
type Input struct {
	Hook   string          `json:"hook"`
	Task   store.Task      `json:"task"`
	Agent  Agent           `json:"agent"`
	Params json.RawMessage `json:"params"`
	State  json.RawMessage `json:"state"`
	Event  *Event          `json:"event,omitempty"`
}

type Agent struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version int    `json:"version"`
}

// Event is an event of a task. Text has all texts of its content.
type Event struct {
	ID      string       `json:"id"`
	Content []store.Part `json:"content"`
	Text    string       `json:"text"`
	Data    any          `json:"data,omitempty"`
	Created time.Time    `json:"created_at"`
}

// NewEvent returns an event as a hook gets it, or nil.
func NewEvent(e *store.Event) *Event {
	if e == nil {
		return nil
	}
	h := &Event{ID: e.ID, Content: e.Content, Created: e.Created, Text: Text(e.Content)}
	for _, p := range e.Content {
		if p.Type == "data" {
			h.Data = p.Data
		}
	}
	return h
}

// Text returns all texts of a content.
func Text(parts []store.Part) string {
	var texts []string
	for _, p := range parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}
