package prompt

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/term"

	"tandemux/ahp"
	"tandemux/internal/approval"
	"tandemux/internal/cli"
	"tandemux/internal/client"
	"tandemux/internal/pace"
)

// seen is what the connection has told of a session and its chat. The host bounds what
// a turn may say.
type seen struct {
	session ahp.SessionState
	chat    ahp.ChatState
	told    []ahp.Envelope // with --json, the chat's actions that were not printed yet
	err     error          // why nothing more comes
}

func (p *prompter) look() seen {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

// see changes what was seen, and wakes who waits for that.
func (p *prompter) see(change func(*seen)) {
	p.mu.Lock()
	change(&p.seen)
	p.mu.Unlock()
	pace.Wake(p.events)
}

// watch says which session and chat to see.
func (p *prompter) watch(session, chat ahp.URI) {
	p.see(func(*seen) { p.session, p.chat = session, chat })
}

func (p *prompter) Snapshot(s ahp.Snapshot) {
	p.Mirror.Snapshot(s)
	p.see(func(n *seen) {
		switch s.Resource {
		case p.session:
			var state ahp.SessionState
			if json.Unmarshal(s.State, &state) == nil {
				n.session = state
			}
		case p.chat:
			var state ahp.ChatState
			if err := json.Unmarshal(s.State, &state); err != nil {
				n.err = fmt.Errorf("read the chat: %w", err)
				return
			}
			n.chat = state
		}
	})
}

func (p *prompter) Action(e ahp.Envelope) {
	p.Mirror.Action(e)
	p.see(func(n *seen) {
		switch {
		case e.RejectionReason != "":
		case e.Channel == p.session:
			n.session = ahp.ReduceSession(n.session, e.Action)
		case e.Channel == p.chat:
			n.chat = ahp.ReduceChat(n.chat, e.Action)
			if p.o.JSON {
				n.told = append(n.told, e)
			}
		}
	})
}

func (p *prompter) Gone(uri ahp.URI) {
	p.Mirror.Gone(uri)
	p.see(func(n *seen) {
		if uri == p.chat {
			n.err = errors.New("the session is gone")
		}
	})
}

func (p *prompter) Status(s client.Status, err error) {
	p.Mirror.Status(s, err)
	p.see(func(n *seen) {
		switch {
		case s != client.Closed:
		case err != nil:
			n.err = fmt.Errorf("the connection to the host has ended: %w", err)
		default:
			n.err = errors.New("the connection to the host has ended")
		}
	})
}

// printed is how much of the turn was printed.
type printed struct {
	parts int               // whole ones
	text  int               // bytes of the one after them
	calls map[string]string // the status last told, by tool call
	line  bool              // the last line of stdout has no end
}

// take prints what has come. done: the turn has ended, err says how if not well.
func (p *prompter) take() (done bool, err error) {
	p.mu.Lock()
	now := p.seen
	p.seen.told = nil
	p.mu.Unlock()
	p.state = now.chat
	for _, e := range now.told {
		if err := p.line(e); err != nil {
			return false, err
		}
	}
	turn := p.state.ActiveTurn
	if turn == nil || turn.ID != p.turn {
		i := slices.IndexFunc(p.state.Turns, func(t ahp.Turn) bool { return t.ID == p.turn })
		if i < 0 {
			return false, now.err
		}
		turn, done = &p.state.Turns[i], true
	}
	if err := p.print(turn); err != nil {
		return false, err
	}
	if !done {
		return false, now.err
	}
	return true, p.verdict(turn)
}

// verdict is the error of a turn that did not end well.
func (p *prompter) verdict(t *ahp.Turn) error {
	if p.printed.line && !p.o.JSON {
		fmt.Fprintln(p.out)
	}
	switch t.State {
	case ahp.TurnComplete:
		return nil
	case ahp.TurnCancelled:
		return errors.New("the turn was cancelled")
	}
	for _, part := range t.ResponseParts {
		if part.Kind == ahp.PartError && part.Error != nil {
			return errors.New(part.Error.Message)
		}
	}
	return errors.New("the turn failed")
}

// print prints what is new of a turn: what the agent says on stdout, what it does
// on stderr.
func (p *prompter) print(t *ahp.Turn) error {
	p.answer(t)
	if p.o.JSON {
		return nil
	}
	for _, part := range t.ResponseParts {
		if part.ToolCall != nil {
			p.tellCall(part.ToolCall)
		}
	}
	for p.printed.parts < len(t.ResponseParts) {
		part := t.ResponseParts[p.printed.parts]
		if part.Kind == ahp.PartMarkdown {
			if err := p.say(part.Content[min(p.printed.text, len(part.Content)):]); err != nil {
				return err
			}
			p.printed.text = len(part.Content)
		}
		if p.printed.parts == len(t.ResponseParts)-1 && part.Kind != ahp.PartSystemNotification {
			return nil // More may come of it.
		}
		if part.Kind == ahp.PartSystemNotification && part.Note != nil {
			p.note(part.Note.Text)
		}
		p.printed.parts, p.printed.text = p.printed.parts+1, 0
	}
	return nil
}

func (p *prompter) say(text string) error {
	if text == "" {
		return nil
	}
	if p.printed.text == 0 && p.printed.line {
		text = "\n\n" + text // another part is another paragraph
	}
	p.printed.line = !strings.HasSuffix(text, "\n")
	_, err := fmt.Fprint(p.out, text)
	return err
}

// note prints a line on stderr, below what stdout has.
func (p *prompter) note(text string) {
	if p.printed.line && term.IsTerminal(int(os.Stdout.Fd())) {
		fmt.Fprintln(p.out)
		p.printed.line = false
	}
	fmt.Fprintln(p.err, cli.Line(text))
}

// tellCall tells how a tool call stands, when that has changed.
func (p *prompter) tellCall(c *ahp.ToolCall) {
	if p.printed.calls[c.ToolCallID] == c.Status {
		return
	}
	p.printed.calls[c.ToolCallID] = c.Status
	title := CallTitle(c)
	switch c.Status {
	case ahp.ToolRunning:
		p.note("· " + title)
	case ahp.ToolCompleted:
		code := p.tellOutput(c)
		if c.Success != nil && *c.Success && (code == "" || code == "exit code 0") {
			p.note("✓ " + title)
			return
		}
		if code != "" {
			p.note("✗ " + title + " (" + code + ")")
			return
		}
		fallthrough
	case ahp.ToolCancelled:
		title = "✗ " + title
		if how := approval.Outcome(c); how != "" {
			title += " (" + how + ")"
		}
		p.note(title)
	}
}

// tellOutput prints what a command in a terminal had to say, as far as the call has it, and
// gives how it ended.
func (p *prompter) tellOutput(c *ahp.ToolCall) (code string) {
	for _, k := range c.Content {
		if k.Result == nil {
			continue
		}
		p.say(k.Result.Preview) //nolint:errcheck // as good as nobody reads it
		if k.Result.ExitCode != nil {
			code = fmt.Sprintf("exit code %d", *k.Result.ExitCode)
		}
	}
	return code
}

// CallTitle is what a tool call does, on one line.
func CallTitle(c *ahp.ToolCall) string {
	text := c.DisplayName
	if c.InvocationMessage != nil && c.InvocationMessage.Text != "" {
		text = c.InvocationMessage.Text
	}
	return cli.Short(strings.Join(strings.Fields(text), " "))
}

// answer answers what waits for a person, as far as the flags say.
func (p *prompter) answer(t *ahp.Turn) {
	for _, part := range t.ResponseParts {
		c := part.ToolCall
		if c == nil {
			continue
		}
		switch {
		case c.Status != ahp.ToolPending:
			if p.asked == c.ToolCallID {
				p.asked = ""
				p.note("(answered elsewhere)")
			}
		case p.printed.calls["?"+c.ToolCallID] != "":
		default:
			p.printed.calls["?"+c.ToolCallID] = "asked"
			if o := chosen(c, p.o.Approve); o != nil {
				p.confirm(context.Background(), c.ToolCallID, *o)
			} else {
				p.ask(c)
			}
		}
	}
}

// chosen is the option that --approve chooses: to allow this once.
func chosen(c *ahp.ToolCall, approve string) *ahp.ToolOption {
	var meta struct {
		Kind string `json:"tandemux/kind"`
	}
	json.Unmarshal(c.Meta, &meta) //nolint:errcheck // then it is of no kind
	if !ahp.Unasked(approve, meta.Kind) {
		return nil
	}
	if len(c.Options) == 0 {
		return &ahp.ToolOption{Kind: ahp.OptionApprove}
	}
	allow := func(o ahp.ToolOption) bool { return o.Kind == ahp.OptionApprove }
	i := slices.IndexFunc(c.Options, func(o ahp.ToolOption) bool { return allow(o) && !strings.Contains(string(o.Meta), "always") })
	if i < 0 {
		i = slices.IndexFunc(c.Options, allow)
	}
	if i < 0 {
		return nil
	}
	return &c.Options[i]
}

// ask puts a question to the person, if there is one here.
func (p *prompter) ask(c *ahp.ToolCall) {
	view := approval.Of(c, nil)
	tty := term.IsTerminal(int(os.Stdin.Fd())) && !p.o.JSON
	switch {
	case tty && p.asked != "":
		p.note("? " + view.Lines[0].Text)
		return // one at a time; this comes when that is answered
	case !tty:
		for _, r := range view.Lines {
			p.note("? " + r.Text)
		}
		if !p.o.JSON {
			p.note("  waiting for an answer in the interface (`tandemux`), or run again with --approve")
		}
		return
	}
	p.asked = c.ToolCallID
	p.note("?")
	if p.lines == nil {
		p.lines = make(chan string)
		DropTyped(os.Stdin) // what was typed before the question doesn't answer it
		go func(lines chan<- string) {
			for in := bufio.NewScanner(os.Stdin); in.Scan(); {
				lines <- in.Text()
			}
		}(p.lines)
	}
	p.asker = Ask(p.err, view)
}

// answered takes a line that a person has typed.
func (p *prompter) answered(ctx context.Context, line string) {
	c := p.state.ToolCall(p.turn, p.asked)
	if p.asked == "" || c == nil {
		return
	}
	if view := approval.Of(c, nil); !reflect.DeepEqual(view, p.asker.read.View) {
		p.note("  it asks something else meanwhile:")
		p.asker = Ask(p.err, view)
		return
	}
	o, ok := p.asker.Answer(line)
	if !ok {
		return
	}
	id := p.asked
	p.asked = ""
	p.confirm(ctx, id, o.ToolOption)
	p.printed.calls["?"+id] = "answered"
	if t := p.state.ActiveTurn; t != nil { // what else waits
		for _, part := range t.ResponseParts {
			if o := part.ToolCall; o != nil && o.ToolCallID != id && o.Status == ahp.ToolPending {
				p.ask(o)
				return
			}
		}
	}
}

// confirm sends an answer. Another client may have been first: that is told by
// what happens.
func (p *prompter) confirm(_ context.Context, id string, o ahp.ToolOption) {
	a := ahp.ChatToolCallConfirmed{TurnID: p.turn, ToolCallID: id, SelectedOptionID: o.ID}
	if o.Kind == ahp.OptionApprove {
		a.Approved, a.Confirmed = true, ahp.ConfirmedUserAction
	} else {
		a.Reason = ahp.ReasonDenied
	}
	if _, err := p.s.Dispatch(p.chat, a); err != nil {
		fmt.Fprintf(p.err, "tandemux: answer: %v\n", err)
	}
}
