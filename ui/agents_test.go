package ui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tandemux/ahp"
)

var approval = []ahp.ToolOption{{ID: "once", Label: "Allow once", Kind: ahp.OptionApprove}, {ID: "no", Label: "Reject it", Kind: ahp.OptionDeny}}

// staff is a host with sessions in every state.
func staff(t *testing.T, w, h int) *UI {
	t.Helper()
	u := New(t, Options{W: w, H: h, Host: func(h *Host) {
		h.AddSession("idle", "read the docs")
		h.AddSession("work", "mend the tests")
		h.AddSession("wait", "clean up the repository and everything that is in it")
		h.AddSession("fail", "deploy")
		h.AddSession("old", "an old one").DoSession(ahp.SessionIsArchivedChanged{IsArchived: true})
	}})
	h2 := u.Host
	idle := h2.Session("read the docs")
	idle.Begin("what is in them?")
	idle.Say("a", "Much.")
	idle.End(ahp.TurnComplete)
	idle.RowMeta(`{"tandemux/usage":{"tokens":123456,"workedMs":4200}}`)
	work := h2.Session("mend the tests")
	work.Begin("mend them")
	work.Do(ahp.ChatActivityChanged{Activity: "Run make test"})
	work.RowMeta(`{"tandemux/usage":{"tokens":900,"since":1767323045000}}`)
	wait := h2.Session("clean up the repository and everything that is in it")
	wait.Begin("clean up")
	wait.Call("c", "Run `rm -rf build`", `{"command":"rm -rf build"}`, "", approval...)
	fail := h2.Session("deploy")
	fail.Begin("deploy it")
	fail.End("the agent has ended by itself")
	u.WaitIdle()
	u.Advance(75 * time.Second)
	return u
}

// TestAgentsList shows the list of sessions in every state, filtered, and empty.
func TestAgentsList(t *testing.T) {
	for _, s := range sizes {
		u := staff(t, s[0], s[1])
		u.Press("ctrl+space a")
		u.Golden(golden("agents-list", s[0]))
		u.Type("deploy")
		u.Golden(golden("agents-filtered", s[0]))
		u.Press("ctrl+u", "alt+v")
		u.Shows("an old one")
		u.Press("esc")
		if s[0] == 80 {
			u = New(t, Options{})
			u.Press("ctrl+space a")
			u.Shows("no session yet: enter begins one")
		}
	}
}

func sent(u *UI, want string) bool {
	return slices.ContainsFunc(u.Host.Sent, func(s string) bool { return strings.Contains(s, want) })
}

// TestAgentsListActs does what the list's keys do.
func TestAgentsListActs(t *testing.T) {
	u := staff(t, 200, 50)
	u.Press("ctrl+space a", "down", "alt+r", "ctrl+u")
	u.Type("a better title\r")
	if !sent(u, `session/titleChanged ahp-session:/work {"title":"a better title"}`) {
		t.Errorf("renaming sent %v", u.Host.Sent)
	}
	u.Shows("a better title")
	u.Press("tab", "a")
	if !sent(u, `session/isArchivedChanged ahp-session:/work {"isArchived":true}`) {
		t.Errorf("archiving sent %v", u.Host.Sent)
	}
	u.Hides("a better title")
	u.Press("alt+x")
	u.Shows("forget what was said?")
	u.Press("n")
	if sent(u, "dispose") {
		t.Error("a session was ended though the answer was no")
	}
	u.Press("home", "alt+y")
	u.Shows("Allow Run rm -rf build?", "$ rm -rf build", "Allow once", "Reject it", "c chat")
	u.Press("n")
	if !sent(u, `"toolCallId":"c","approved":false,"reason":"denied","selectedOptionId":"no"`) {
		t.Errorf("answering sent %v", u.Host.Sent)
	}
	u.Press("ctrl+space a", "alt+x", "y")
	if !sent(u, "dispose session") {
		t.Errorf("ending sent %v", u.Host.Sent)
	}
}

