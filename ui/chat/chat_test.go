package chat

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/themes"
	"tandemux/ui/look"
	"tandemux/ui/paint"
	"tandemux/ui/transcript"
)

var testLook = func() look.Look {
	t, _ := themes.Find("tandemux-dark")
	return look.New(t, true, true)
}()

// epoch is where the clock of tests starts.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// stage is a chat with a screen, and what it has had done.
type stage struct {
	t       testing.TB
	c       *Chat
	cv      paint.Canvas
	w, h    int
	now     time.Time
	did     []string
	copied  string
	chosen  func(int)
	rows    []string
	edited  func(string)
	screens map[string]*screen
	refuse  bool
	ids     int
}

// screen is a terminal of a test.
type screen struct {
	rows    []string
	version uint64
}

func (s *screen) Version() uint64 { return s.version }

func (s *screen) Tail(n int) [][]emulator.Cell {
	var out [][]emulator.Cell
	for _, r := range s.rows[max(len(s.rows)-n, 0):] {
		var cells []emulator.Cell
		for _, c := range r {
			cells = append(cells, emulator.Cell{Rune: c, Width: 1})
		}
		out = append(out, cells)
	}
	return out
}

func newStage(t testing.TB, w, h int) *stage {
	s := &stage{t: t, w: w, h: h, now: epoch, screens: map[string]*screen{}}
	s.cv.Resize(w, h)
	note := func(format string, args ...any) { s.did = append(s.did, fmt.Sprintf(format, args...)) }
	s.c = New("ahp-chat:/1", Actions{
		Dispatch: func(a ahp.Action) bool {
			b, _ := json.Marshal(a)
			note("%s %s", a.ActionType(), b)
			return !s.refuse
		},
		Configure: func(id string, v any) { note("set %s=%v", id, v) },
		Complete:  func(text string, at int) { note("complete %q at %d", text, at) },
		Copy:      func(text, what string) { s.copied = text; note("copy %s", what) },
		Open:      func(uri string) { note("open %s", uri) },
		Link:      func(uri string) { note("link %s", uri) },
		Edit:      func(text string, done func(string)) { s.edited = done; note("edit %q", text) },
		Choose: func(title string, rows []string, at int, accept func(int)) {
			s.rows, s.chosen = rows, accept
			note("choose %s: %s (%d)", title, strings.Join(rows, " | "), at)
		},
		Say:    func(warn bool, text string) { note("say %s", text) },
		Fork:   func(turn string) { note("fork %s", turn) },
		More:   func() { note("more") },
		Login:  func(way ahp.AgentAuth) { note("login %s", way.Name) },
		Search: func(back bool) { note("search %v", back) },
		Keys:   func(name string) string { return strings.TrimPrefix(name, "chat-") },
		Screen: func(uri ahp.URI) transcript.Screen {
			if x := s.screens[uri]; x != nil {
				return x
			}
			return nil
		},
		NewID: func(kind string) string { s.ids++; return fmt.Sprint(kind, s.ids) },
	})
	return s
}

func (s *stage) draw() paint.Cursor {
	return s.c.Draw(&s.cv, paint.Rect{W: s.w, H: s.h}, &testLook, true, s.now)
}

// text is what the canvas shows.
func (s *stage) text() string {
	s.draw()
	p := paint.NewPainter(paint.Options{})
	out := p.Frame(nil, &s.cv, paint.Cursor{})
	return screenOf(s.t, s.w, s.h, out)
}

func (s *stage) apply(list ...ahp.Action) {
	for _, a := range list {
		s.c.Apply(a, s.now)
	}
}

func (s *stage) begin(text string) {
	s.apply(ahp.ChatTurnStarted{TurnID: "t1", StartedAt: ahp.InstantOf(s.now.UnixMilli()), Message: message(text)})
}

func message(text string) ahp.Message {
	return ahp.Message{Text: text, Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}
}

func (s *stage) say(id, text string) {
	s.apply(ahp.ChatResponsePart{TurnID: "t1", Part: ahp.ResponsePart{Kind: ahp.PartMarkdown, ID: id}}, ahp.ChatDelta{TurnID: "t1", PartID: id, Content: text})
}

func (s *stage) think(id, text string) {
	s.apply(ahp.ChatResponsePart{TurnID: "t1", Part: ahp.ResponsePart{Kind: ahp.PartReasoning, ID: id}}, ahp.ChatReasoning{TurnID: "t1", PartID: id, Content: text})
}

