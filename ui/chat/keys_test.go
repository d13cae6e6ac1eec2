package chat

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/ui/command"
)

// ready is a chat with a finished turn of every kind of part.
func ready(t testing.TB) *stage {
	s := newStage(t, 80, 23)
	s.c.SetSession(session())
	s.c.Reset(ahp.ChatState{ChatSummary: ahp.ChatSummary{Resource: "ahp-chat:/1", Status: ahp.ActivityIdle}})
	s.screens["ahp-terminal:/x"] = &screen{rows: numbered(3), version: 1}
	s.begin("first question")
	s.think("r", "Reading it.")
	s.say("a", answer)
	s.call("c", "Run `make`", `{"command":"make"}`, ahp.ConfirmedNotNeeded)
	s.done("c", true, ahp.ToolContent{Type: ahp.ContentTerminal, Resource: "ahp-terminal:/x"})
	s.apply(ahp.ChatTurnComplete{TurnID: "t1", Duration: &ms})
	s.draw()
	return s
}

// waiting is one with a turn that waits for approval, its keys armed.
func waiting(t testing.TB) *stage {
	s := ready(t)
	s.begin2("go on")
	s.apply(ahp.ChatToolCallStart{TurnID: "t2", ToolCallID: "w", DisplayName: "Run"},
		ahp.ChatToolCallReady{TurnID: "t2", ToolCallID: "w", InvocationMessage: ahp.Plain("Run it"), ToolInput: ahp.TextInput("x"), Options: options, Editable: yes()})
	s.draw()
	s.pass(time.Second)
	return s
}

func yes() *bool { b := true; return &b }

func (s *stage) begin2(text string) {
	s.apply(ahp.ChatTurnStarted{TurnID: "t2", StartedAt: ahp.InstantOf(s.now.UnixMilli()), Message: message(text)})
	s.draw()
}