// TestNewSession begins a session with an agent that was chosen; one that can't be
// used says why.
func TestNewSession(t *testing.T) {
	u := New(t, Options{W: 200, H: 50})
	u.Press("ctrl+space a", "alt+n")
	u.Shows("New session in ~", "Scripted", "Gemini CLI  (not installed)")
	u.Press("down", "enter")
	u.Shows("Gemini CLI: not installed")
	u.Press("ctrl+space a", "enter", "enter")
	if !sent(u, "create session with scripted in file:///home/ann") {
		t.Fatalf("sent %v", u.Host.Sent)
	}
	u.Shows("A new chat with scripted", "─ new session ─")
	u.Host.FailSession = fmt.Errorf("no agents today")
	u.Press("ctrl+space :")
	u.Type("new-session scripted\r")
	u.Shows("begin a session: no agents today")
}

// TestChatPane is a chat beside a terminal: keys, a second pane, zoom, tabs,
// closing and attaching again.
func TestChatPane(t *testing.T) {
	u := New(t, Options{W: 200, H: 50})
	s := u.Host.AddSession("one", "mend the tests")
	s.Begin("why does it fail?")
	s.Say("a", "It is the port.")
	s.End(ahp.TurnComplete)
	u.WaitIdle()
	u.Press("ctrl+space a", "enter")
	u.Shows("mend the tests ─", "It is the port.", "scripted: idle")
	if len(u.Host.Layout("main").Terminals) != 1 {
		t.Errorf("the layout names %v as terminals", u.Host.Layout("main").Terminals)
	}
	u.Type("and now?")
	u.Hides("$ and")
	u.Press("enter")
	if !sent(u, `chat/turnStarted ahp-chat:/one`) {
		t.Fatalf("sent %v", u.Host.Sent)
	}
	u.Paste("a draft\nof two lines")
	u.Advance(2 * time.Second)
	if !sent(u, `chat/draftChanged ahp-chat:/one {"draft":{"text":"a draft\nof two lines"`) {
		t.Errorf("the draft was not told: %v", u.Host.Sent)
	}
	u.Press("ctrl+space F") // the chat floats, then is tiled again, alone, and in a tab of its own
	u.Shows("It is the port.")
	u.Press("ctrl+space F", "ctrl+space z")
	u.Hides("sh1 ─")
	u.Press("ctrl+space !")
	u.Shows("2 mend the tests")
	u.Press("ctrl+space d")
	again := u.Again(Options{W: 80, H: 24})
	again.Shows("mend the tests", "It is the port.", "a draft", "of two lines")
	again.Press("ctrl+space x")
	again.Hides("It is the port.")
	if sent(u, "dispose session") {
		t.Error("closing its pane ended the session")
	}
}

// TestChatCommandsOfTerminals: commands about scrolling, searching and copying do
// in a chat what they do in a terminal.
func TestChatCommandsOfTerminals(t *testing.T) {
	u := New(t, Options{})
	s := u.Host.AddSession("one", "count")
	s.Begin("count")
	var b strings.Builder
	for i := range 80 {
		fmt.Fprintf(&b, "number %d\n\n", i)
	}
	s.Say("a", b.String())
	s.End(ahp.TurnComplete)
	u.WaitIdle()
	u.Press("ctrl+space a", "enter")
	u.Shows("number 79")
	u.Press("ctrl+space pgup")
	u.Shows("below")
	u.Wheel(true, 10, 5)
	u.Hides("number 79")
	u.Press("ctrl+space /")
	u.Type("number 7\r")
	u.Shows("number 7")
	u.Press("esc", "esc")
	u.Shows("number 79")
	n := len(u.Raw)
	u.Press("ctrl+space y")
	if got := clip(u, n); !strings.Contains(got, "number 0") || !strings.Contains(got, "number 79") {
		t.Errorf("copied %q", got)
	}
	n = len(u.Raw)
	y := 0
	for !strings.HasPrefix(u.Row(y), " number") {
		y++
	}
	u.Drag(1, y, 8, y)
	if got := clip(u, n); !strings.HasPrefix(got, "number") {
		t.Errorf("the mouse copied %q", got)
	}
}

