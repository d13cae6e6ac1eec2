package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandemux/ahp"
	"tandemux/host/pool"
	"tandemux/internal/fileuri"
	"tandemux/internal/plaintext"
)

const (
	defaultTimeout = 2 * time.Minute
	maxTimeout     = time.Hour
	// outputBytes bounds the output in an answer; of more, head and tail are kept.
	outputBytes = 64 << 10
	// progressEvery is the pace of progress notifications, sent to who asked.
	progressEvery = time.Second
	// tidyTime bounds what is done behind a call that ended early.
	tidyTime  = 15 * time.Second
	tidyPause = 200 * time.Millisecond
)

type runInput struct {
	Command    []string `json:"command,omitempty" jsonschema:"program and arguments; no shell"`
	Line       string   `json:"line,omitempty" jsonschema:"in place of command: a line for the shell, with pipes and so on"`
	TerminalID string   `json:"terminalId,omitempty" jsonschema:"run it in the shell of this terminal, which you must hold; without one it gets a terminal of its own"`
	Cwd        string   `json:"cwd,omitempty" jsonschema:"absolute path of the directory, for a terminal of its own"`
	TimeoutMs  int64    `json:"timeoutMs,omitempty" jsonschema:"how long to wait for its end; default 120000, at most 3600000"`
	Raw        bool     `json:"raw,omitempty" jsonschema:"keep control sequences in the output"`
}

// commandOutput is what is told of a command, ended or not.
type commandOutput struct {
	TerminalID string `json:"terminalId,omitempty" jsonschema:"where it runs or ran, unless that is gone"`
	CommandID  string `json:"commandId,omitempty"`
	Command    string `json:"commandLine"`
	Running    bool   `json:"running" jsonschema:"true: it was still running when this was written"`
	TimedOut   bool   `json:"timedOut,omitempty"`
	ExitCode   *int   `json:"exitCode,omitempty"`
	DurationMs *int64 `json:"durationMs,omitempty"`
	Cwd        string `json:"cwd,omitempty"`
	Output     string `json:"output"`
	Omitted    int64  `json:"omittedBytes,omitempty" jsonschema:"of the output's middle, which is left out where it says so"`
	Hint       string `json:"hint,omitempty"`
}

func runCommand(ctx context.Context, c call, in runInput) (commandOutput, error) {
	limit, err := timeout(in.TimeoutMs, defaultTimeout)
	switch {
	case err != nil:
		return commandOutput{}, err
	case (len(in.Command) == 0) == (in.Line == ""):
		return commandOutput{}, errors.New("give either command (an argument vector) or line (a shell line)")
	case in.TerminalID != "" && in.Cwd != "":
		return commandOutput{}, errors.New("cwd is for a terminal of its own: in a shell, change the directory with cd")
	}
	if in.TerminalID != "" {
		return c.runIn(ctx, in, limit)
	}
	argv := in.Command
	if len(argv) == 0 {
		argv = []string{"/bin/sh", "-c", in.Line}
	}
	one := false // also a shell is one command here
	uri, err := c.create(ctx, c.working(), "", in.Cwd, ahp.CreateMeta{Command: argv, ShellIntegration: &one})
	if err != nil {
		return commandOutput{}, err
	}
	const only = "c1" // the id of the command that a terminal was started with
	w, err := c.wait(ctx, ahp.WaitParams{Channel: uri, Until: ahp.WaitExit, TimeoutMs: limit})
	if err != nil { // most likely cancelled: nobody would tidy up
		c.tidy(func(ctx context.Context) { c.dispose(ctx, uri) })
		return commandOutput{}, err
	}
	out, err := c.told(ctx, uri, ahp.CommandParams{ID: only}, in.Raw)
	if w.Reason == ahp.WaitTimeout {
		c.tidy(func(ctx context.Context) { c.narrow(ctx, uri) })
		return late(out, "exit"), err
	}
	c.tidy(func(ctx context.Context) { c.dispose(ctx, uri) })
	out.TerminalID, out.CommandID = "", ""
	return out, err
}

// runIn runs it in the shell of a terminal that the agent holds.
func (c call) runIn(ctx context.Context, in runInput, limit int64) (commandOutput, error) {
	t, err := c.own(ctx, in.TerminalID, "run a command")
	if err != nil {
		return commandOutput{}, err
	}
	if err := c.act(ctx, t.Resource, ahp.TerminalClaimed{Claim: c.working()}); err != nil {
		return commandOutput{}, err
	}
	defer c.tidy(func(ctx context.Context) { c.narrow(ctx, t.Resource) })
	var begun ahp.RunResult
	if err := c.request(ctx, ahp.MethodRun, ahp.RunParams{Channel: t.Resource, Command: in.Command, Line: in.Line}, &begun); err != nil {
		return commandOutput{}, err
	}
	w, err := c.wait(ctx, ahp.WaitParams{Channel: t.Resource, Until: ahp.WaitCommand, TimeoutMs: limit})
	if err != nil {
		if ctx.Err() != nil { // cancelled: the command is interrupted, the shell stays
			c.tidy(func(ctx context.Context) { c.act(ctx, t.Resource, ahp.TerminalInput{Data: "\x03"}) }) //nolint:errcheck // the caller is gone
		}
		return commandOutput{}, err
	}
	out, err := c.told(ctx, t.Resource, ahp.CommandParams{ID: begun.CommandID}, in.Raw)
	if w.Reason == ahp.WaitTimeout {
		out = late(out, "command")
	}
	return out, err
}

