package commands

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/host/terminal"
	"tandemux/host/terminals"
	"tandemux/internal/jsonrpc"
)

const (
	// maxWaits bounds the waits of a connection, those of x-tandemux/run counted.
	maxWaits = 64
	// maxPattern bounds WaitParams.Pattern in bytes.
	maxPattern = 1 << 10
	// beginTime is how long a shell may take to begin a command that was typed.
	beginTime = 10 * time.Second
	// inputTime is how long there is no output before it is looked whether what runs
	// waits for input, and how often.
	inputTime = 2 * time.Second
)

// wait is one x-tandemux/wait or x-tandemux/run that has yet to be answered. It is
// bound to its terminal and to the connection that asked, and guarded by the lock.
// It implements terminals.Watcher.
type wait struct {
	cs  *Commands
	c   *requests.Conn
	t   *terminals.Terminal
	req *jsonrpc.Request
	// command is the id of the command that it is bound to; "" when none ran.
	command string
	// next says that Enter was typed at a prompt: the command that begins next
	// is the one.
	next  bool
	over  bool
	timer *time.Timer // of the time limit; nil without
	idle  *time.Timer
	asked ahp.WaitParams
	quiet time.Duration // asked.IdleMs
	input *time.Timer   // of the next look whether input is waited for; nil for never
	match *matcher
	line  string // of x-tandemux/run: what is to be typed; "" once it is
	plain string // of x-tandemux/run: what it was asked to run, as a line
	key   string // of x-tandemux/run: see ahp.RunParams.Key
	feed  *terminals.Feeder
	// see is told each action of the terminal, in order.
	see func(tx core.Tx, w *wait, a ahp.Action)
}

// wait answers x-tandemux/wait when the condition holds, or can't any more.
// Nothing is polled: the terminal's actions decide as they are applied.
func (cs *Commands) wait(_ context.Context, c *requests.Conn, p ahp.WaitParams) (any, error) {
	begin, ok := conditions[p.Until]
	if !ok {
		return nil, ahp.InvalidParams("wait: until: %q is none of %q, %q, %q, %q, %q", params.Clip(p.Until), ahp.WaitExit, ahp.WaitCommand, ahp.WaitIdle, ahp.WaitOutput, ahp.WaitText)
	}
	const most = int64(365 * 24 * time.Hour / time.Millisecond)
	if p.TimeoutMs < 0 || p.TimeoutMs > most || p.IdleMs < 0 || p.IdleMs > most || p.AgoMs < 0 || p.AgoMs > most {
		return nil, ahp.InvalidParams("wait: a time is out of range: use 0 to %d ms", most)
	}
	var pattern *regexp.Regexp
	if p.Until == ahp.WaitText {
		var err error
		if pattern, err = compile(p.Pattern); err != nil {
			return nil, err
		}
	}
	tx := cs.Core.Lock()
	defer tx.Unlock()
	w, err := cs.newWait(tx, c, p.Channel, "wait")
	if err != nil {
		return nil, err
	}
	w.asked, w.quiet = p, time.Duration(p.IdleMs)*time.Millisecond
	w.t.Flush(tx)
	if w.asked.From != nil {
		w.bind()
	} else if cmd, ok := w.t.Term.Running(); ok {
		w.command = cmd.ID
	}
	if err := begin(w, tx, pattern); err != nil {
		w.end(tx)
		return nil, err
	}
	if see := w.see; p.Call && see != nil && w.t.Value.Claim.ToolCallID != "" {
		w.see = func(tx core.Tx, w *wait, a ahp.Action) {
			if c, is := a.(ahp.TerminalClaimed); is && c.Claim.Kind == ahp.ClaimSession && c.Claim.ToolCallID == "" {
				w.reply(tx, ahp.WaitResult{Reason: ahp.WaitSent, Running: true})
				return
			}
			see(tx, w, a)
		}
	}
	if p.Input && !w.over && (p.Until == ahp.WaitExit || p.Until == ahp.WaitCommand) {
		w.input = w.after(inputTime, func(tx core.Tx) {
			if w.input.Reset(inputTime); w.t.Value.Claim.Kind == ahp.ClaimSession { // Else a person sees to it.
				w.forInput(tx)
			}
		})
	}
	if p.TimeoutMs > 0 && !w.over {
		w.timer = w.after(time.Duration(p.TimeoutMs)*time.Millisecond, func(tx core.Tx) {
			if p.Input {
				w.forInput(tx)
			}
			w.reply(tx, ahp.WaitResult{Reason: ahp.WaitTimeout, Running: w.stillRunning(p.Until)})
		})
	}
	return nil, jsonrpc.ErrReplied
}

