package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/ahp"
)

const (
	onceOrNo = `"options":[{"optionId":"ok","name":"Once","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}`
	removes  = `call t terminal/create {"sessionId":"$SESSION","command":"rm $WORK/file"}
show t
`
)

// A yes is to what was shown, for as long as the call that it was given to runs; and the
// session's own policy answers for no dangerous command.
func TestYesIsForWhatWasShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		yes    bool   // to the call c1
		policy string // of the session
		again  bool   // it removes the file in the next turn
	}{
		"an input that changes while the question waits": {yes: true, script: `prompt
go p session/request_permission {"sessionId":"$SESSION","toolCall":{"toolCallId":"c1","title":"list","kind":"execute","rawInput":{"command":"ls"}},` + onceOrNo + `
update {"sessionUpdate":"tool_call_update","toolCallId":"c1","rawInput":{"command":"rm $WORK/file"}}
say changed
join p
` + removes},
		"a change of a file": {yes: true, script: `prompt
call p session/request_permission {"sessionId":"$SESSION","toolCall":{"toolCallId":"c1","title":"notes","kind":"edit","content":[{"type":"diff","path":"$WORK/notes.md","oldText":"","newText":"rm $WORK/file\n"}],"rawInput":{"path":"$WORK/notes.md","line":"rm $WORK/file"}},` + onceOrNo + `
` + removes},
		"a name in other letters": {yes: true, script: `prompt
call p session/request_permission {"sessionId":"$SESSION","toolCall":{"toolCallId":"c1","title":"list","kind":"execute","rawInput":{"command":"ls","Line":"rm $WORK/file"}},` + onceOrNo + `
` + removes},
		"a call that has ended": {yes: true, again: true, script: `prompt
call p session/request_permission {"sessionId":"$SESSION","toolCall":{"toolCallId":"c1","title":"rm","kind":"execute","rawInput":{"command":"rm $WORK/file"}},` + onceOrNo + `
update {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}
prompt
` + removes},
		"a turn that has ended": {yes: true, again: true, script: `prompt
call p session/request_permission {"sessionId":"$SESSION","toolCall":{"toolCallId":"c1","title":"rm","kind":"execute","rawInput":{"command":"rm $WORK/file"}},` + onceOrNo + `
prompt
` + removes},
		"a policy that answers all": {policy: "all", script: "prompt\n" + removes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := talkTo(t, c.script)
			file := filepath.Join(k.work, "file")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if c.policy != "" {
				k.subscribe(k.session)
				k.do(k.session, ahp.SessionConfigChanged{Config: map[string]any{"tandemux/confirm": c.policy}})
			}
			k.prompt("go")
			if strings.Contains(c.script, "say changed") {
				k.saying("changed")
			}
			if c.yes {
				k.question("c1")
				k.do(k.chat, ahp.ChatToolCallConfirmed{TurnID: k.turn, ToolCallID: "c1", Approved: true, SelectedOptionID: "ok"})
			}
			if c.again {
				k.ended()
				k.prompt("again")
			}
			k.do(k.chat, ahp.ChatToolCallConfirmed{TurnID: k.turn, ToolCallID: k.dangerous().ToolCallID, SelectedOptionID: "reject"})
			if text := said(k.ended()); !strings.Contains(text, "the person refused it") {
				t.Errorf("the agent was told %s", text)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("what nobody allowed has run: %v", err)
			}
		})
	}
}

// A claim, and a question, name no chat of another session: there a terminal would be shown
// as the output of that agent's commands, and its person asked for it.
func TestChatOfAnotherSession(t *testing.T) {
	t.Parallel()
	c := talkTo(t, "prompt\nsay hello\nawait cancel\n")
	d := c.w.connectTCP("driver", c.w.token("terminal:read", "terminal:create", "terminal:input", "terminal:claim", "session").Token)
	d.initialize()
	const own, uri = ahp.URI("ahp-session:/own"), ahp.URI("ahp-terminal:/own")
	d.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: own, WorkingDirectories: []ahp.URI{"file://" + ahp.URI(c.work)}, Meta: &ahp.SessionMeta{Chat: "ahp-chat:/own"}}, nil)
	c.prompt("go")
	c.saying("hello")
	foreign := ahp.Claim{Kind: ahp.ClaimSession, Session: own, Chat: c.chat, ToolCallID: "x"}
	const refused = "is not one of session"
	if err := d.call(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{Channel: uri, Claim: foreign, Meta: &ahp.CreateMeta{Command: []string{"cat"}}}, nil); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("create: %v", err)
	}
	if err := d.call(ahp.MethodAsk, ahp.AskParams{TimeoutMs: 3000, Command: "rm -rf ~", Claim: foreign}, nil); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("ask: %v", err)
	}
	d.create(uri, "cat")
	d.subscribe(uri)
	d.dispatch(uri, 1, ahp.TerminalClaimed{Claim: foreign})
	if why := d.echo(1).RejectionReason; !strings.Contains(why, refused) {
		t.Errorf("claim: %q", why)
	}
}

