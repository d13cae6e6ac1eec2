package host_test

import (
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/internal/wsrpc"
)

// commandOf is the tool call of a turn that was a command line.
func commandOf(t *testing.T, turn ahp.Turn) *ahp.ToolCall {
	t.Helper()
	if len(turn.ResponseParts) == 0 || turn.ResponseParts[0].ToolCall == nil {
		t.Fatalf("the turn has no tool call: %+v", turn)
	}
	return turn.ResponseParts[0].ToolCall
}

// resultOf is what the transcript says of its terminal.
func resultOf(t *testing.T, c *ahp.ToolCall) (terminal ahp.URI, r ahp.TerminalResult) {
	t.Helper()
	if len(c.Content) != 1 || c.Content[0].Type != ahp.ContentTerminal || c.Content[0].Result == nil {
		t.Fatalf("the tool call has no terminal's result: %+v", c)
	}
	return c.Content[0].Resource, *c.Content[0].Result
}

// TestCommandLines: a message that begins with the prefix runs in a terminal of the
// session; output and exit code are in the transcript, and the agent, which had no part in
// it, is told with its next message.
func TestCommandLines(t *testing.T) {
	c := talkTo(t, "prompt\nsay $PROMPT\nprompt\nsay $PROMPT\n")
	c.prompt("! pwd; echo one; echo two >&2")
	turn := c.ended()
	call := commandOf(t, turn)
	uri, r := resultOf(t, call)
	if turn.State != ahp.TurnComplete || !*call.Success || r.ExitCode == nil || *r.ExitCode != 0 || r.Truncated {
		t.Errorf("the turn is %s, the call %+v", turn.State, call)
	}
	if want := c.work + "\none\ntwo\n"; r.Preview != want {
		t.Errorf("the output is %q, want %q", r.Preview, want)
	}
	var term ahp.TerminalState
	decodeState(t, c.subscribe(uri), &term)
	if term.Claim.Kind != ahp.ClaimSession || term.Claim.Session != c.session || term.Claim.ToolCallID != "" {
		t.Errorf("the terminal is claimed %+v", term.Claim)
	}
	c.prompt("!exit 3")
	if call := commandOf(t, c.ended()); *call.Success || call.Error == nil || call.Error.Message != "exit code 3" {
		t.Errorf("a command that failed: %+v", call)
	}
	c.prompt("go on")
	turn = c.ended()
	want := "Since your last turn the user has run this:\n\n$ pwd; echo one; echo two >&2\n" + c.work + "\none\ntwo\n(exit code 0)\n\n$ exit 3\n(exit code 3)"
	if text := said(turn); !strings.Contains(text, "text:go on") || !strings.Contains(text, want) {
		t.Errorf("the agent was told %q, want %q", text, want)
	}
	if a := turn.Message.Attachments; len(a) != 1 || a[0].Label != "2 commands" {
		t.Errorf("the message shows %+v", a)
	}
	// Once; and what is no command line is the agent's.
	c.prompt("!  ")
	if text := said(c.ended()); !strings.Contains(text, "text:!") || strings.Contains(text, "Since your last turn") {
		t.Errorf("the agent was told %q", text)
	}
}

// TestCommandLinesAreBounded: of much output the end is kept.
func TestCommandLinesAreBounded(t *testing.T) {
	c := talkTo(t, "prompt\nsay $PROMPT\n")
	c.prompt("!seq 100000")
	_, r := resultOf(t, commandOf(t, c.ended()))
	if len(r.Preview) > 16<<10 || !strings.HasSuffix(r.Preview, "\n99999\n100000\n") || !r.Truncated {
		t.Errorf("%d bytes of output, cut %v, the end is %q", len(r.Preview), r.Truncated, r.Preview[max(0, len(r.Preview)-20):])
	}
}

// TestCommandLineIsCancelled: with its turn its process ends, and the queue goes on when it
// has; a terminal that is killed ends the turn.
func TestCommandLineIsCancelled(t *testing.T) {
	c := talkTo(t, "prompt\nsay $PROMPT\n")
	running := func(text string) {
		t.Helper()
		c.until("the command to run", func() bool {
			n := c.state.ActiveTurn
			return n != nil && n.Message.Text == text && len(n.ResponseParts) > 0 && n.ResponseParts[0].ToolCall.Status == ahp.ToolRunning && len(n.ResponseParts[0].ToolCall.Content) > 0
		})
	}
	c.prompt("!sleep 1000")
	running("!sleep 1000")
	uri := c.state.ActiveTurn.ResponseParts[0].ToolCall.Content[0].Resource
	c.do(c.chat, ahp.ChatPendingMessageSet{Kind: ahp.PendingQueued, ID: "q", Message: ahp.Message{Text: "!echo queued; sleep 1000", Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}})
	c.do(c.chat, ahp.ChatTurnCancelled{TurnID: c.turn})
	if turn := c.ended(); turn.State != ahp.TurnCancelled {
		t.Errorf("the turn is %s", turn.State)
	}
	running("!echo queued; sleep 1000")
	var term ahp.TerminalState
	if decodeState(t, c.subscribe(uri), &term); !term.Lifecycle.Exited() {
		t.Errorf("the next began while the one before ran: %+v", term.Lifecycle)
	}
	uri = c.state.ActiveTurn.ResponseParts[0].ToolCall.Content[0].Resource
	c.must(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: uri}, nil)
	c.until("the end", func() bool { return len(c.state.Turns) == 2 })
	if call := commandOf(t, c.state.Turns[1]); call.Success == nil || *call.Success {
		t.Errorf("a command whose terminal was killed: %+v of %+v", call, c.state.Turns)
	}
}

