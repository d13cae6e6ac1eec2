package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandemux/ahp"
	"tandemux/host/guard"
	"tandemux/host/pool"
	"tandemux/internal/fileuri"
	"tandemux/internal/pace"
	"tandemux/internal/plaintext"
)

const (
	// patience is for how long a call lasts whose client does not follow its progress: many
	// give up after a minute, and with them the answer would be lost.
	patience   = 45 * time.Second
	maxTimeout = time.Hour
	// maxKept bounds the terminals of an agent that are kept for what an answer left out.
	maxKept = 8
	// interruptTime is for how long a command that was interrupted may go on.
	interruptTime = 2 * time.Second
	// progressEvery is the pace of progress notifications, sent to who asked.
	progressEvery = time.Second
	// tidyTime bounds what is done behind a call that ended early.
	tidyTime  = 15 * time.Second
	tidyPause = 200 * time.Millisecond
)

// program is what is to run.
type program struct {
	Command []string `json:"command,omitempty" jsonschema:"program and arguments; no shell"`
	Line    string   `json:"line,omitempty" jsonschema:"in place of command: a line for the shell, with pipes and so on"`
}

// argv is what it runs in a terminal of its own.
func (p program) argv() ([]string, error) {
	switch {
	case len(p.Command) > 0 && p.Line != "":
		return nil, errors.New("give either command, the program and its arguments, or line, one for the shell; not both")
	case p.Line != "":
		return []string{"/bin/sh", "-c", p.Line}, nil
	case len(p.Command) == 0 || p.Command[0] == "":
		return nil, errors.New("command must not be empty: give either command, the program and its arguments, or line, one for the shell")
	}
	return p.Command, nil
}

type runInput struct {
	program
	TerminalID string `json:"terminalId,omitempty" jsonschema:"of a shell that you hold"`
	Cwd        string `json:"cwd,omitempty" jsonschema:"absolute path, for a terminal of its own"`
	TimeoutMs  int64  `json:"timeoutMs,omitempty" jsonschema:"default 45000, which is the most unless your client follows progress"`
	Raw        bool   `json:"raw,omitempty" jsonschema:"keep control sequences in the output"`
	sizes
}

// commandOutput is what is told of a command, ended or not.
type commandOutput struct {
	TerminalID string `json:"terminalId,omitempty"` // where it runs or ran, unless that is gone
	CommandID  string `json:"commandId,omitempty"`
	Command    string `json:"commandLine,omitempty"`
	Running    bool   `json:"running"`
	TimedOut   bool   `json:"timedOut,omitempty"`
	// WaitsForInput says that it does; Prompt is the line that it waits behind.
	WaitsForInput bool   `json:"waitsForInput,omitempty"`
	Prompt        string `json:"prompt,omitempty"`
	ExitCode      *int   `json:"exitCode,omitempty"`
	DurationMs    *int64 `json:"durationMs,omitempty"`
	Cwd           string `json:"cwd,omitempty"`
	Omitted       int64  `json:"omittedBytes,omitempty"`
	Cursor        int64  `json:"cursor,omitempty"` // of a command that runs: since, for what comes
	Hint          string `json:"hint,omitempty"`

	output string
}

func (o commandOutput) printed() string { return o.output }