// TestCommands runs each command where it has something to do, and where not.
func TestCommands(t *testing.T) {
	did := func(want string) func(*testing.T, *stage) {
		return func(t *testing.T, s *stage) {
			t.Helper()
			if got := s.took(); !strings.Contains(got, want) {
				t.Errorf("did %q; want %q", got, want)
			}
		}
	}
	shows := func(want string) func(*testing.T, *stage) {
		return func(t *testing.T, s *stage) {
			t.Helper()
			if got := s.text(); !strings.Contains(got, want) {
				t.Errorf("shows no %q:\n%s", want, got)
			}
		}
	}
	writes := func(want string) func(*testing.T, *stage) {
		return func(t *testing.T, s *stage) {
			t.Helper()
			if got := s.c.edit.String(); got != want {
				t.Errorf("the prompt has %q; want %q", got, want)
			}
		}
	}
	run := func(names ...string) func(*stage) { return func(s *stage) { s.do(names...) } }
	cases := []struct {
		name  string
		from  func(testing.TB) *stage
		set   func(*stage)
		check func(*testing.T, *stage)
	}{
		{"chat-send", ready, func(s *stage) { s.typed("hello"); s.do("chat-send") }, did(`chat/turnStarted {"turnId":"turn1","message":{"text":"hello","origin":{"kind":"user"}}}`)},
		{"chat-send", waiting, func(s *stage) { s.typed("hello"); s.do("chat-send") }, did(`chat/pendingMessageSet {"kind":"queued"`)},
		{"chat-send", waiting, run("chat-send"), did(`"selectedOptionId":"once"`)},
		{"chat-send", waiting, run("chat-down", "chat-send"), did(`"selectedOptionId":"always"`)},
		{"chat-send", waiting, run("chat-up", "chat-send"), did(`"approved":false,"reason":"denied","selectedOptionId":"no"`)},
		{"chat-send", ready, run("chat-send"), func(t *testing.T, s *stage) {
			if got := s.took(); got != "" {
				t.Errorf("an empty prompt did %q", got)
			}
		}},
		{"chat-newline", ready, func(s *stage) { s.typed("a"); s.do("chat-newline"); s.typed("b") }, writes("a\nb")},
		{"chat-steer", waiting, func(s *stage) { s.typed("hello"); s.do("chat-steer") }, did(`chat/pendingMessageSet {"kind":"steering"`)},
		{"chat-escape", waiting, run("chat-escape"), did("say escape again cancels the turn")},
		{"chat-escape", waiting, run("chat-escape", "chat-escape"), did(`chat/turnCancelled {"turnId":"t2"}`)},
		{"chat-escape", waiting, func(s *stage) { s.do("chat-escape"); s.pass(3 * time.Second); s.do("chat-escape") }, func(t *testing.T, s *stage) {
			if got := s.took(); strings.Contains(got, "turnCancelled") {
				t.Errorf("esc twice, slowly, did %q", got)
			}
		}},
		{"chat-cancel", waiting, run("chat-cancel"), did(`chat/turnCancelled`)},
		{"chat-cancel", waiting, func(s *stage) { s.typed("hello"); s.do("chat-cancel") }, writes("")},
		{"chat-cancel", ready, run("chat-cancel"), did("no turn runs")},
		{"chat-tab", ready, run("chat-tab"), func(t *testing.T, s *stage) {
			if !s.c.Reading() {
				t.Error("the transcript has not got the keys")
			}
		}},
		{"chat-mode", ready, run("chat-mode"), did("set mode=ask")},
		{"chat-up", ready, run("chat-up"), writes("first question")},
		{"chat-up", ready, func(s *stage) { s.typed("x\ny"); s.do("chat-up", "chat-up") }, writes("first question")},
		{"chat-down", ready, run("chat-up", "chat-down"), writes("")},
		{"chat-down", ready, func(s *stage) { s.typed("xy"); s.do("chat-up", "chat-down") }, writes("xy")},
		{"chat-unqueue", waiting, func(s *stage) {
			s.apply(ahp.ChatPendingMessageSet{Kind: ahp.PendingQueued, ID: "q", Message: message("later")})
			s.do("chat-unqueue")
		}, writes("later")},
		{"chat-unqueue", ready, run("chat-unqueue"), did("no message is queued")},
		{"chat-edit", ready, func(s *stage) { s.typed("x"); s.do("chat-edit"); s.edited("longer\ntext") }, writes("longer\ntext")},
		{"chat-plan", ready, func(s *stage) {
			i := session()
			i.Plan = plan
			s.c.SetSession(i)
			s.do("chat-plan")
		}, shows("☑ Find the test")},
		{"chat-options", ready, run("chat-options"), did("choose Options: Mode: Code | Model: Large | Ask before tools run: whenever the agent asks")},
		{"chat-options", ready, func(s *stage) { s.do("chat-options"); s.chosen(2); s.chosen(1) }, did("set tandemux/confirm=reads")},
		{"chat-model", ready, func(s *stage) { s.do("chat-model"); s.chosen(1) }, did("set model=s")},
		{"copy-mode", ready, run("copy-mode"), shows("┃")},
		{"chat-prompt", ready, run("copy-mode", "chat-prompt"), func(t *testing.T, s *stage) {
			if s.c.Reading() {
				t.Error("the transcript has the keys still")
			}
		}},
		{"chat-previous", ready, run("copy-mode", "chat-previous", "chat-previous"), shows("┃╭─ go")},
		{"chat-next", ready, run("copy-mode", "chat-previous", "chat-next"), shows("┃✓ Run make")},
		{"chat-fold", ready, run("copy-mode", "chat-previous", "chat-previous", "chat-previous", "chat-fold"), shows("┃│ Reading it.")},
		{"copy-selection", ready, run("copy-mode", "chat-previous", "copy-selection"), did("copy the code")},
		{"copy-selection", ready, run("copy-selection"), did("copy the answer")},
		{"copy-output", ready, run("copy-output"), did("copy the answer")},
		{"fold-output", ready, run("fold-output"), shows("│ Reading it.")},
		{"chat-code", ready, run("chat-code"), func(t *testing.T, s *stage) {
			if want := "ln, err := net.Listen(\"tcp\", \":0\") // any\n"; s.copied != want {
				t.Errorf("copied %q; want %q", s.copied, want)
			}
		}},
		{"chat-terminal", ready, run("chat-terminal"), did("open ahp-terminal:/x")},
		{"chat-fork", ready, run("chat-fork"), did("fork t1")},
		{"chat-rewind", ready, run("chat-rewind"), writes("first question")},
		{"chat-rewind", ready, run("chat-rewind"), did("chat/truncated {}")},
		{"chat-retry", ready, func(s *stage) {
			s.begin2("again")
			s.apply(ahp.ChatError{TurnID: "t2", Part: ahp.ResponsePart{Kind: ahp.PartError, Error: &ahp.ErrorInfo{Message: "no"}}})
			s.do("chat-retry")
		}, did(`"text":"again"`)},
		{"chat-retry", ready, func(s *stage) {
			s.begin2("again")
			s.apply(ahp.ChatError{TurnID: "t2", Part: ahp.ResponsePart{Kind: ahp.PartError, Resumable: true, Error: &ahp.ErrorInfo{Message: "no"}}})
			s.do("chat-retry")
		}, did(`chat/turnResume {"turnId":"t2"}`)},
		{"chat-retry", ready, run("chat-retry"), did("the last turn did not fail")},
		{"chat-login", ready, func(s *stage) {
			s.begin2("x")
			s.apply(ahp.ChatError{TurnID: "t2", Part: ahp.ResponsePart{Kind: ahp.PartError, Error: &ahp.ErrorInfo{Message: "no", Meta: json.RawMessage(`{"tandemux/auth":[{"id":"a","name":"By browser","kind":"agent"}]}`)}}})
			s.do("chat-login")
		}, did("login By browser")},
		{"search", ready, run("search"), did("search false")},
		{"search-back", ready, run("search-back"), did("search true")},
		{"copy-mode", ready, run("copy-mode"), shows("┃")},
		{"search-next", ready, func(s *stage) { s.c.Find("it", false); s.do("search-next") }, func(t *testing.T, s *stage) {
			if got := s.c.Found(); got != "2 of 3" {
				t.Errorf("at match %s", got)
			}
		}},
		{"search-previous", ready, func(s *stage) { s.c.Find("it", false); s.do("search-previous") }, func(t *testing.T, s *stage) {
			if got := s.c.Found(); got != "3 of 3" {
				t.Errorf("at match %s", got)
			}
		}},
	}
	long := func(s *stage) {
		s.begin2("count")
		s.apply(ahp.ChatResponsePart{TurnID: "t2", Part: ahp.ResponsePart{Kind: ahp.PartMarkdown, ID: "l", Content: strings.Join(numbered(60), "\n\n")}})
		s.draw()
	}
	top := func(want int) func(*testing.T, *stage) {
		return func(t *testing.T, s *stage) {
			t.Helper()
			if back, of := s.c.Back(); of-back != want {
				t.Errorf("row %d of %d is at the top; want %d", of-back, of, want)
			}
		}
	}
	probe := ready(t)
	long(probe)
	_, last := probe.c.Back()
	h := probe.c.Height()
	for name, want := range map[string]int{
		"scroll-up": last - 1, "scroll-half-up": last - h/2, "scroll-page-up": last - h + 2, "scroll-top": 0,
	} {
		cases = append(cases, struct {
			name  string
			from  func(testing.TB) *stage
			set   func(*stage)
			check func(*testing.T, *stage)
		}{name, ready, func(s *stage) { long(s); s.do(name) }, top(want)})
	}
	for name, want := range map[string]int{
		"scroll-down": 1, "scroll-half-down": h / 2, "scroll-page-down": h - 2, "scroll-bottom": last,
	} {
		cases = append(cases, struct {
			name  string
			from  func(testing.TB) *stage
			set   func(*stage)
			check func(*testing.T, *stage)
		}{name, ready, func(s *stage) { long(s); s.do("scroll-top", name) }, top(want)})
	}
	tried := map[string]bool{}
	for i, c := range cases {
		tried[c.name] = true
		t.Run(fmt.Sprint(c.name, "/", i), func(t *testing.T) {
			s := c.from(t)
			s.took()
			c.set(s)
			c.check(t, s)
		})
	}
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		if !tried[name] {
			t.Errorf("%s is not tried", name)
		}
		if k, ok := command.Find(name); !ok || (k.Group == "Chats") != strings.HasPrefix(name, "chat-") {
			t.Errorf("%s is not in the table of commands", name)
		}
	}
	for _, k := range command.All() {
		if k.Group == "Chats" && commands[k.Name] == nil {
			t.Errorf("%s is in the table, but does nothing", k.Name)
		}
	}
}