// TestCommandLineThatIsTaken: a person who takes its terminal, as to type a password, is
// still waited for.
func TestCommandLineThatIsTaken(t *testing.T) {
	c := talkTo(t, "prompt\nsay $PROMPT\n")
	c.prompt("!read x; echo got $x")
	c.until("the command to run", func() bool {
		n := c.state.ActiveTurn
		return n != nil && len(n.ResponseParts) > 0 && len(n.ResponseParts[0].ToolCall.Content) > 0
	})
	uri := c.state.ActiveTurn.ResponseParts[0].ToolCall.Content[0].Resource
	c.do(uri, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "me"}})
	c.do(uri, ahp.TerminalInput{Data: "it\n"})
	if _, r := resultOf(t, commandOf(t, c.ended())); !strings.HasSuffix(r.Preview, "got it\n") {
		t.Errorf("the output is %q", r.Preview)
	}
}

// TestCommandLinesWait: while the agent has a turn a command line is refused as any message
// is, and queued it waits; as a steering message it waits, too, and is not the agent's.
func TestCommandLinesWait(t *testing.T) {
	t.Parallel()
	p := newScripted("scripted")
	p.scripts["go"] = "say working\nawait more"
	a := talkingTo(t, p)
	message := func(text string) ahp.Message {
		return ahp.Message{Text: text, Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}
	}
	a.accepted(theChat, 11, ahp.ChatTurnStarted{TurnID: "t1", Message: message("go")})
	a.envelope("the agent works", func(e ahp.Envelope) bool { _, is := e.Action.(ahp.ChatResponsePart); return is })
	a.refused(theChat, 12, ahp.ChatTurnStarted{TurnID: "t2", Message: message("!echo x")}, "TurnInProgress")
	a.accepted(theChat, 13, ahp.ChatPendingMessageSet{Kind: ahp.PendingQueued, ID: "q", Message: message("!echo queued")})
	a.accepted(theChat, 14, ahp.ChatPendingMessageSet{Kind: ahp.PendingSteering, ID: "s", Message: message("!echo steered")})
	close(p.word("more"))
	var order []string
	a.envelope("both have run", func(e ahp.Envelope) bool {
		switch x := e.Action.(type) {
		case ahp.ChatTurnStarted:
			order = append(order, x.Message.Text)
		case ahp.ChatToolCallComplete:
			order = append(order, x.Result.Content[0].Result.Preview)
		case ahp.ChatResponsePart:
			if x.Part.Kind == ahp.PartMarkdown || x.Part.Note != nil {
				t.Errorf("the agent had a part in it: %+v", x.Part)
			}
		}
		return len(order) == 4
	})
	if got := strings.Join(order, "|"); got != "!echo steered|steered\n|!echo queued|queued\n" {
		t.Errorf("what ran: %q", got)
	}
}

// TestWhoRunsCommandLines: exactly who may make a terminal for the session, however the
// message comes; others chat on.
func TestWhoRunsCommandLines(t *testing.T) {
	t.Parallel()
	w := startWith(t, newScripted("scripted"))
	message := func(text string) ahp.Message {
		return ahp.Message{Text: text, Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}
	}
	owner := w.connectTCP("owner", w.token("terminal:read", "session", "terminal:create").Token)
	owner.initialize()
	owner.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: theSession, Meta: &ahp.SessionMeta{Chat: theChat}}, nil)
	chatter := w.connectTCP("chatter", w.token("terminal:read", "session").Token)
	other := w.connectTCP("other", w.token("terminal:read", "session", "terminal:create").Token)
	for _, c := range []struct {
		p   *peer
		why string
	}{{chatter, "terminal:create"}, {other, "somebody else's"}} {
		c.p.initialize()
		c.p.refused(theChat, 1, ahp.ChatTurnStarted{TurnID: "t", Message: message("!echo x")}, c.why)
		c.p.refused(theChat, 2, ahp.ChatPendingMessageSet{Kind: ahp.PendingQueued, ID: "q", Message: message("!echo x")}, c.why)
		c.p.refused(theChat, 3, ahp.ChatPendingMessageSet{Kind: ahp.PendingSteering, ID: "q", Message: message("!echo x")}, c.why)
		m := message("!echo x")
		err := c.p.call(ahp.MethodCreateChat, ahp.CreateChatParams{Channel: theSession, Chat: "ahp-chat:/new", InitialMessage: &m}, nil)
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("a chat that begins with one: %v", err)
		}
	}
	chatter.subscribe(theChat)
	turn := func(seq int64, p *peer, m ahp.Message) {
		t.Helper()
		p.accepted(theChat, seq, ahp.ChatTurnStarted{TurnID: m.Text, Message: m})
		chatter.envelope("the end", func(e ahp.Envelope) bool { _, is := e.Action.(ahp.ChatTurnComplete); return is })
	}
	turn(4, chatter, message("hello"))
	// Who wants the agent to have such a text says so: nothing runs.
	plain := message("!echo x")
	plain.Meta = []byte(`{"tandemux/text":true}`)
	turn(5, chatter, plain)
	turn(4, owner, message("!true"))
	operator := w.connect("operator")
	r := operator.initialize()
	if r.CommandPrefix != "!" {
		t.Errorf("the prefix is %q", r.CommandPrefix)
	}
	turn(1, operator, message("!echo of the operator"))
	var s ahp.ChatState
	decodeState(t, operator.subscribe(theChat), &s)
	if len(s.Turns) != 4 || !strings.Contains(said(s.Turns[1]), "You said: !echo x") {
		t.Errorf("the turns are %+v", s.Turns)
	}
}