func runCommand(ctx context.Context, c call, in runInput) (commandOutput, error) {
	limit, err := c.timeout(in.TimeoutMs, patience)
	if err == nil {
		err = in.check()
	}
	var argv []string
	if err == nil {
		argv, err = in.argv()
	}
	switch {
	case err != nil:
		return commandOutput{}, err
	case in.TerminalID != "" && in.Cwd != "":
		return commandOutput{}, errors.New("cwd is for a terminal of its own: in a shell, change the directory with cd")
	}
	if in.TerminalID != "" {
		return c.runIn(ctx, in, limit)
	}
	// Also a shell is one command here.
	uri, err := c.create(ctx, c.working(), "", in.Cwd, ahp.CreateMeta{Command: argv, ShellIntegration: new(false)})
	if err != nil {
		return commandOutput{}, err
	}
	const only = "c1" // the id of the command that a terminal was started with
	w, err := c.wait(ctx, ahp.WaitParams{Channel: uri, Until: ahp.WaitExit, TimeoutMs: limit, Input: true, Call: true})
	if err != nil { // most likely cancelled
		c.tidy(func(ctx context.Context) { c.interrupt(ctx, uri) })
		return commandOutput{}, err
	}
	out, err := c.told(ctx, uri, ahp.CommandParams{ID: only}, in.Raw, in.sizes)
	out.Command, out.Cwd = "", "" // the caller has said so
	switch {
	case w.Reason != ahp.WaitMet:
		c.tidy(func(ctx context.Context) { c.narrow(ctx, uri) })
		return c.taken(ctx, uri, c.late(ctx, out, ahp.WaitExit, w)), err
	case out.Omitted > 0:
		out.Hint = "read_command with maxBytes or tail has more of it, for some minutes"
	default:
		out.TerminalID, out.CommandID = "", ""
	}
	c.tidy(func(ctx context.Context) {
		if out.Omitted > 0 || c.o.Chat != "" { // Its call shows it in the chat.
			c.keep(ctx, uri)
		} else {
			c.dispose(ctx, uri)
		}
	})
	return c.taken(ctx, uri, out), err
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
	err = c.permitted(ctx, t.Resource, guard.Text(in.Command, in.Line), func() error {
		return c.request(ctx, ahp.MethodRun, ahp.RunParams{Channel: t.Resource, Command: in.Command, Line: in.Line}, &begun)
	})
	if err != nil {
		return commandOutput{}, err
	}
	w, err := c.wait(ctx, ahp.WaitParams{Channel: t.Resource, Until: ahp.WaitCommand, TimeoutMs: limit, Input: true, Call: true})
	if err != nil {
		if ctx.Err() != nil { // cancelled: the command is interrupted, the shell stays
			c.tidy(func(ctx context.Context) { c.act(ctx, t.Resource, ahp.TerminalInput{Data: "\x03"}) }) //nolint:errcheck // the caller is gone
		}
		return commandOutput{}, err
	}
	out, err := c.told(ctx, t.Resource, ahp.CommandParams{ID: begun.CommandID}, in.Raw, in.sizes)
	out.Command = ""
	if out.Running {
		out = c.late(ctx, out, ahp.WaitCommand, w)
	}
	return c.taken(ctx, t.Resource, out), err
}

// taken says in an answer that a person has taken the terminal while the command ran.
func (c call) taken(ctx context.Context, uri ahp.URI, out commandOutput) commandOutput {
	if t, err := c.find(ctx, uri); err == nil && t != nil && !c.holds(t) {
		out.TerminalID = pool.ID(uri)
		out.Hint = "the person has taken this terminal: you may read it, but not type into it or end it; claim_terminal asks for it"
	}
	return out
}

// late completes the answer of a command that goes on.
func (c call) late(ctx context.Context, out commandOutput, until string, w ahp.WaitResult) commandOutput {
	out.WaitsForInput, out.Prompt, out.Hint = c.asks(ctx, out.TerminalID, w)
	if w.Reason == ahp.WaitSent {
		out.Hint = "the person has sent this command to the background: it goes on, and so should you, without waiting for it; read_command has what it prints"
	} else if out.TimedOut = !out.WaitsForInput; out.TimedOut {
		out.Hint = fmt.Sprintf("it goes on: wait_for until %s, then read_command with this commandId and since: the cursor; send_input keys ctrl+c interrupts it", until)
	}
	return out
}