func (s *stage) call(id, title, input, confirmed string, options ...ahp.ToolOption) {
	s.apply(ahp.ChatToolCallStart{TurnID: "t1", ToolCallID: id, ToolName: "run", DisplayName: title},
		ahp.ChatToolCallReady{TurnID: "t1", ToolCallID: id, InvocationMessage: ahp.Plain(title), ToolInput: ahp.TextInput(input), Confirmed: confirmed, Options: options})
}

func (s *stage) give(id string, content ...ahp.ToolContent) {
	s.apply(ahp.ChatToolCallContentChanged{TurnID: "t1", ToolCallID: id, Content: content})
}

func (s *stage) done(id string, ok bool, content ...ahp.ToolContent) {
	s.apply(ahp.ChatToolCallComplete{TurnID: "t1", ToolCallID: id, Result: ahp.ToolResult{Success: ok, Content: content}})
}

func (s *stage) pass(d time.Duration) {
	s.now = s.now.Add(d)
	s.c.Tick()
	s.draw()
}

func (s *stage) do(names ...string) {
	for _, n := range names {
		if !s.c.Do(n, s.now) {
			s.t.Fatalf("there is no command %s", n)
		}
		s.draw()
	}
}

func (s *stage) typed(text string) {
	for _, r := range text {
		s.c.Type(tea.Key{Code: r, Text: string(r)}, s.now)
	}
	s.draw()
}

// took gives what was done since the last call.
func (s *stage) took() string {
	did := strings.Join(s.did, "\n")
	s.did = nil
	return did
}

var ms = int64(4200)

func option(id, label, group string) ahp.ToolOption {
	kind := ahp.OptionApprove
	if strings.HasPrefix(group, "reject") {
		kind = ahp.OptionDeny
	}
	return ahp.ToolOption{ID: id, Label: label, Kind: kind, Meta: json.RawMessage(`{"tandemux/group":"` + group + `"}`)}
}

var options = []ahp.ToolOption{
	option("once", "Allow once", "allow_once"), option("always", "Always allow make", "allow_always"), option("no", "Reject and say why", "reject_once"),
}

func edit(path, before, after string) ahp.ToolContent {
	side := func(text string) json.RawMessage {
		b, _ := json.Marshal(map[string]any{"uri": "file://" + path, "content": map[string]any{"uri": "data:text/plain;base64," + base64.StdEncoding.EncodeToString([]byte(text))}})
		return b
	}
	return ahp.ToolContent{Type: ahp.ContentFileEdit, Before: side(before), After: side(after)}
}

const answer = "It fails because **two tests** use one port:\n\n```go\nln, err := net.Listen(\"tcp\", \":0\") // any\n```\n\n1. change it\n2. run again\n"

func session() Session {
	return Session{
		Roots: []string{"/src"}, Title: "mend it", Agent: "Claude Code", Lifecycle: ahp.LifecycleReady, Fork: true,
		Options: []ahp.AgentOption{
			{ID: "mode", Name: "Mode", Category: "mode", Choices: []ahp.AgentChoice{{ID: "ask", Name: "Ask"}, {ID: "code", Name: "Code"}}},
			{ID: "model", Name: "Model", Category: "model", Choices: []ahp.AgentChoice{{ID: "l", Name: "Large"}, {ID: "s", Name: "Small", Description: "fast"}}},
		},
		Values:   map[string]any{"mode": "code", "model": "l"},
		Commands: []ahp.AgentCommand{{Name: "review", Description: "Review what changed", Hint: "WHAT"}, {Name: "init", Description: "Write AGENTS.md"}},
	}
}

var plan = []ahp.AgentPlanEntry{{Text: "Find the test", Status: "completed"}, {Text: "Mend the port", Status: "in_progress"}, {Text: "Run it again", Status: "pending"}}