func compile(pattern string) (*regexp.Regexp, error) {
	switch {
	case pattern == "":
		return nil, ahp.InvalidParams("wait: pattern: missing")
	case len(pattern) > maxPattern:
		return nil, ahp.InvalidParams("wait: pattern: longer than %d bytes", maxPattern)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, ahp.InvalidParams("wait: pattern: %v (the syntax is RE2's)", err)
	}
	return re, nil
}

func (cs *Commands) newWait(tx core.Tx, c *requests.Conn, uri ahp.URI, doing string) (*wait, error) {
	t, err := terminals.Find(tx, c.Principal, uri, doing)
	switch {
	case err != nil:
		return nil, err
	case len(cs.waits[c]) >= maxWaits && !cs.KeepsHouse(c):
		return nil, ahp.Conflict("%s: this connection has %d waits already, the most it may have: let some end", doing, maxWaits)
	}
	w := &wait{cs: cs, c: c, t: t, req: c.Req}
	cs.waits[c] = append(cs.waits[c], w)
	t.Watch(tx, w)
	return w, nil
}

func (cs *Commands) Waits(_ core.Tx, c *requests.Conn) int { return len(cs.waits[c]) }

// Ended ends the waits of a connection that has ended.
func (cs *Commands) Ended(tx core.Tx, c *requests.Conn) {
	for len(cs.waits[c]) > 0 {
		w := cs.waits[c][0]
		w.feed.End()
		w.end(tx)
	}
}

// conditions begin a wait of each kind; they may end it at once.
var conditions = map[string]func(w *wait, tx core.Tx, pattern *regexp.Regexp) error{
	ahp.WaitExit:    (*wait).forExit,
	ahp.WaitCommand: (*wait).forCommand,
	ahp.WaitIdle:    (*wait).forIdle,
	ahp.WaitOutput:  (*wait).forOutput,
	ahp.WaitText:    (*wait).forText,
}

func (w *wait) forExit(tx core.Tx, _ *regexp.Regexp) error {
	w.see = func(tx core.Tx, w *wait, a ahp.Action) {
		if _, ok := a.(ahp.TerminalExited); ok {
			w.reply(tx, ahp.WaitResult{Reason: ahp.WaitMet, ExitCode: w.t.ExitCode(tx)})
		}
	}
	if w.t.Value.Lifecycle.Exited() {
		w.reply(tx, ahp.WaitResult{Reason: ahp.WaitMet, ExitCode: w.t.ExitCode(tx)})
	}
	return nil
}

// forCommand waits for the command that runs, or that Enter at the prompt is
// about to begin. When there is none its end has come.
func (w *wait) forCommand(tx core.Tx, _ *regexp.Regexp) error {
	known := w.t.Term.Commands()
	exited := w.t.Value.Lifecycle.Exited()
	if !known.Detection && len(known.Items) == 0 && !exited {
		return ahp.Conflict("wait for the command: the shell of this terminal does not mark its commands: wait for text, or until it is idle")
	}
	if w.asked.From != nil && w.forCommandFrom(tx, known.Items) {
		return nil
	}
	w.next = w.command == "" && !exited && w.t.Term.Entered()
	if w.command == "" && !w.next {
		r := ahp.WaitResult{Reason: ahp.WaitMet}
		if n := len(known.Items); n > 0 {
			r.CommandID, r.ExitCode = known.Items[n-1].ID, known.Items[n-1].ExitCode
		}
		w.reply(tx, r)
		return nil
	}
	if w.next {
		w.idle = w.after(terminal.EnterTime, w.declined)
	}
	w.see = func(tx core.Tx, w *wait, a ahp.Action) {
		switch a := a.(type) {
		case ahp.TerminalCommandExecuted:
			if w.next {
				w.command, w.next = a.CommandID, false
			}
		case ahp.TerminalCommandFinished:
			if a.CommandID == w.command {
				w.reply(tx, ahp.WaitResult{Reason: ahp.WaitMet, ExitCode: a.ExitCode})
			}
		case ahp.TerminalExited:
			w.reply(tx, ahp.WaitResult{Reason: ahp.WaitExited, ExitCode: w.t.ExitCode(tx)})
		}
	}
	return nil
}