// TestApprovalKeys: an option's key answers once the question is seen, with the
// option itself; before, and for other text, keys are the prompt's.
func TestApprovalKeys(t *testing.T) {
	for key, want := range map[string]string{
		"y": `"approved":true,"confirmed":"user-action","selectedOptionId":"once"`,
		"a": `"selectedOptionId":"always"`,
		"n": `"approved":false,"reason":"denied","selectedOptionId":"no"`,
		"2": `"selectedOptionId":"always"`,
		"e": `edit "x"`,
	} {
		s := waiting(t)
		s.took()
		s.typed(key)
		if got := s.took(); !strings.Contains(got, want) {
			t.Errorf("%s did %q; want %q", key, got, want)
		}
	}
	s := waiting(t)
	s.typed("e")
	s.edited("edited input")
	s.draw()
	s.took()
	s.typed("y")
	if got := s.took(); !strings.Contains(got, `"editedToolInput":"edited input"`) {
		t.Errorf("the edited input was not sent: %s", got)
	}
	s = waiting(t)
	s.apply(ahp.ChatToolCallReady{
		TurnID: "t2", ToolCallID: "w", InvocationMessage: ahp.Plain("Run it"), Options: options, Editable: yes(),
		ToolInput: ahp.TextInput(`{"command":"make","why":"x"}`), Meta: json.RawMessage(`{"tandemux/editable":"command"}`),
	})
	s.draw()
	s.pass(time.Second)
	s.took()
	s.typed("e")
	if got := s.took(); got != `edit "make"` {
		t.Errorf("e did %s", got)
	}
	s.edited("make test")
	s.draw()
	s.typed("y")
	if got := s.took(); !strings.Contains(got, `"editedToolInput":"{\"command\":\"make test\",\"why\":\"x\"}"`) {
		t.Errorf("the edited member was not sent: %s", got)
	}
	s = waiting(t)
	s.typed("what?")
	if s.c.edit.String() != "what?" || strings.Contains(s.took(), "Confirmed") {
		t.Errorf("typing went to %q, and did %q", s.c.edit.String(), s.took())
	}
	s = ready(t)
	s.begin2("go on")
	s.apply(ahp.ChatToolCallStart{TurnID: "t2", ToolCallID: "w"}, ahp.ChatToolCallReady{TurnID: "t2", ToolCallID: "w", InvocationMessage: ahp.Plain("x"), Options: options})
	s.draw()
	s.took()
	s.now = s.now.Add(100 * time.Millisecond)
	s.typed("y") // under way when the question came
	if got := s.took(); strings.Contains(got, "Confirmed") || s.c.edit.String() != "y" {
		t.Errorf("a key that was under way did %q; the prompt has %q", got, s.c.edit.String())
	}
}

