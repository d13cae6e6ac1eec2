package ui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/ui"
)

// calling is an interface with three tabs, the first active, of which the others
// have something to tell.
func calling(t *testing.T, w, h int) *UI {
	t.Helper()
	u := New(t, Options{W: w, H: h, Config: func(c *ui.Config) { c.LongCommand = 10 * time.Second }})
	u.Press("ctrl+space c", "ctrl+space c", "ctrl+space 1")
	u.Host.Now = 100_000
	u.Host.Terminal("sh2").Begin("make test")
	u.Host.Now += 20_000
	u.Host.Terminal("sh2").End(2, 20_000)
	u.Host.Terminal("sh3").Attend(func(a *ahp.Attention) { a.Bell = 120_000 })
	u.WaitIdle()
	return u
}

func TestTabsSayWhatCalls(t *testing.T) {
	for _, s := range sizes {
		u := calling(t, s[0], s[1])
		u.GoldenStyled(golden("attention", s[0]))
	}
	u := calling(t, 80, 24)
	u.Shows("2 sh2 ✗", "3 sh3 !", "✗ 2: make test failed with exit code 2 +1")
	u.Press("ctrl+space g")
	if got := focusTitle(t, u); got != "sh2" {
		t.Errorf("the next alert is in %s", got)
	}
	u.Hides("✗", "+1")
	if seen := u.Host.Terminal("sh2").Attention().Seen; seen < 120_000 {
		t.Errorf("seen at %d", seen)
	}
	u.Press("ctrl+space g")
	if got := focusTitle(t, u); got != "sh3" {
		t.Errorf("the next alert is in %s", got)
	}
	u.Press("ctrl+space g")
	u.Shows("no other terminal has anything to tell")
}

// What another client has seen is no news here.
func TestSeenElsewhere(t *testing.T) {
	u := calling(t, 80, 24)
	u.Host.Terminal("sh3").Attend(func(a *ahp.Attention) { a.Seen = 120_000 })
	u.WaitIdle()
	u.Hides("sh3 !")
}

func TestWhatIsLookedAtDoesNotCall(t *testing.T) {
	u := start(t)
	sh := u.Host.Terminal("sh1")
	u.Host.Now = 50
	sh.Attend(func(a *ahp.Attention) { a.Bell = 40 })
	u.WaitIdle()
	u.Hides("!")
	if sh.Attention().Seen != 50 {
		t.Error("the host was not told that it was seen")
	}
	sent := len(u.Host.Sent)
	sh.Attend(func(a *ahp.Attention) {})
	u.WaitIdle()
	if len(u.Host.Sent) != sent {
		t.Errorf("it is told again: %v", u.Host.Sent[sent:])
	}
	// In another window of the desktop it was not seen.
	u.Read("\x1b[O")
	sh.Attend(func(a *ahp.Attention) { a.Bell = 60 })
	u.WaitIdle()
	u.Shows("1 sh1 !")
	u.Host.Now = 70
	u.Read("\x1b[I")
	u.Hides("sh1 !")
	if sh.Attention().Seen != 70 {
		t.Error("the host was not told after the focus came back")
	}
}

// A program that waits for an answer is marked until it goes on, seen or not.
func TestWaitingIsAState(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space c", "ctrl+space 1")
	sh := u.Host.Terminal("sh2")
	sh.Attend(func(a *ahp.Attention) {
		a.Status = &ahp.ProgramStatus{State: ahp.StatusBlocked, Kind: "permission", App: "claude", Text: "Run rm?", At: 10}
	})
	u.WaitIdle()
	u.Shows("2 sh2 ?", "? 2: claude asks for permission: Run rm?")
	u.Press("ctrl+space 2")
	u.Hides("sh2 ?")
	u.Press("ctrl+space 1")
	u.Shows("2 sh2 ?")
	sh.Attend(func(a *ahp.Attention) { a.Status = &ahp.ProgramStatus{State: ahp.StatusWorking, At: 20} })
	u.WaitIdle()
	u.Hides("?")
}

// An agent that asks for a terminal is answered with one key, wherever that is.
func TestAgentsAreAnswered(t *testing.T) {
	for _, c := range []struct {
		keys  []string
		grant bool
		says  string
	}{{[]string{"enter", "y"}, true, "claude has the terminal; ctrl+space r takes it back"}, {[]string{"up", "enter"}, false, "claude was refused"}} {
		u := start(t)
		u.Press("ctrl+space c", "ctrl+space 1")
		sh := u.Host.Terminal("sh2")
		sh.Describe(func(m *ahp.TerminalMeta) { m.Ask = &ahp.Ask{ID: "7", Who: "claude", Reason: "to run the tests"} })
		u.WaitIdle()
		u.Shows("2 sh2 ?", "? 2: claude asks for this terminal: to")
		u.Press("ctrl+space 2")
		u.Shows(`claude asks for "sh2" (to run the tests): ctrl+space A answers`)
		u.Press("ctrl+space 1", "ctrl+space A")
		u.Shows(`claude asks for the terminal "sh2"`, "reason: to run the tests", "Hand it over")
		u.Press("esc", "ctrl+space A")
		u.Press(c.keys...)
		if want := (ahp.AnswerParams{Channel: sh.URI, ID: "7", Grant: c.grant}); len(u.Host.Answers) != 1 || u.Host.Answers[0] != want {
			t.Errorf("answered %+v, want %+v", u.Host.Answers, want)
		}
		u.Shows(c.says)
		u.Press("ctrl+space A")
		u.Shows("Answer an agent: no agent waits for an answer")
	}
}