// declined is for a wait whose command never came.
func (w *wait) declined(tx core.Tx) {
	switch {
	case !w.next || w.line != "":
	case w.command != "": // of x-tandemux/run
		w.answer(tx, nil, ahp.Conflict("run: the shell took the command line and did not execute it: look at the terminal with `tandemux read`"))
	default:
		w.reply(tx, ahp.WaitResult{Reason: ahp.WaitMet})
	}
}

func (w *wait) forIdle(tx core.Tx, _ *regexp.Regexp) error {
	if w.quiet <= 0 {
		return ahp.InvalidParams("wait: idleMs: say for how long there is to be no output, such as 500")
	}
	if w.t.Value.Lifecycle.Exited() {
		w.reply(tx, ahp.WaitResult{Reason: ahp.WaitMet})
		return nil
	}
	quiet := w.quiet
	if w.asked.From != nil {
		quiet = w.quietFor(tx, time.Duration(w.asked.AgoMs)*time.Millisecond)
	}
	w.idle = w.after(quiet, func(tx core.Tx) { w.reply(tx, ahp.WaitResult{Reason: ahp.WaitMet, Running: true}) })
	w.see = func(tx core.Tx, w *wait, a ahp.Action) {
		switch a.(type) {
		case ahp.TerminalData:
			w.idle.Reset(w.quiet)
		case ahp.TerminalExited: // It will be quiet now.
			w.reply(tx, ahp.WaitResult{Reason: ahp.WaitMet})
		}
	}
	return nil
}

// forOutput waits for what changes the content, which of an exited terminal only a
// clearing does.
func (w *wait) forOutput(tx core.Tx, _ *regexp.Regexp) error {
	if w.asked.From != nil {
		if es, ok := w.t.Since(tx, w.asked.From.Seq); !ok || slices.ContainsFunc(es, shows) {
			w.reply(tx, ahp.WaitResult{Reason: ahp.WaitMet})
			return nil
		}
	}
	w.see = func(tx core.Tx, w *wait, a ahp.Action) {
		switch a.(type) {
		case ahp.TerminalData, ahp.TerminalCleared:
			w.reply(tx, ahp.WaitResult{Reason: ahp.WaitMet})
		}
	}
	return nil
}