// TestSecondAnswer: who is late is told what was chosen; a refusal opens the
// question again while it waits.
func TestSecondAnswer(t *testing.T) {
	s := waiting(t)
	s.took()
	s.apply(ahp.ChatToolCallConfirmed{TurnID: "t2", ToolCallID: "w", Approved: true, Confirmed: ahp.ConfirmedUserAction, SelectedOptionID: "always"})
	if got := s.took(); got != `say answered with "Always allow make" by another client` {
		t.Errorf("did %q", got)
	}
	if strings.Contains(s.text(), "Allow once") {
		t.Errorf("the question still shows:\n%s", s.text())
	}
	s = waiting(t)
	s.typed("y")
	if strings.Contains(s.text(), "Allow once") {
		t.Errorf("what was answered still shows:\n%s", s.text())
	}
	s.c.Sent("")
	if !strings.Contains(s.text(), "Allow once") {
		t.Errorf("the question does not show again:\n%s", s.text())
	}
}

// TestAsksAgain: an agent that uses a call's name again in another turn is answered
// there, too.
func TestAsksAgain(t *testing.T) {
	s := waiting(t)
	s.typed("y")
	s.apply(ahp.ChatToolCallConfirmed{TurnID: "t2", ToolCallID: "w", Approved: true, Confirmed: ahp.ConfirmedUserAction, SelectedOptionID: "once"},
		ahp.ChatTurnComplete{TurnID: "t2"})
	s.apply(ahp.ChatTurnStarted{TurnID: "t3", Message: ahp.Message{Text: "again"}},
		ahp.ChatToolCallStart{TurnID: "t3", ToolCallID: "w"},
		ahp.ChatToolCallReady{TurnID: "t3", ToolCallID: "w", InvocationMessage: ahp.Plain("Run it"), Options: options})
	s.draw()
	s.pass(time.Second)
	if !strings.Contains(s.text(), "Allow once") {
		t.Fatalf("the second question does not show:\n%s", s.text())
	}
	s.took()
	s.typed("n")
	if got := s.took(); !strings.Contains(got, `"turnId":"t3"`) || !strings.Contains(got, `"selectedOptionId":"no"`) {
		t.Errorf("n did %q", got)
	}
}