func TestNotifications(t *testing.T) {
	note := func(u *UI, at int64) string {
		u.Raw = nil
		u.Host.Terminal("sh2").Attend(func(a *ahp.Attention) { a.Note = &ahp.Note{At: at, Title: "CI", Body: "red; \x1b[2J"} })
		u.WaitIdle()
		return string(u.Raw)
	}
	for by, want := range map[string]string{
		"osc9": "\x1b]9;tandemux: sh2: CI: red; [2J\x1b\\", "osc777": "\x1b]777;notify;tandemux: sh2;CI: red; [2J\x1b\\",
		"osc99": "\x1b]99;i=tandemux:d=0;tandemux: sh2\x1b\\\x1b]99;i=tandemux:p=body;CI: red; [2J\x1b\\", "off": "", "auto": "\x1b]777;notify;tandemux: sh2;CI: red; [2J\x1b\\",
	} {
		u := New(t, Options{Config: func(c *ui.Config) { c.Notify, c.Notifications = []string{"note"}, by }})
		u.Press("ctrl+space c", "ctrl+space 1")
		if raw := note(u, 10); want == "" && strings.Contains(raw, "CI: red; [2J\x1b\\") || !strings.Contains(raw, want) {
			t.Errorf("%s: the outer terminal gets %q", by, raw)
		}
		if raw := note(u, 10); want != "" && strings.Contains(raw, want) {
			t.Errorf("%s: it gets the same again", by)
		}
		if raw := note(u, 20); !strings.Contains(raw, want) {
			t.Errorf("%s: a second one gives %q", by, raw)
		}
		again := u.Again(Options{Config: func(c *ui.Config) { c.Notify, c.Notifications = []string{"note"}, by }})
		if raw := string(again.Raw); strings.Contains(raw, "tandemux: sh2") {
			t.Errorf("%s: what came before the start is told: %q", by, raw)
		}
	}
}

func TestAttentionIsConfigured(t *testing.T) {
	u := New(t, Options{Config: func(c *ui.Config) { c.Attention = []string{"output"} }})
	u.Press("ctrl+space c", "ctrl+space 1")
	u.Host.Terminal("sh2").Attend(func(a *ahp.Attention) { a.Bell, a.Output = 5, 6 })
	u.WaitIdle()
	u.Shows("2 sh2 #")
	u.Hides("!")
}

// Bells of terminals that this client does not follow ring too, once.
func TestBellsOfHiddenTerminals(t *testing.T) {
	u := start(t)
	for range 12 {
		u.Press("ctrl+space c")
	}
	u.Raw = nil
	u.Host.Terminal("sh1").Attend(func(a *ahp.Attention) { a.Bell = 5 })
	u.WaitIdle()
	if n := strings.Count(string(u.Raw), "\a"); n != 1 {
		t.Errorf("%d bells", n)
	}
}

func TestClientsOfTheLayout(t *testing.T) {
	u := start(t)
	u.Host.Watched("main", 1)
	u.WaitIdle()
	u.Hides("client")
	u.Host.Watched("main", 3)
	u.WaitIdle()
	u.Shows("3 clients")
}

func TestAltKeys(t *testing.T) {
	u := New(t, Options{Config: func(c *ui.Config) { c.AltKeys = true }})
	u.Press("alt+\\", "alt+-", "alt+left")
	if got := focusTitle(t, u); got != "sh1" {
		t.Errorf("the focus is on %s", got)
	}
	u.Press("alt+n", "alt+1")
	if l, _ := tab(t, u); len(l.Tabs) != 2 || l.Active != 0 {
		t.Errorf("%d tabs, active %d", len(l.Tabs), l.Active)
	}
	if got := u.Host.Terminal("sh1").Typed(); got != "" {
		t.Errorf("the program got %q", got)
	}
	v := start(t)
	v.Press("alt+n")
	if got := v.Host.Terminal("sh1").Typed(); got != "\x1bn" {
		t.Errorf("without the option the program got %q", got)
	}
}

func golden(name string, width int) string { return fmt.Sprintf("%s-%d", name, width) }