// TestApprovalIsSeen: what waits in a chat that doesn't show is in the status line,
// at its tab, forwarded to the outer terminal, and answered from anywhere.
func TestApprovalIsSeen(t *testing.T) {
	u := New(t, Options{W: 120, H: 30})
	s := u.Host.AddSession("one", "mend the tests")
	u.WaitIdle()
	u.Press("ctrl+space a", "enter", "ctrl+space p")
	s.Begin("go")
	n := len(u.Raw)
	s.Call("c", "Run `make`", `{"command":"make"}`, "", approval...)
	u.WaitIdle()
	u.Shows("? Allow Run make? (ctrl+space A)", "2 mend the tests ?")
	if !strings.Contains(string(u.Raw[n:]), "Allow Run make?") {
		t.Error("the outer terminal was not told")
	}
	u.Press("ctrl+space A")
	u.Shows("scripted in mend the tests", "Allow Run make?", "$ make", "Allow once", "Reject it")
	u.Press("enter")
	if sent(u, `"approved"`) {
		t.Fatalf("enter answered: %v", u.Host.Sent)
	}
	u.Press("y")
	if !sent(u, `"approved":true,"confirmed":"user-action","selectedOptionId":"once"`) {
		t.Fatalf("sent %v", u.Host.Sent)
	}
	u.Hides("Allow Run make?")
	s.Call("d", "Run `ls`", "", "", approval...)
	u.WaitIdle()
	u.Press("ctrl+space g")
	u.Shows("Allow Run `ls`?", "y  Allow once")
	u.Advance(time.Second)
	u.Host.Refuse = func(_ ahp.URI, a ahp.Action) string {
		if a.ActionType() == "chat/toolCallConfirmed" {
			return "somebody has denied it already"
		}
		return ""
	}
	u.Press("y")
	u.Shows("refused: somebody has denied it already")
}

// TestBadgeLeadsToTheChat: from an agent's terminal to its chat and back, by key
// and by a click on the badge.
func TestBadgeLeadsToTheChat(t *testing.T) {
	u := New(t, Options{W: 200, H: 50})
	s := u.Host.AddSession("one", "mend the tests")
	s.Begin("go")
	u.Host.Add("make", ahp.Claim{Kind: ahp.ClaimSession, Session: s.URI, Chat: s.Chat, TurnID: "turn1", ToolCallID: "c"}).Print("cc a.c\r\ncc b.c\r\n")
	s.Call("c", "Run `make`", `{"command":"make"}`, ahp.ConfirmedNotNeeded)
	s.Give("c", ahp.ToolContent{Type: ahp.ContentTerminal, Resource: "ahp-terminal:/make", Title: "make"})
	u.WaitIdle()
	u.Press("ctrl+space u")
	u.Shows("no chat has to do with this pane")
	u.Press("ctrl+space w")
	u.Type("make\r")
	u.Press("ctrl+space u")
	u.Shows("● Run make", "│ cc b.c")
	u.Host.Terminal("make").Print("cc c.c\r\n")
	u.WaitIdle()
	u.Shows("│ cc c.c")
	u.Press("ctrl+space u")
	u.Shows("make ")
	if p := u.Outer().Cursor(); p.X < 60 {
		t.Errorf("the cursor is at %d: the terminal has not got the focus", p.X)
	}
	for y := range 49 {
		if at := strings.Index(u.Row(y), " one: c "); at >= 0 {
			u.Click(utf8.RuneCountInString(u.Row(y)[:at])+2, y)
			u.Type("typed into the chat")
			u.Shows("› typed into the chat")
			return
		}
	}
	t.Errorf("there is no badge:\n%s", u.Screen())
}

// TestLostChat: a client that loses its connection in a turn comes back to all of
// it.
func TestLostChat(t *testing.T) {
	u := New(t, Options{})
	s := u.Host.AddSession("one", "mend the tests")
	u.WaitIdle()
	u.Press("ctrl+space a", "enter")
	s.Begin("go")
	s.Say("a", "Before. ")
	u.WaitIdle()
	u.Shows("Before.")
	u.Host.Lose()
	u.WaitIdle()
	s.Missed(func() {
		s.Do(ahp.ChatDelta{TurnID: "turn1", PartID: "a", Content: "Meanwhile. "})
		s.Say("b", "Another part.")
		s.End(ahp.TurnComplete)
	})
	u.Host.Return()
	u.WaitIdle()
	u.Shows("Before. Meanwhile.", "Another part.", "scripted: idle")
}