// TestCommandLineWhenTheHostDies: after kill -9 the turn has failed, the command runs on
// in its terminal, and it is not run again by resuming it.
func TestCommandLineWhenTheHostDies(t *testing.T) {
	t.Parallel()
	m := startMortal(t)
	connect := func() *peer {
		t.Helper()
		p, err := m.try("a", wsrpc.Target{URL: "unix://" + m.socket()})
		if err != nil {
			t.Fatal(err)
		}
		p.initialize()
		return p
	}
	a := connect()
	a.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: theSession, Meta: &ahp.SessionMeta{Chat: theChat}}, nil)
	a.subscribe(theChat)
	a.accepted(theChat, 1, ahp.ChatTurnStarted{TurnID: "t", Message: ahp.Message{Text: "!echo begun; read x; echo $x", Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}})
	var uri ahp.URI
	a.envelope("the terminal", func(e ahp.Envelope) bool {
		x, is := e.Action.(ahp.ChatToolCallContentChanged)
		if is {
			uri = x.Content[0].Resource
		}
		return is
	})
	a.subscribe(uri)
	a.output(uri, "begun")
	m.kill()
	m.revive()
	a = connect()
	var s ahp.ChatState
	decodeState(t, a.subscribe(theChat), &s)
	if len(s.Turns) != 1 || s.Turns[0].State != ahp.TurnError || !strings.Contains(commandOf(t, s.Turns[0]).Error.Message, "still running in ") {
		t.Fatalf("the turn is %+v", s.Turns)
	}
	a.refused(theChat, 2, ahp.ChatTurnResume{TurnID: "t"}, "only the last turn can go on")
	a.subscribe(uri)
	a.accepted(uri, 3, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "a"}})
	a.dispatch(uri, 4, ahp.TerminalInput{Data: "alive\n"})
	a.output(uri, "alive\r\nalive")
}

// TestCommandLineThatCannotStart: one clear error in the transcript.
func TestCommandLineThatCannotStart(t *testing.T) {
	t.Parallel()
	a := talkingTo(t, newScripted("scripted"), func(c *host.Config) { c.Limits.TurnBytes = 1 << 20 })
	a.accepted(theChat, 1, ahp.ChatTurnStarted{TurnID: "t", Message: ahp.Message{Text: "!" + strings.Repeat("x", 200<<10), Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}})
	a.envelope("the end of the call", func(e ahp.Envelope) bool {
		x, is := e.Action.(ahp.ChatToolCallComplete)
		if is && !strings.Contains(x.Result.Error.Message, "131072 bytes") {
			t.Errorf("the error is %q", x.Result.Error.Message)
		}
		return is
	})
	a.envelope("the end of the turn", func(e ahp.Envelope) bool { _, is := e.Action.(ahp.ChatTurnComplete); return is })
}

// talkingTo is a client that follows a session's chat.
func talkingTo(t *testing.T, p *scripted, change ...func(*host.Config)) *peer {
	t.Helper()
	a := start(t, append([]func(*host.Config){withAgents(p)}, change...)...).connect("a")
	a.initialize()
	a.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: theSession, Meta: &ahp.SessionMeta{Chat: theChat}}, nil)
	a.subscribe(theChat)
	return a
}

// TestCommandLineInASandbox: in the session of a task it runs in the task's sandbox, and
// texts that tasks send are none.
func TestCommandLineInASandbox(t *testing.T) {
	c, _ := taskOf(t, "prompt\nsay $PROMPT\n")
	operator := c.w.connect("operator")
	operator.initialize()
	operator.accepted(c.chat, 1, ahp.ChatTurnStarted{TurnID: "t", Message: ahp.Message{Text: "!pwd; cat file; ls " + c.work, Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}})
	c.turn = "t"
	_, r := resultOf(t, commandOf(t, c.ended()))
	if !strings.HasPrefix(r.Preview, "/workspace\ninside\n") || strings.Count(r.Preview, "inside") != 1 || *r.ExitCode == 0 {
		t.Errorf("it ran outside: %+v", r)
	}
}