// TestForm fills a form in by keys.
func TestForm(t *testing.T) {
	s := ready(t)
	s.begin2("set up")
	s.apply(ahp.ChatInputRequested{Request: request()})
	s.draw()
	s.pass(time.Second)
	s.took()
	s.do("chat-up", "chat-tab", "chat-tab", "chat-tab", "chat-tab", "chat-tab", "chat-send")
	if got := s.text(); !strings.Contains(got, "Name needs an answer") || s.took() != "" {
		t.Errorf("an unanswered question was let pass:\n%s", got)
	}
	s.typed("tandemux")
	s.do("chat-send")
	s.typed("80x")
	s.do("chat-send")
	s.c.Type(tea.Key{Code: tea.KeySpace, Text: " "}, s.now)
	s.do("chat-send", "chat-down", "chat-send")
	s.typed("12")
	s.do("chat-send", "chat-send")
	if got := s.text(); !strings.Contains(got, "Port: a number is wanted") {
		t.Errorf("80x is no number:\n%s", got)
	}
	s.c.Type(tea.Key{Code: tea.KeyBackspace}, s.now)
	s.do("chat-tab", "chat-tab", "chat-tab", "chat-tab", "chat-send")
	got := s.took()
	for _, want := range []string{`"response":"accept"`, `"name":{"state":"submitted","value":{"kind":"text","value":"tandemux"}}`, `"value":80`, `"kind":"boolean","value":true`, `"value":"b"`, `"value":["x","y"]`} {
		if !strings.Contains(got, want) {
			t.Errorf("sent %s; want %s in it", got, want)
		}
	}
	s = ready(t)
	s.begin2("set up")
	s.apply(ahp.ChatInputRequested{Request: request()})
	s.draw()
	s.pass(time.Second)
	s.took()
	for range 6 {
		s.do("chat-tab")
	}
	s.do("chat-send")
	if got := s.took(); !strings.Contains(got, `"response":"decline"`) {
		t.Errorf("declining did %q", got)
	}
}

// TestCompletion: a word that can be completed is asked about; the answer is put
// in with what it names.
func TestCompletion(t *testing.T) {
	s := ready(t)
	s.took()
	s.typed("see @ma")
	if got := s.took(); !strings.Contains(got, `complete "see @" at 5`) {
		t.Errorf("asked %q", got)
	}
	s.c.Offer(nil, "see @", 5) // out of date by now
	if got := s.took(); !strings.Contains(got, `complete "see @ma" at 7`) {
		t.Errorf("asked %q", got)
	}
	from, to := 4, 7
	s.c.Offer([]ahp.CompletionItem{{InsertText: "@main.go ", RangeStart: &from, RangeEnd: &to, Attachment: &ahp.Attachment{Type: ahp.AttachResource, Label: "main.go", URI: "file:///main.go"}}}, "see @ma", 7)
	s.do("chat-tab")
	s.typed("now")
	s.do("chat-send")
	if got := s.took(); !strings.Contains(got, `"text":"see @main.go now"`) || !strings.Contains(got, `"uri":"file:///main.go"`) {
		t.Errorf("sent %s", got)
	}
}

// TestDraft: what is written is told, and another client's draft shows unless
// something is written here.
func TestDraft(t *testing.T) {
	s := ready(t)
	s.typed("half a thought")
	a, changed := s.c.Draft()
	if !changed || a.Draft == nil || a.Draft.Text != "half a thought" {
		t.Fatalf("the draft is %+v, %v", a, changed)
	}
	s.apply(a)
	if _, again := s.c.Draft(); again {
		t.Error("it is told again")
	}
	m := message("another client's")
	s.apply(ahp.ChatDraftChanged{Draft: &m})
	if got := s.c.edit.String(); got != "another client's" {
		t.Errorf("the prompt has %q", got)
	}
	s.typed("!")
	m = message("late")
	s.apply(ahp.ChatDraftChanged{Draft: &m})
	if got := s.c.edit.String(); got != "another client's!" {
		t.Errorf("what was being written became %q", got)
	}
}