// printed is what a pattern is matched against before the line that the cursor is on,
// in whole lines: the output of the command that runs, or of the program of a terminal
// whose shell marks none. What is told while it is read is in it, too.
func (w *wait) printed(tx core.Tx, all bool) (text string, err error) {
	known, id := w.t.Term.Commands(), w.command
	if n := len(known.Items); n > 0 && w.t.Shell() == "" {
		id = known.Items[n-1].ID
	}
	switch {
	case id != "" && !all:
		r, _ := from(tx, w.t, id, 0)
		text = r.Output + r.Tail
	case w.asked.Past || all || !known.Detection && len(known.Items) == 0:
		r, err := w.t.Term.Read(ahp.ReadRaw)
		if err != nil {
			return "", ahp.Internal("wait: read what is there: %v", err)
		}
		text = r.Text
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text, nil
}

func (w *wait) forText(tx core.Tx, pattern *regexp.Regexp) (err error) {
	var text, line string
	var es []ahp.Envelope
	known := true
	if w.asked.From != nil {
		es, known = w.t.Since(tx, w.asked.From.Seq)
		line = w.asked.From.Line
	}
	if w.asked.From == nil || !known {
		line = w.t.PresentLine(tx)
	}
	w.match = &matcher{w: w, pattern: pattern, wake: make(chan struct{}, 1)}
	w.see = seeText
	w.replay(tx, es, known)
	if !w.asked.New || !known {
		if text, err = w.printed(tx, !known); err != nil {
			return err
		}
	}
	w.cs.matching.Add(1)
	go w.match.run(text + line)
	if w.t.Value.Lifecycle.Exited() {
		w.match.last(ahp.WaitResult{Reason: ahp.WaitExited, ExitCode: w.t.ExitCode(tx)})
	}
	return nil
}

// seeText is what a wait for text does with an action.
func seeText(tx core.Tx, w *wait, a ahp.Action) {
	switch a := a.(type) {
	case ahp.TerminalData:
		w.match.add(a.Data)
	case ahp.TerminalCommandFinished:
		if a.CommandID == w.command {
			w.match.last(ahp.WaitResult{Reason: ahp.WaitFinished, ExitCode: a.ExitCode})
		}
	case ahp.TerminalExited:
		w.match.last(ahp.WaitResult{Reason: ahp.WaitExited, ExitCode: w.t.ExitCode(tx)})
	}
}

// forInput ends a wait whose program waits for input.
func (w *wait) forInput(tx core.Tx) {
	if line := w.t.PresentLine(tx); !w.over && w.t.Term.WantsInput(line) {
		w.reply(tx, ahp.WaitResult{Reason: ahp.WaitInput, Running: true, Line: line})
	}
}

// stillRunning reports whether what is waited for runs.
func (w *wait) stillRunning(until string) bool {
	if until == ahp.WaitCommand && !w.next {
		cmd, ok := w.t.Term.Running()
		return ok && cmd.ID == w.command
	}
	return !w.t.Value.Lifecycle.Exited()
}

// after calls f under the lock in a while, unless the wait is over by then.
func (w *wait) after(d time.Duration, f func(tx core.Tx)) *time.Timer {
	return time.AfterFunc(d, func() {
		tx := w.cs.Core.Lock()
		defer tx.Unlock()
		if !w.over {
			f(tx)
		}
	})
}

// reply answers and ends the wait.
func (w *wait) reply(tx core.Tx, r ahp.WaitResult) {
	r.CommandID = cmp.Or(r.CommandID, w.command)
	w.answer(tx, r, nil)
}

// answer answers, once, and ends the wait.
func (w *wait) answer(tx core.Tx, result any, err error) {
	if w.over {
		return
	}
	if err != nil {
		w.feed.End()
	}
	w.end(tx)
	w.c.Out.RPC.Reply(w.req, result, err) //nolint:errcheck // a connection that has ended needs no answer
}

// end ends the wait without an answer.
func (w *wait) end(tx core.Tx) {
	if w.over {
		return
	}
	w.over = true
	w.t.Unwatch(tx, w)
	left := slices.DeleteFunc(w.cs.waits[w.c], func(o *wait) bool { return o == w })
	if w.cs.waits[w.c] = left; len(left) == 0 {
		delete(w.cs.waits, w.c)
	}
	for _, timer := range []*time.Timer{w.timer, w.idle, w.input} {
		if timer != nil {
			timer.Stop()
		}
	}
	if w.match != nil {
		w.match.stop()
	}
}

func (w *wait) Told(tx core.Tx, a ahp.Action) {
	if _, is := a.(ahp.TerminalData); is && w.input != nil && !w.over {
		w.input.Reset(inputTime)
	}
	if _, is := a.(terminal.Declined); is {
		w.declined(tx)
	} else if w.see != nil && !w.over {
		w.see(tx, w, a)
	}
}

// Follow implements terminals.Watcher: a shell that shows its prompt is given its line.
func (w *wait) Follow(tx core.Tx, a ahp.Action) {
	if _, is := a.(terminal.Ready); is {
		w.ready(tx)
	}
}

func (w *wait) Gone(tx core.Tx) {
	if w.match != nil {
		w.match.last(ahp.WaitResult{Reason: ahp.WaitGone})
		return
	}
	w.reply(tx, ahp.WaitResult{Reason: ahp.WaitGone})
}