// asks says of a wait that has ended whether the program waits for input, and who may give it.
func (c call) asks(ctx context.Context, id string, w ahp.WaitResult) (waits bool, prompt, who string) {
	if w.Reason != ahp.WaitInput {
		return false, "", ""
	}
	who = "it waits for input: send_input answers, then wait_for; what only the person knows, as a password, they type after promote_terminal"
	if t, err := c.find(ctx, id); err == nil && t != nil && !c.holds(t) {
		who = "it waits for input from who holds it, which you don't: claim_terminal asks"
	}
	return true, plaintext.Convert(w.Line), who
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

// interrupt ends a command whose caller has gone: as ctrl+c does, and where that does not
// help at once, with its terminal. What it printed stays to be read.
func (c call) interrupt(ctx context.Context, uri ahp.URI) {
	var r ahp.WaitResult
	err := c.act(ctx, uri, ahp.TerminalInput{Data: "\x03"})
	if err == nil {
		err = c.request(ctx, ahp.MethodWait, ahp.WaitParams{Channel: uri, Until: ahp.WaitExit, TimeoutMs: interruptTime.Milliseconds()}, &r)
	}
	if err != nil || r.Reason != ahp.WaitMet {
		c.dispose(ctx, uri)
		return
	}
	c.keep(ctx, uri)
}

// keep leaves a terminal whose command has ended to be read, until there are too many or the
// host removes it.
func (c call) keep(ctx context.Context, uri ahp.URI) {
	c.narrow(ctx, uri)
	c.keeping.Lock()
	var old ahp.URI
	if c.kept = append(c.kept, uri); len(c.kept) > maxKept {
		old, c.kept = c.kept[0], c.kept[1:]
	}
	c.keeping.Unlock()
	if old != "" {
		c.dispose(ctx, old)
	}
}

func (c call) dispose(ctx context.Context, uri ahp.URI) {
	for {
		err := c.request(ctx, ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: uri}, nil)
		switch ahp.CodeOf(err) {
		case 0, ahp.CodeNotFound, ahp.CodePermissionDenied: // a person may have taken it meanwhile: then it stays
			return
		}
		if !pace.Sleep(ctx, tidyPause) { // too many requests: there is time
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
	p.TimeoutMs = max(1, p.TimeoutMs-time.Since(c.begun).Milliseconds()) // it is the call's limit
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
func (c call) told(ctx context.Context, uri ahp.URI, p ahp.CommandParams, raw bool, z sizes) (commandOutput, error) {
	p.Channel = uri
	if raw || p.From != nil {
		p.Format = ahp.FormatRaw
	}
	var r ahp.CommandResult
	if err := c.request(ctx, ahp.MethodCommand, p, &r); err != nil {
		return commandOutput{}, err
	}
	if p.From != nil && !raw {
		r.Output, r.Tail = plaintext.Convert(r.Output), plaintext.Convert(r.Tail)
	}
	out := commandOutput{
		TerminalID: pool.ID(uri), CommandID: r.ID, Command: r.CommandLine, Running: r.Running,
		ExitCode: r.ExitCode, DurationMs: r.DurationMs, Cwd: fileuri.Path(r.Cwd),
	}
	if r.Running {
		out.Cursor = r.Bytes
	}
	out.output, out.Omitted = z.shorten(r.Output, r.Omitted, r.Tail)
	return out, nil
}

// timeout is a time limit of a call in milliseconds.
func (c call) timeout(ms int64, otherwise time.Duration) (int64, error) {
	switch {
	case ms == 0:
		return otherwise.Milliseconds(), nil
	case ms < 0 || ms > maxTimeout.Milliseconds():
		return 0, fmt.Errorf("timeoutMs %d is out of range: use 1 to %d", ms, maxTimeout.Milliseconds())
	case c.req.Params.GetProgressToken() == nil:
		ms = min(ms, patience.Milliseconds())
	}
	return ms, nil
}

// asShell lets run_command be called as agents' own shells are, whose names some agents
// take for it: the command is a text, and what else they take is left out.
func asShell(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if r, is := req.(*mcp.CallToolRequest); is && r.Params.Name == RunCommand {
			r.Params.Arguments = shellArguments(r.Params.Arguments)
		}
		return next(ctx, method, req)
	}
}

func shellArguments(raw json.RawMessage) json.RawMessage {
	var in struct {
		Command string `json:"command"`
		Timeout int64  `json:"timeout"`
	}
	if json.Unmarshal(raw, &in) != nil || in.Command == "" {
		return raw
	}
	out, err := json.Marshal(runInput{program: program{Line: in.Command}, TimeoutMs: in.Timeout})
	if err != nil {
		return raw
	}
	return out
}
