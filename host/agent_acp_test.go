package host_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/host/agent"
	"tandemux/host/agent/acp"
	"tandemux/host/guard"
	"tandemux/internal/acptest"
	"tandemux/internal/approval"
)

func init() {
	roles["agent"] = func() { os.Exit(acptest.Main(os.Getenv("ACPTEST_SCRIPT"))) }
}

// conversation is a client in a chat with a scripted agent, which is run over
// ACP; it folds what it is told.
type conversation struct {
	*peer
	w             *fixture
	work          string
	session, chat ahp.URI
	state         ahp.ChatState
	root          ahp.RootState
	seq           int64
	turn          string
}

func talkTo(t *testing.T, script string, change ...func(*host.Config)) *conversation {
	t.Helper()
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := scriptedAgent(t, strings.ReplaceAll(script, "$WORK", work))
	w := start(t, append(change, func(c *host.Config) { c.Agents = []agent.Provider{p} })...)
	c := &conversation{peer: w.connect("me"), w: w, work: work, session: "ahp-session:/s", chat: "ahp-chat:/c"}
	c.initialize()
	c.must(ahp.MethodCreateSession, ahp.CreateSessionParams{
		Channel: c.session, WorkingDirectories: []ahp.URI{"file://" + work}, Meta: &ahp.SessionMeta{Chat: c.chat},
	}, nil)
	c.watch(t)
	return c
}