// guest connects an agent from the side.
func (w *fixture) guest(name string) *peer {
	g := w.connect(name)
	g.must(ahp.MethodInitialize, ahp.InitializeParams{
		Channel: ahp.RootURI, ProtocolVersions: []string{"1.0.0"}, ClientID: name,
		Meta: &ahp.HelloMeta{Agent: &ahp.AgentMeta{Name: name, Asks: true}},
	}, nil)
	return g
}

// shell starts a shell of an agent's own.
func (p *peer) shell(uri ahp.URI) {
	p.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: "x-tandemux-agent:/" + ahp.URI(p.name)},
		Meta: &ahp.CreateMeta{Command: []string{"bash", "--norc"}},
	}, nil)
	p.subscribe(uri)
}

// What an agent types ahead while a command runs that does not read it is judged as what it
// types at the prompt; what the command reads is not.
func TestTypedAheadIsJudged(t *testing.T) {
	t.Parallel()
	w := start(t)
	g := w.guest("g")
	const uri = ahp.URI("ahp-terminal:/g")
	g.shell(uri)
	seq := int64(0)
	typed := func(data string) string {
		seq++
		g.dispatch(uri, seq, ahp.TerminalInput{Data: data})
		return g.echo(seq).RejectionReason
	}
	g.must(ahp.MethodRun, ahp.RunParams{Channel: uri, Line: "echo started; exec sleep 100"}, nil)
	g.output(uri, "started")
	if why := typed("rm file\r"); !strings.Contains(why, "blocked for security") {
		t.Errorf("ahead of sleep: %q", why)
	}
	const cat = ahp.URI("ahp-terminal:/cat")
	g.shell(cat)
	g.must(ahp.MethodRun, ahp.RunParams{Channel: cat, Line: "echo started; cat"}, nil)
	g.output(cat, "started")
	until(t, "cat to read", func() bool {
		seq++
		g.dispatch(cat, seq, ahp.TerminalInput{Data: "rm file\r"})
		return g.echo(seq).RejectionReason == ""
	})
}

// A terminal is promoted to the person's interface before a client of somebody else's that
// watches it, and to none that may not claim.
func TestPromotedToThePerson(t *testing.T) {
	t.Parallel()
	w := start(t)
	g := w.guest("g")
	promotes := func(viewer, want string, scopes ...string) {
		t.Helper()
		uri := ahp.URI("ahp-terminal:/" + viewer)
		g.shell(uri)
		v := w.connectTCP(viewer, w.token(scopes...).Token)
		v.initialize()
		v.subscribe(uri)
		var to ahp.Claim
		g.must(ahp.MethodPromote, ahp.PromoteParams{Channel: uri}, &to)
		if to.ClientID != want {
			t.Errorf("%s watches, and the terminal goes to %q, not %q", viewer, to.ClientID, want)
		}
	}
	promotes("reader", "user", "terminal:read", "terminal:input")
	promotes("claimer", "claimer", "terminal:read", "terminal:input", "terminal:claim")
	ui := w.connect("ui")
	ui.initialize()
	ui.subscribe("x-tandemux-layout:/main")
	ui.subscribe(ahp.ActivityURI)
	promotes("second", "ui", "terminal:read", "terminal:input", "terminal:claim")
}

// A token for the terminal at which a person is asked about a command does not see what.
func TestQuestionIsThePersons(t *testing.T) {
	t.Parallel()
	w := start(t)
	ui := w.connect("ui")
	ui.initialize()
	ui.subscribe("x-tandemux-layout:/main")
	ui.subscribe(ahp.ActivityURI)
	const uri = ahp.URI("ahp-terminal:/lent")
	ui.create(uri, "cat")
	var lent ahp.TokenNewResult
	ui.must(ahp.MethodTokenNew, ahp.TokenNewParams{Name: "lent", Terminal: uri}, &lent)
	v := w.connectTCP("viewer", lent.Token)
	v.initialize()
	g := w.guest("g")
	go g.call(ahp.MethodAsk, ahp.AskParams{TimeoutMs: 60000, Command: "rm -rf ./secret", Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: "x-tandemux-agent:/g"}}, nil) //nolint:errcheck // it is not answered
	until(t, "the question", func() bool {
		r := ui.rows()[uri]
		return r.Meta.Ask != nil && r.Meta.Ask.Command == "rm -rf ./secret"
	})
	if r := v.rows()[uri]; r.Resource == "" || r.Meta.Ask != nil {
		t.Errorf("the token sees %+v of %q", r.Meta, r.Resource)
	}
}