// scenes are the states that goldens show.
var scenes = []struct {
	name string
	set  func(s *stage)
}{
	{"empty", func(*stage) {}},
	{"streaming", func(s *stage) {
		s.begin("why does it fail?\n@serve_test.go")
		s.think("r", "**Reading the test**\nThe port is fixed.")
		s.say("a", answer+"\nAnd then the")
		s.pass(12 * time.Second)
	}},
	{"answered", func(s *stage) {
		s.begin("why does it fail?")
		s.think("r", "Reading.")
		s.pass(3 * time.Second)
		s.say("a", answer)
		in, out := int64(12345), int64(678)
		s.apply(ahp.ChatUsage{TurnID: "t1", Usage: ahp.Usage{InputTokens: &in, OutputTokens: &out, Meta: json.RawMessage(`{"tandemux/contextUsed":23456,"tandemux/contextSize":200000}`)}},
			ahp.ChatTurnComplete{TurnID: "t1", Duration: &ms})
	}},
	{"approval", func(s *stage) {
		s.begin("run the tests")
		s.call("c", "Run `make test`", `{"command":"make test","description":"Runs them"}`, "", options...)
		s.pass(time.Second)
	}},
	{"approval-typing", func(s *stage) {
		s.begin("run the tests")
		s.typed("wait, ")
		s.call("c", "Run `make test`", `{"command":"make test"}`, "", options...)
		s.pass(time.Second)
	}},
	{"approval-diff", func(s *stage) {
		s.begin("mend it")
		s.call("c", "Edit serve.go", "", "", options...)
		yes := true
		s.apply(ahp.ChatToolCallReady{
			TurnID: "t1", ToolCallID: "c", InvocationMessage: ahp.Plain("Edit serve.go"), Options: options, Editable: &yes,
			Edits: json.RawMessage(`{"items":[` + string(must(json.Marshal(edit("/src/serve.go", "a\nb\nc\n", "a\nB\nc\n")))) + `]}`),
		})
		s.pass(time.Second)
	}},
	{"diff", func(s *stage) {
		s.begin("mend it")
		s.call("c", "Edit serve.go", "", ahp.ConfirmedNotNeeded)
		s.done("c", true, edit("/src/serve.go", "package x\n\nfunc a() {\n\treturn 1\n}\n", "package x\n\nfunc a() int {\n\treturn 2\n}\n"))
		s.call("d", "Write new.go", "", ahp.ConfirmedNotNeeded)
		s.done("d", true, ahp.ToolContent{Type: ahp.ContentFileEdit, After: edit("/src/new.go", "", strings.Repeat("line\n", 20)).After})
	}},
	{"terminal", func(s *stage) {
		s.screens["ahp-terminal:/x"] = &screen{rows: numbered(20), version: 1}
		s.begin("run the tests")
		s.call("c", "Run `make test`", `{"command":"make test"}`, ahp.ConfirmedNotNeeded)
		s.give("c", ahp.ToolContent{Type: ahp.ContentTerminal, Resource: "ahp-terminal:/x", Title: "make"})
		s.pass(5 * time.Second)
	}},
	{"tools", func(s *stage) {
		s.screens["ahp-terminal:/x"] = &screen{rows: numbered(20), version: 1}
		s.begin("look around")
		for i, title := range []string{"Read a.go", "Read b.go", "Search for port"} {
			id := fmt.Sprint("r", i)
			s.call(id, title, "", ahp.ConfirmedNotNeeded)
			s.done(id, i != 2)
		}
		s.call("c", "Run `make test`", "", ahp.ConfirmedNotNeeded)
		two := 2
		s.done("c", false, ahp.ToolContent{Type: ahp.ContentTerminal, Resource: "ahp-terminal:/x", Result: &ahp.TerminalResult{ExitCode: &two}})
		s.call("n", "Run `rm -rf x`", "", "", options...)
		s.apply(ahp.ChatToolCallConfirmed{TurnID: "t1", ToolCallID: "n", Reason: ahp.ReasonDenied})
		s.call("m", "Ask the web", "", ahp.ConfirmedNotNeeded)
		s.done("m", true, ahp.ToolContent{Type: ahp.ContentText, Text: "one\n\ntwo\n\nthree\n\nfour\n"})
	}},
	{"details", func(s *stage) {
		s.begin("look around")
		s.think("r", "The port is fixed.\n\nSo it fails.")
		s.call("m", "Ask the web", `{"query":"ports","depth":2}`, ahp.ConfirmedNotNeeded)
		s.done("m", true, ahp.ToolContent{Type: ahp.ContentText, Text: "one\n\ntwo\n\nthree\n\nfour\n"})
		s.draw()
		s.do("fold-output")
	}},
	{"failed", func(s *stage) {
		s.begin("why?")
		s.say("a", "Let me")
		s.apply(ahp.ChatError{TurnID: "t1", Duration: &ms, Part: ahp.ResponsePart{Kind: ahp.PartError, Error: &ahp.ErrorInfo{ErrorType: "crashed", Message: "the agent has ended: signal: killed"}}})
	}},
	{"cancelled", func(s *stage) {
		s.begin("why?")
		s.say("a", "Let me")
		s.call("c", "Run `make`", "", ahp.ConfirmedNotNeeded)
		s.apply(ahp.ChatTurnCancelled{TurnID: "t1", Duration: &ms})
	}},
	{"login", func(s *stage) {
		s.begin("why?")
		s.apply(ahp.ChatError{TurnID: "t1", Duration: &ms, Part: ahp.ResponsePart{Kind: ahp.PartError, Error: &ahp.ErrorInfo{ErrorType: "auth", Message: "Log in first.", Meta: json.RawMessage(`{"tandemux/auth":[{"id":"a","name":"By browser","kind":"agent"},{"id":"t","name":"In a terminal","kind":"terminal","command":["x"]}]}`)}}})
	}},
	{"not-started", func(s *stage) {
		i := session()
		i.Lifecycle, i.Error = ahp.LifecycleFailed, &ahp.ErrorInfo{ErrorType: "start", Message: "there is no program \"nothing\""}
		s.c.SetSession(i)
	}},
	{"gone", func(s *stage) { s.c.Fail(fmt.Errorf("the session has ended")) }},
	{"queue", func(s *stage) {
		s.begin("first")
		s.apply(ahp.ChatPendingMessageSet{Kind: ahp.PendingSteering, ID: "s", Message: message("rather use ports above 1024")})
		for i := range 5 {
			s.apply(ahp.ChatPendingMessageSet{Kind: ahp.PendingQueued, ID: fmt.Sprint(i), Message: message(fmt.Sprint("then do ", i))})
		}
	}},
	{"plan", func(s *stage) {
		i := session()
		i.Plan = plan
		s.c.SetSession(i)
		s.begin("go")
		s.do("chat-plan")
	}},
	{"form", func(s *stage) {
		s.begin("set it up")
		s.apply(ahp.ChatInputRequested{Request: request()})
		s.pass(time.Second)
	}},
	{"form-answered", func(s *stage) {
		s.begin("set it up")
		s.apply(ahp.ChatInputRequested{Request: request()})
		s.apply(ahp.ChatInputCompleted{RequestID: "q", Response: ahp.InputAccept, Answers: map[string]json.RawMessage{
			"name": json.RawMessage(`{"state":"submitted","value":{"kind":"text","value":"tandemux"}}`),
			"kind": json.RawMessage(`{"state":"submitted","value":{"kind":"selected","value":"b"}}`),
		}})
	}},
	{"popup", func(s *stage) {
		s.typed("/")
		zero, one := 0, 1
		s.c.Offer([]ahp.CompletionItem{{InsertText: "/review ", RangeStart: &zero, RangeEnd: &one}, {InsertText: "/init ", RangeStart: &zero, RangeEnd: &one}}, "/", 1)
	}},
	{"reading", func(s *stage) {
		s.begin("why does it fail?")
		s.say("a", answer)
		s.apply(ahp.ChatTurnComplete{TurnID: "t1", Duration: &ms})
		s.draw()
		s.do("copy-mode", "chat-next")
	}},
	{"scrolled", func(s *stage) {
		s.begin("count")
		s.say("a", strings.Join(numbered(100), "\n\n"))
		s.draw()
		s.do("scroll-page-up", "scroll-page-up")
	}},
	{"found", func(s *stage) {
		s.begin("count")
		s.say("a", strings.Join(numbered(100), "\n\n"))
		s.draw()
		s.c.Find("line 4", true)
		s.do("copy-mode")
	}},
	{"prompt", func(s *stage) {
		s.typed("a first line that is long enough to wrap at forty cells\n")
		s.do("chat-newline")
		s.typed("second")
	}},
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func numbered(n int) []string {
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprint("line ", i))
	}
	return rows
}