// late completes the answer of a command that goes on.
func late(out commandOutput, until string) commandOutput {
	out.TimedOut = true
	out.Hint = fmt.Sprintf("it still runs: wait_for terminalId %s until %s, read_command for its output; send_input keys ctrl+c interrupts it", out.TerminalID, until)
	return out
}

// working is the agent's claim while this call works in a terminal.
func (c call) working() ahp.Claim {
	claim := c.host.Claim()
	claim.ToolCallID = c.id
	return claim
}

// narrow takes the call out of the claim, which may be somebody else's by now.
func (c call) narrow(ctx context.Context, uri ahp.URI) {
	if t, err := c.find(ctx, uri); err == nil && t != nil && t.Claim.ToolCallID == c.id && c.holds(t) {
		c.act(ctx, uri, ahp.TerminalClaimed{Claim: c.host.Claim()}) //nolint:errcheck // see above
	}
}

func (c call) dispose(ctx context.Context, uri ahp.URI) {
	for {
		err := c.request(ctx, ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: uri}, nil)
		switch ahp.CodeOf(err) {
		case 0, ahp.CodeNotFound, ahp.CodePermissionDenied: // a person may have taken it meanwhile: then it stays
			return
		}
		select { // too many requests: there is time
		case <-time.After(tidyPause):
		case <-ctx.Done():
			return
		}
	}
}

// tidy does what has to be done also when the caller has gone.
func (c call) tidy(do func(ctx context.Context)) {
	ctx, cancel := context.WithTimeout(context.Background(), tidyTime)
	defer cancel()
	do(ctx)
}

// wait asks the host to wait and tells the caller that it goes on, if it wants
// to know. The host ends the wait with the terminal.
func (c call) wait(ctx context.Context, p ahp.WaitParams) (ahp.WaitResult, error) {
	var r ahp.WaitResult
	if token := c.req.Params.GetProgressToken(); token != nil {
		stop := c.progress(ctx, token)
		defer stop()
	}
	err := c.request(ctx, ahp.MethodWait, p, &r)
	switch {
	case err != nil:
		return r, err
	case r.Reason == ahp.WaitGone:
		return r, fmt.Errorf("the terminal %s was removed meanwhile", pool.ID(p.Channel))
	}
	return r, nil
}

// progress notifies once in a while until stop is called.
func (c call) progress(ctx context.Context, token any) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				c.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ //nolint:errcheck // it is a courtesy
					ProgressToken: token, Progress: float64(n),
					Message: fmt.Sprintf("running for %v", time.Duration(n)*progressEvery),
				})
			}
		}
	}()
	return func() { cancel(); <-done }
}

// told is what the host tells of a command.
func (c call) told(ctx context.Context, uri ahp.URI, p ahp.CommandParams, raw bool) (commandOutput, error) {
	p.Channel = uri
	if raw {
		p.Format = ahp.FormatRaw
	}
	var r ahp.CommandResult
	if err := c.request(ctx, ahp.MethodCommand, p, &r); err != nil {
		return commandOutput{}, err
	}
	out := commandOutput{
		TerminalID: pool.ID(uri), CommandID: r.ID, Command: r.CommandLine, Running: r.Running,
		ExitCode: r.ExitCode, DurationMs: r.DurationMs, Cwd: fileuri.Path(r.Cwd),
	}
	out.Output, out.Omitted = shorten(r.Output, r.Omitted, r.Tail)
	return out, nil
}

// shorten brings an output to outputBytes: a quarter of it the head, the rest
// the tail, with a line that says what is missing.
func shorten(head string, omitted int64, end string) (string, int64) {
	if omitted == 0 {
		if len(head)+len(end) <= outputBytes {
			return head + end, 0
		}
		head, end = head+end, head+end
		omitted = -int64(len(head)) // both are the whole
	}
	h := plaintext.Head(head, outputBytes/4)
	e := plaintext.Tail(end, outputBytes-outputBytes/4)
	omitted += int64(len(head) - len(h) + len(end) - len(e))
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", h, omitted, e), omitted
}

// timeout is a time limit of a call in milliseconds.
func timeout(ms int64, otherwise time.Duration) (int64, error) {
	switch {
	case ms == 0:
		return otherwise.Milliseconds(), nil
	case ms < 0 || ms > maxTimeout.Milliseconds():
		return 0, fmt.Errorf("timeoutMs %d is out of range: use 1 to %d", ms, maxTimeout.Milliseconds())
	}
	return ms, nil
}
