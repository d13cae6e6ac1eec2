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
	"tandemux/internal/plaintext"
	"tandemux/internal/procgroup"
)

const (
	// maxLine bounds a line, maxSaid all that a call says, in bytes.
	maxLine = 1 << 20
	maxSaid = 64 << 20
	// Grace is how long a program may take to end after SIGTERM.
	Grace = 3 * time.Second
	// lastWords is how long output is read after the program has ended: another
	// process may hold the pipe open.
	lastWords = 500 * time.Millisecond
)

// Call is a program to be run.
type Call struct {
	// Name is the hook's, for errors: "on_event".
	Name   string
	Launch agent.Launch
	Input  []byte // on its stdin
	// Line gets each word to the task, Stderr each line of stderr.
	Line   func(Line)
	Stderr func(string)
	// Plain, unless nil, gets each line of stdout in place of Line: it has no words.
	Plain func(string)
	// Timeout is how long it may run.
	Timeout time.Duration
	// Watched says that something else ends the program when this process dies.
	Watched bool
}

// Run runs a program to its end. The error says how it failed, for people.
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
		watch, _ = procgroup.Watch(cmd.Process.Pid) //nolint:errcheck // then a dying host leaves it
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
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // as well
		}
	})()
	err = cmd.Wait()
	close(ended)
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // nothing is left of its group, mostly
	closing := time.AfterFunc(lastWords, func() { out[0].Close(); out[1].Close() })
	readers.Wait()
	closing.Stop()
	out[0].Close()
	out[1].Close()
	switch {
	case r.failed != "":
		return errors.New(r.failed)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("%s failed (%s)%s", c.Name, how(err), r.lastLine())
	}
	return nil
}

// how is how a process ended, in words.
func how(err error) string {
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
			return "signal " + s.Signal().String()
		}
		return fmt.Sprintf("exit code %d", exit.ExitCode())
	}
	return err.Error()
}

// run is a program that runs.
type run struct {
	c    Call
	stop context.CancelCauseFunc

	mu     sync.Mutex // held while the call's functions are called
	failed string
	last   string // of stderr
}

// start starts the program, and gives the read ends of its stdout and stderr.
func start(c Call) (cmd *exec.Cmd, out [2]*os.File, err error) {
	path, err := agent.LookPath(c.Launch.Argv[0], c.Launch.Env)
	if err != nil {
		return nil, out, err
	}
	var in [2]*os.File
	for i := range out {
		if out[i], in[i], err = os.Pipe(); err != nil {
			break
		}
	}
	if err == nil {
		cmd = &exec.Cmd{
			Path: path, Args: c.Launch.Argv, Env: c.Launch.Env, Dir: c.Launch.Dir, Stdin: bytes.NewReader(c.Input), Stdout: in[0], Stderr: in[1],
			SysProcAttr: &syscall.SysProcAttr{Setpgid: true}, WaitDelay: lastWords,
		}
		err = cmd.Start()
	}
	in[0].Close()
	in[1].Close()
	if err != nil {
		out[0].Close()
		out[1].Close()
	}
	return cmd, out, err
}

// lines reads lines until their end, within bounds.
func (r *run) lines(from io.Reader, each func([]byte)) {
	in := bufio.NewReaderSize(from, 64<<10)
	said := 0
	for {
		text, err := readLine(in)
		said += len(text)
		if len(text) > maxLine || said > maxSaid {
			r.stop(fmt.Errorf("%s said more than %d bytes, or a line of more than %d, and was ended", r.c.Name, maxSaid, maxLine))
			io.Copy(io.Discard, in) //nolint:errcheck // until it is closed
			return
		}
		if text = bytes.TrimRight(text, "\r\n"); len(text) > 0 {
			r.mu.Lock()
			each(text)
			r.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// readLine reads a line, or as much of it as shows that it is too long.
func readLine(in *bufio.Reader) ([]byte, error) {
	var all []byte
	for {
		piece, err := in.ReadSlice('\n')
		all = append(all, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) || len(all) > maxLine {
			return all, err
		}
	}
}

func (r *run) line(text []byte) {
	if r.c.Plain != nil {
		r.c.Plain(string(text))
		return
	}
	l := parse(text)
	if l.Type == Failure {
		r.failed = l.Text
		r.failed = cmp.Or(r.failed, r.c.Name+" failed")
	}
	r.c.Line(l)
}

func (r *run) stderr(text []byte) {
	r.last = string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
	r.c.Stderr(r.last)
}

// lastLine is the end of stderr, for an error.
func (r *run) lastLine() string {
	text := strings.TrimSpace(r.last)
	if text == "" {
		return ""
	}
	return ": " + plaintext.Clip(text, 300, "…")
}

// The types of a Line.
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

// Line is what a program says.
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

// parse reads a line; one that is no word to the task is a line of log.
func parse(text []byte) Line {
	if text = bytes.TrimSpace(text); len(text) > 0 && text[0] == '{' {
		var l Line
		if json.Unmarshal(text, &l) == nil && l.Type != "" {
			return l
		}
	}
	return Line{Type: Log, Level: "info", Text: string(bytes.ToValidUTF8(text, []byte("\uFFFD")))}
}