func request() ahp.InputRequest {
	var q ahp.InputRequest
	if err := json.Unmarshal([]byte(`{"id":"q","message":"How shall it be set up?","questions":[
		{"id":"name","kind":"text","title":"Name","message":"of the project","required":true},
		{"id":"port","kind":"integer","title":"Port","message":""},
		{"id":"tls","kind":"boolean","title":"TLS","message":"encrypt it"},
		{"id":"kind","kind":"single-select","title":"Kind","message":"","options":[{"id":"a","label":"Library"},{"id":"b","label":"Program","description":"with main"}]},
		{"id":"with","kind":"multi-select","title":"With","message":"","options":[{"id":"x","label":"tests"},{"id":"y","label":"docs"}]}]}`), &q); err != nil {
		panic(err)
	}
	return q
}

// TestScenes compares what each state shows with goldens at each size.
func TestScenes(t *testing.T) {
	for _, size := range [][2]int{{80, 23}, {40, 11}, {200, 49}} {
		var all strings.Builder
		for _, sc := range scenes {
			s := newStage(t, size[0], size[1])
			s.c.SetSession(session())
			s.c.Reset(ahp.ChatState{ChatSummary: ahp.ChatSummary{Resource: "ahp-chat:/1", Status: ahp.ActivityIdle}})
			sc.set(s)
			fmt.Fprintf(&all, "== %s\n%s\n", sc.name, s.text())
		}
		checkGolden(t, fmt.Sprintf("testdata/scenes-%d.txt", size[0]), all.String())
	}
}