func scriptedAgent(t *testing.T, script string) *acp.Provider {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := acp.New(acp.Config{
		ID: "scripted", Name: "Scripted", Command: []string{self}, Version: "test", Grace: 2 * time.Second,
		Env: []agent.Var{{Name: roleEnv, Value: "agent"}, {Name: "ACPTEST_SCRIPT", Value: script}, {Name: "GORACE", Value: "atexit_sleep_ms=0"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func decodeState(t *testing.T, s ahp.Snapshot, to any) {
	t.Helper()
	if err := json.Unmarshal(s.State, to); err != nil {
		t.Fatalf("state of %s: %v", s.Resource, err)
	}
}

// step takes the next message.
func (c *conversation) step(what string) {
	c.t.Helper()
	_, m, err := c.next()
	if err != nil {
		text, _ := json.Marshal(c.state)
		c.t.Fatalf("waiting for %s: %v\n%s\n%s", what, err, text, c.w.log)
	}
	if m.Method != ahp.MethodAction {
		return
	}
	var e ahp.Envelope
	if err := json.Unmarshal(m.Params, &e); err != nil {
		c.t.Fatal(err)
	}
	if e.RejectionReason != "" {
		c.t.Fatalf("rejected: %s", e.RejectionReason)
	}
}

func (c *conversation) until(what string, ok func() bool) {
	c.t.Helper()
	for !ok() {
		c.step(what)
	}
}

func (c *conversation) do(channel ahp.URI, a ahp.Action) {
	c.t.Helper()
	c.seq++
	c.dispatch(channel, c.seq, a)
}

func (c *conversation) prompt(text string) {
	c.t.Helper()
	c.turn = fmt.Sprintf("turn%d", len(c.state.Turns)+1)
	c.do(c.chat, ahp.ChatTurnStarted{TurnID: c.turn, Message: ahp.Message{Text: text, Origin: ahp.MessageOrigin{Kind: "user"}}})
}

// ended waits for the end of the turn.
func (c *conversation) ended() ahp.Turn {
	c.t.Helper()
	c.until("the end of the turn", func() bool {
		return slices.ContainsFunc(c.state.Turns, func(t ahp.Turn) bool { return t.ID == c.turn })
	})
	return c.state.Turns[len(c.state.Turns)-1]
}

// said is all that the agent said in a turn.
func said(t ahp.Turn) string {
	var b strings.Builder
	for _, p := range t.ResponseParts {
		if p.Kind == ahp.PartMarkdown {
			b.WriteString(p.Content)
		}
	}
	return b.String()
}

// saying waits until the agent has said something in the running turn.
func (c *conversation) saying(text string) {
	c.t.Helper()
	c.until("the agent to say "+text, func() bool { return c.state.ActiveTurn != nil && strings.Contains(said(*c.state.ActiveTurn), text) })
}

// claim is the claim of the only terminal.
func (c *conversation) claim() ahp.Claim {
	if len(c.root.Terminals) != 1 {
		return ahp.Claim{}
	}
	return c.root.Terminals[0].Claim
}

const (
	callRuns = `update {"sessionUpdate":"tool_call","toolCallId":"c1","title":"run it","kind":"execute","status":"in_progress"}
`
	callShows = `update {"sessionUpdate":"tool_call_update","toolCallId":"c1","content":[{"type":"terminal","terminalId":"$t.terminalId"}]}
`
	callDone = `update {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}
`
	waits = `call x terminal/wait_for_exit {"sessionId":"$SESSION","terminalId":"$t.terminalId"}
show x
`
	outputs = `call x terminal/output {"sessionId":"$SESSION","terminalId":"$t.terminalId"}
show x
`
	releases = `call x terminal/release {"sessionId":"$SESSION","terminalId":"$t.terminalId"}
show x
`
)

func creates(command string) string {
	text, _ := json.Marshal(command)
	return fmt.Sprintf("call t terminal/create {\"sessionId\":\"$SESSION\",\"command\":%s}\n", text)
}

// A command of an agent's runs in a terminal of the host's (G40, P3–P9): claimed
// for the tool call while that runs, the session's in the background after it
// (G20, G41), shown in the chat and listed.
func TestAgentRunsACommand(t *testing.T) {
	c := talkTo(t, "prompt\n"+callRuns+creates("printf 'gr\\303\\274n\\n'; echo err >&2; tty >/dev/null && echo terminal; pwd; read x; exit 3")+callShows+
		waits+outputs+releases+callDone)
	c.prompt("go")
	c.until("the terminal's claim", func() bool { return c.claim().ToolCallID != "" })
	want := ahp.Claim{Kind: ahp.ClaimSession, Session: c.session, Chat: c.chat, TurnID: c.turn, ToolCallID: "c1"}
	if got := c.claim(); got != want {
		t.Errorf("the claim is %+v", got)
	}
	uri := c.root.Terminals[0].Resource
	c.until("the terminal in the tool call", func() bool {
		call := c.state.ToolCall(c.turn, "c1")
		return call != nil && len(call.Content) == 1 && call.Content[0].Resource == uri
	})
	// The operator sees it live, takes it, answers its question and goes on.
	s := c.subscribe(uri)
	var state ahp.TerminalState
	decodeState(t, s, &state)
	c.output(uri, c.work)
	c.do(uri, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "me"}})
	c.do(uri, ahp.TerminalInput{Data: "\n"})
	turn := c.ended()
	if turn.State != ahp.TurnComplete {
		t.Fatalf("the turn is %s: %s", turn.State, c.w.log)
	}
	// The wait ends when the terminal is taken, or with the command if the agent began to wait later.
	taken := func(text string) bool {
		return strings.Contains(text, `{"exitCode":null,"signal":null}`) || strings.Contains(text, `{"exitCode":3,"signal":null}{`)
	}
	if text := said(turn); !taken(text) || !strings.Contains(text, "grün\\nerr\\nterminal\\n"+c.work) {
		t.Errorf("the agent got %s", text)
	}
}

// Until the end: the exit code, the output as plain text, and the claim that is
// narrowed when the call is over.
func TestAgentsCommandEnds(t *testing.T) {
	c := talkTo(t, "prompt\n"+callRuns+creates("printf '\\033[31mred\\033[0m\\n'; printf 'half\\rdone\\n'; exit 3")+callShows+waits+outputs+releases+callDone+
		`call u terminal/create {"sessionId":"$SESSION","command":"sleep","args":["1000"]}
call x terminal/kill {"sessionId":"$SESSION","terminalId":"$u.terminalId"}
call x terminal/wait_for_exit {"sessionId":"$SESSION","terminalId":"$u.terminalId"}
show x
call x terminal/output {"sessionId":"$SESSION","terminalId":"$t.terminalId"}
show x
`)
	c.prompt("go")
	turn := c.ended()
	text := said(turn)
	for _, want := range []string{
		`{"exitCode":3,"signal":null}`,
		`{"output":"red\ndone\n","truncated":false,"exitStatus":{"exitCode":3,"signal":null}}`,
		`"signal":"SIG`, `{"code":-32002,"message":"Terminal not found: term_1"}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	c.until("the claims narrowed", func() bool {
		return !slices.ContainsFunc(c.root.Terminals, func(i ahp.TerminalInfo) bool { return i.Claim.TurnID != "" || i.Claim.ToolCallID != "" })
	})
	for _, p := range turn.ResponseParts {
		call := p.ToolCall
		if call == nil {
			continue
		}
		if call.Status != ahp.ToolCompleted || len(call.Content) != 1 {
			t.Fatalf("the tool call is %+v", call)
		}
		if r := call.Content[0].Result; r == nil || r.ExitCode == nil || *r.ExitCode != 3 || !strings.HasPrefix(call.Content[0].Title, "printf") {
			t.Errorf("its terminal is %+v, %+v", call.Content[0], r)
		}
	}
}

// A person sends a running command to the background: the agent is told and goes
// on, the command runs on, also after the agent has released it (G43).
func TestCommandSentToTheBackground(t *testing.T) {
	c := talkTo(t, "prompt\n"+callRuns+creates("echo serving; sleep 1000")+callShows+waits+outputs+releases+callDone)
	c.prompt("go")
	c.until("the terminal's claim", func() bool { return c.claim().ToolCallID != "" })
	uri := c.root.Terminals[0].Resource
	c.subscribe(uri)
	c.output(uri, "serving")
	c.do(uri, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: c.session, Chat: c.chat}})
	turn := c.ended()
	if text := said(turn); !strings.Contains(text, `{"exitCode":null,"signal":null}`) || !strings.Contains(text, "A person has taken this terminal over, or sent it to the background.") {
		t.Errorf("the agent got %s", text)
	}
	c.until("the terminal in the background", func() bool { return c.claim().ToolCallID == "" })
	if i := c.root.Terminals[0]; i.Lifecycle.Exited() || i.Claim.Kind != ahp.ClaimSession {
		t.Errorf("the terminal is %+v", i)
	}
	// With its session, what it still holds ends (G42, G46).
	c.must(ahp.MethodDisposeSession, map[string]any{"channel": c.session}, nil)
	c.until("the end of the session's terminal", func() bool { return len(c.root.Terminals) == 0 })
}

// A later tool call that waits on it has it again (G45): the claim is the call's, and
// the wait is one, until the command ends.
func TestCommandBackFromTheBackground(t *testing.T) {
	c := talkTo(t, "prompt\n"+callRuns+creates("echo serving; until [ -e $WORK/end ]; do sleep 0.05; done; exit 5")+callShows+waits+callDone+`
update {"sessionUpdate":"tool_call","toolCallId":"c2","title":"look again","kind":"other","status":"in_progress"}
`+outputs+waits+outputs+`update {"sessionUpdate":"tool_call_update","toolCallId":"c2","status":"completed"}
`)
	c.prompt("go")
	c.until("the terminal's claim", func() bool { return c.claim().ToolCallID == "c1" })
	uri := c.root.Terminals[0].Resource
	parked := ahp.Claim{Kind: ahp.ClaimSession, Session: c.session, Chat: c.chat}
	c.do(uri, ahp.TerminalClaimed{Claim: parked})
	c.until("the claim of the second call", func() bool { return c.claim().ToolCallID == "c2" })
	if got := c.claim(); got.TurnID != c.turn || got.Chat != c.chat {
		t.Errorf("the claim is %+v", got)
	}
	if err := os.WriteFile(filepath.Join(c.work, "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	text := said(c.ended())
	first, rest, _ := strings.Cut(text, `{"exitCode":null,"signal":null}`)
	if first != "" || strings.Contains(rest, "go on without") || !strings.Contains(rest, `{"exitCode":5,"signal":null}`) {
		t.Errorf("the agent got %s", text)
	}
	c.until("the claim narrowed", func() bool { return c.claim() == parked })
}

// A terminal that a person took is neither killed nor released (T20,
// docs/contributing/decisions.md §1), and stays when the session ends.
func TestCommandTakenByAPerson(t *testing.T) {
	c := talkTo(t, "prompt\n"+callRuns+creates("echo serving; sleep 1000")+callShows+waits+
		`call x terminal/kill {"sessionId":"$SESSION","terminalId":"$t.terminalId"}
show x
`+releases+callDone)
	c.prompt("go")
	c.until("the terminal's claim", func() bool { return c.claim().ToolCallID != "" })
	uri := c.root.Terminals[0].Resource
	c.do(uri, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "me"}})
	if text := said(c.ended()); !strings.Contains(text, "Cannot kill visible or user-owned terminals") {
		t.Errorf("the agent got %s", text)
	}
	c.until("the claim", func() bool { return c.claim().Kind == ahp.ClaimClient })
	c.must(ahp.MethodDisposeSession, map[string]any{"channel": c.session}, nil)
	c.subscribe(uri)
	decodeState(t, c.subscribe(ahp.RootURI), &c.root)
	if i := c.root.Terminals; len(i) != 1 || i[0].Lifecycle.Exited() || i[0].Claim.Kind != ahp.ClaimClient {
		t.Errorf("the terminals are %+v", i)
	}
}

// Release ends a command that runs (P13), and so does the end of the agent.
func TestReleaseEndsTheCommand(t *testing.T) {
	t.Parallel()
	for _, end := range []string{releases, "kill\n"} {
		c := talkTo(t, "prompt\n"+callRuns+creates("sleep 1000")+callShows+end)
		c.prompt("go")
		turn := c.ended()
		if failed := turn.State == ahp.TurnError; failed != (end == "kill\n") {
			t.Errorf("the turn is %s", turn.State)
		}
		c.until("the end of the command", func() bool { return len(c.root.Terminals) == 1 && c.root.Terminals[0].Lifecycle.Exited() })
	}
}

// What an agent may not do, in the documents' words, and what it gets when a
// command can't be started (P2, P17).
func TestAgentIsConfined(t *testing.T) {
	c := talkTo(t, "prompt\n"+creates("sudo ls")+"show t\n"+creates("env rm x")+"show t\n"+
		`call t terminal/create {"sessionId":"$SESSION","command":"sh","args":["-c","ls | sh"]}
show t
call t terminal/create {"sessionId":"$SESSION","command":"ls","cwd":"$WORKx"}
show t
call t terminal/create {"sessionId":"$SESSION","command":"ls","cwd":"/"}
show t
call t terminal/create {"sessionId":"$SESSION","command":"ls","env":[{"name":"A=B","value":"c"}]}
show t
call t terminal/create {"sessionId":"$SESSION","command":"no-such-program-anywhere","args":["x"]}
call x terminal/output {"sessionId":"$SESSION","terminalId":"$t.terminalId"}
show x
call x fs/read_text_file {"sessionId":"$SESSION","path":"/etc/passwd"}
show x
call x fs/write_text_file {"sessionId":"$SESSION","path":"$CWD/file","content":"written"}
`, withLimits(func(b *guard.Limits) { b.Policy.Uses = false }))
	c.prompt("go")
	text := said(c.ended())
	for _, want := range []string{
		`{"code":-32602,"message":"Blocked dangerous command: sudo"}`,
		`{"code":-32602,"message":"Blocked dangerous command: rm"}`,
		`{"code":-32602,"message":"Blocked dangerous command: | sh"}`,
		`{"code":-32602,"message":"Access denied: working directory outside allowed path"}{"code":-32602,"message":"Access denied: working directory outside allowed path"}`,
		`can't be the name of a variable`,
		`{"output":"\nError: `, `"exitStatus":{"exitCode":127,"signal":null}`,
		`{"code":-32602,"message":"Access denied: path outside allowed path"}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if b, err := os.ReadFile(filepath.Join(c.work, "file")); string(b) != "written" {
		t.Errorf("the file holds %q, %v", b, err)
	}
	if len(c.root.Terminals) != 0 {
		t.Errorf("terminals are left: %+v", c.root.Terminals)
	}
}

// outputByteLimit cuts at the front, at a character's boundary; at 0 nothing is left (A14).
func TestOutputLimit(t *testing.T) {
	t.Parallel()
	c := talkTo(t, "prompt\n"+
		`call t terminal/create {"sessionId":"$SESSION","command":"i=0; while [ $i -lt 3000 ]; do printf 'ääääääääää'; i=$((i+1)); done; echo; seq 100000","outputByteLimit":700001}
`+waits+outputs+releases+
		`call t terminal/create {"sessionId":"$SESSION","command":"printf 'ääää'","outputByteLimit":5}
`+waits+outputs+releases+
		`call t terminal/create {"sessionId":"$SESSION","command":"printf 'ääää'","outputByteLimit":0}
`+waits+outputs)
	c.prompt("go")
	turn := c.ended()
	text := said(turn)
	start := strings.Index(text, `{"output":`)
	if start < 0 {
		t.Fatalf("the agent got %.300s", text)
	}
	var r struct {
		Output    string `json:"output"`
		Truncated bool   `json:"truncated"`
	}
	d := json.NewDecoder(strings.NewReader(text[start:]))
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(r.Output, "99999\n100000\n") || !r.Truncated && len(r.Output) < 648000 || len(r.Output) > 700001 {
		t.Errorf("%d bytes, truncated %v, that end with %q", len(r.Output), r.Truncated, r.Output[max(0, len(r.Output)-30):])
	}
	if !strings.Contains(text, `{"output":"ää","truncated":true,`) {
		t.Errorf("no cut at a character in %s", text[max(0, len(text)-300):])
	}
	if !strings.Contains(text, `{"output":"","truncated":true,`) {
		t.Errorf("output where none is wanted: %s", text[max(0, len(text)-300):])
	}
}

// The number of an agent's terminals in which something runs is limited, and
// terminals whose command has ended don't count.
func TestTooManyAgentTerminals(t *testing.T) {
	limits := guard.DefaultLimits()
	limits.Calls = 2
	c := talkTo(t, "prompt\n"+creates("true")+waits+strings.Repeat(creates("sleep 1000"), 2)+creates("sleep 1000")+"show t\n",
		func(c *host.Config) { c.AgentLimits = func() guard.Limits { return limits } })
	c.prompt("go")
	if text := said(c.ended()); !strings.Contains(text, `{"code":-32602,"message":"Maximum concurrent agent terminals reached (2)"}`) {
		t.Errorf("the agent got %s", text)
	}
	c.until("three terminals", func() bool { return len(c.root.Terminals) == 3 })
}

// A question of the agent's waits with the agent's own options; two clients
// answer, the first wins and the second is told.
func TestTwoAnswerAQuestion(t *testing.T) {
	c := talkTo(t, `prompt
update {"sessionUpdate":"tool_call","toolCallId":"c1","title":"make","kind":"execute","status":"pending"}
call p session/request_permission {"sessionId":"$SESSION","toolCall":{"toolCallId":"c1"},"options":[{"optionId":"aa","name":"Always allow make","kind":"allow_always"},{"optionId":"no","name":"No","kind":"reject_once"}]}
show p
update {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}
`)
	other := c.w.connect("other")
	other.initialize(c.chat)
	c.prompt("go")
	c.until("the question", func() bool {
		call := c.state.ToolCall(c.turn, "c1")
		return call != nil && call.Status == ahp.ToolPending
	})
	call := c.state.ToolCall(c.turn, "c1")
	if len(call.Options) != 2 || call.Options[0].ID != "aa" || call.Options[0].Label != "Always allow make" || call.Options[1].Kind != "deny" {
		t.Errorf("the options are %+v", call.Options)
	}
	c.do(c.chat, ahp.ChatToolCallConfirmed{TurnID: c.turn, ToolCallID: "c1", Approved: true, Confirmed: "user-action", SelectedOptionID: "aa"})
	if text := said(c.ended()); text != `{"outcome":{"outcome":"selected","optionId":"aa"}}` {
		t.Errorf("the agent got %s", text)
	}
	other.dispatch(c.chat, 1, ahp.ChatToolCallConfirmed{TurnID: c.turn, ToolCallID: "c1", Approved: false, Reason: "denied", SelectedOptionID: "no"})
	if e := other.echo(1); e.RejectionReason == "" {
		t.Error("the second answer was accepted")
	}
}

// A question has all that the agent says of the call: changes of files, texts, and
// whether something was too large to be sent.
func TestAQuestionIsWhole(t *testing.T) {
	c := talkTo(t, `prompt
call p session/request_permission {"sessionId":"$SESSION","toolCall":{"toolCallId":"c1","title":"Edit a.sh","kind":"edit","content":[{"type":"diff","path":"/a.sh","oldText":"a\n","newText":"b\n"},{"type":"content","content":{"type":"text","text":"a plan"}}]},"options":[{"optionId":"ok","name":"Once","kind":"allow_once"}]}
call q session/request_permission {"sessionId":"$SESSION","toolCall":{"toolCallId":"c2","title":"`+strings.Repeat("x", 5000)+`","kind":"execute"},"options":[{"optionId":"ok","name":"Once","kind":"allow_once"}]}
say done
`)
	c.prompt("go")
	asked := func(id string) *ahp.ToolCall {
		c.until("the question "+id, func() bool {
			call := c.state.ToolCall(c.turn, id)
			return call != nil && call.Status == ahp.ToolPending
		})
		call := c.state.ToolCall(c.turn, id)
		c.do(c.chat, ahp.ChatToolCallConfirmed{TurnID: c.turn, ToolCallID: id, Approved: true, Confirmed: "user-action", SelectedOptionID: "ok"})
		return call
	}
	if v := approval.Of(asked("c1"), nil); v.Partial != "" || len(v.Lines) != 5 || v.Lines[2].Kind != approval.Removed || v.Lines[3].Text != "b" || v.Lines[4].Text != "a plan" {
		t.Errorf("the change is shown as %+v", v)
	}
	if v := approval.Of(asked("c2"), nil); v.Partial == "" {
		t.Errorf("an input that was not sent can be allowed: %+v", v)
	}
	c.ended()
}

// Cancelled while a command runs: the turn ends for everybody at once, the agent
// cancels, and its command ends.
func TestCancelACommand(t *testing.T) {
	c := talkTo(t, "prompt\n"+callRuns+creates("sleep 1000")+callShows+"say ready\nawait cancel\n"+releases)
	c.prompt("go")
	c.saying("ready")
	c.do(c.chat, ahp.ChatTurnCancelled{TurnID: c.turn})
	if turn := c.ended(); turn.State != ahp.TurnCancelled {
		t.Errorf("the turn is %s", turn.State)
	}
	c.until("the end of the command", func() bool { return len(c.root.Terminals) == 1 && c.root.Terminals[0].Lifecycle.Exited() })
}
