package ui_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/ui"
)

// crowd is a host with a terminal of each kind.
func crowd(h *Host) {
	h.Add("agent", running)
	h.Add("server", parked).Describe(func(m *ahp.TerminalMeta) { m.Agent = "Claude Code" })
	h.Add("laptop", other).Person(Person)
	elsewhere := h.Add("elsewhere", other)
	elsewhere.Person("token:17")
	elsewhere.Describe(func(m *ahp.TerminalMeta) { m.Holder = "ann's phone" })
	done := h.AddCommand("tests", ahp.Claim{Kind: ahp.ClaimClient, ClientID: ClientID}, "make", "test")
	done.Print("ok  tandemux/ui\r\nFAIL tandemux/host\r\n")
	done.Exit(2, "")
	busy := h.Add("busy", ahp.Claim{Kind: ahp.ClaimClient, ClientID: ClientID})
	busy.Print("$ ")
	busy.Run("go vet ./...", "", 1)
	busy.Begin("go test ./...")
	busy.Print("ok  \ttandemux/ahp\t0.5s\r\n\x1b[31mFAIL\x1b[m\ttandemux/host\t1.2s\r\n")
	busy.Attend(func(a *ahp.Attention) { a.Bell = 1 })
}

func TestTerminalListHasAll(t *testing.T) {
	for _, s := range [...][2]int{{80, 24}, {200, 50}, {250, 70}, {40, 12}} {
		u := New(t, Options{W: s[0], H: s[1], Host: crowd})
		u.Press("ctrl+space w")
		u.Press("up")
		u.GoldenStyled(golden("listing", s[0]))
	}
}

// Of a command of several lines the first one stands in the list, and that there is more.
func TestTerminalListManyLines(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) {
		h.Add("busy", ahp.Claim{Kind: ahp.ClaimClient, ClientID: ClientID}).Begin("echo one\necho two")
	}})
	u.Press("ctrl+space w")
	u.Shows("echo one…")
}

// The prefix leaves a list, and means there what it does everywhere.
func TestPrefixLeavesAList(t *testing.T) {
	u := New(t, Options{Host: crowd})
	for _, list := range []string{"w", "a", "?", "I"} {
		u.Press("ctrl+space "+list, "x", "ctrl+space :")
		u.Shows("Commands")
		u.Press("esc")
	}
	u.Press("ctrl+space w", "ctrl+space d")
	if exit, ended := u.Ended(); !ended || exit.Reason != ui.Detached {
		t.Errorf("not detached: %+v", exit)
	}
}

// The screen of what is chosen shows, also of terminals in no pane, and goes on.
func TestTerminalListPreviews(t *testing.T) {
	u := New(t, Options{Host: crowd})
	u.Press("ctrl+space w")
	u.Type("busy")
	u.Shows("FAIL")
	if uri := u.Host.Terminal("busy").URI; !u.Host.Follows(uri) {
		t.Error("it is not followed")
	}
	u.Host.Terminal("busy").Print("more output\r\n")
	u.WaitIdle()
	u.Shows("more output")
	u.Press("ctrl+u")
	u.Type("elsewhere")
	u.Hides("more output")
	if cols, rows := u.Host.Terminal("busy").Size(); cols != 80 || rows != 24 {
		t.Errorf("looking at it made it %dx%d", cols, rows)
	}
}

// Typing a name filters, whatever its letters are, and the list opens on what has
// the focus.
func TestTypingInAListActsOnNothing(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) {
		h.Add("xterm", parked)
		h.Add("build", ahp.Claim{Kind: ahp.ClaimClient, ClientID: ClientID})
	}})
	u.Press("ctrl+space w")
	u.Type("\r") // shows what is shown
	u.Press("ctrl+space w")
	u.Type("xterm")
	u.Shows("› xterm")
	u.Press("ctrl+u")
	u.Type("build\r")
	if got := focusTitle(t, u); got != "build" {
		t.Errorf("typing its name chose %q", got)
	}
	if got := u.Host.Terminals(); len(got) != 3 {
		t.Errorf("terminals %v", got)
	}
	u.Press("ctrl+space S")
	u.Type("demo")
	u.Shows("› demo", "nothing matches")
}

// Running through many subscribes to few.
func TestTerminalListFollowsFew(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) {
		for i := range 40 {
			h.Add(string(rune('a'+i%26))+strings.Repeat("x", i), parked)
		}
	}})
	u.Press("ctrl+space w")
	for range 40 {
		u.Press("down")
	}
	n := 0
	for _, uri := range u.Host.URIs() {
		if u.Host.Follows(uri) {
			n++
		}
	}
	if n > 10 {
		t.Errorf("%d terminals are followed", n)
	}
}

func TestTerminalListBrings(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space c", "ctrl+space w")
	u.Type("sh1")
	u.Press("alt+t")
	u.Hides("Terminals")
	if l, tb := tab(t, u); len(l.Tabs) != 1 || len(tb.Panes()) != 2 {
		t.Errorf("%d tabs, %d panes", len(l.Tabs), len(tb.Panes()))
	}
	u.Host.Add("new", parked)
	u.WaitIdle()
	u.Press("ctrl+space w")
	u.Type("new")
	u.Press("alt+t")
	if _, tb := tab(t, u); len(tb.Panes()) != 3 {
		t.Errorf("%d panes", len(tb.Panes()))
	}
	u.Press("ctrl+space w")
	u.Type("new")
	u.Press("alt+t")
	u.Shows(`"new" is in this tab already`)
}

// TestDetached: what a client of this person's left behind that is no more is in no
// other client's hands, and the list names the layout that shows it.
func TestDetached(t *testing.T) {
	gone := func(m *ahp.TerminalMeta) { m.Principal, m.Detached = Person, true }
	u := New(t, Options{W: 100, H: 24, Config: func(c *ui.Config) { c.Person = Person }, Host: func(h *Host) {
		left := h.Add("left", other)
		left.Describe(gone)
		h.Other("work", nil, []ahp.URI{left.URI})
		h.Add("loose", other).Describe(gone)
		here := h.Add("there", other)
		here.Describe(func(m *ahp.TerminalMeta) { m.Principal = Person })
		h.Other("home", nil, []ahp.URI{here.URI})
	}})
	u.Press("ctrl+space w")
	for title, want := range map[string]string{"left": `detached .*layout work`, "loose": "background", "there": `my other client .*layout home`} {
		if !regexp.MustCompile(`\b` + title + ` .*` + want).MatchString(u.Screen()) {
			t.Errorf("%s: want %s in\n%s", title, want, u.Screen())
		}
	}
	u.Hides("my other client, ")
}

// TestNarrowHeader: a pane's title goes before who holds it, which is told where
// there is room to tell it.
func TestNarrowHeader(t *testing.T) {
	for _, c := range []struct {
		w, moved int
		want     string
	}{{40, 2, "┬─ tests ─+$"}, {40, 0, "┬─ tests ─ claude… ─$"}, {130, 0, "┬─ tests ─.*─ claude: make test ─$"}} {
		u := New(t, Options{W: c.w, H: 12, Config: func(c *ui.Config) { c.Person = Person }, Host: func(h *Host) {
			h.Add("tests", running)
		}})
		u.Press("ctrl+space w")
		u.Type("tests\r")
		for range c.moved {
			u.Press("ctrl+space L")
		}
		if row := strings.TrimSpace(u.Row(0)); !regexp.MustCompile(c.want).MatchString(row) {
			t.Errorf("%q, want %s", row, c.want)
		}
	}
}

// badgeStates are the states of a badge.
var badgeStates = []struct {
	name   string
	claim  ahp.Claim
	meta   func(*ahp.TerminalMeta)
	exit   int // the code, 0 for one that runs
	signal string
	want   string
}{
	{name: "mine", claim: ours},
	{name: "left", claim: other, meta: func(m *ahp.TerminalMeta) { m.Principal, m.Detached = Person, true }},
	{name: "another", claim: other, meta: func(m *ahp.TerminalMeta) { m.Principal = Person }, want: "my other client"},
	{name: "person", claim: other, meta: func(m *ahp.TerminalMeta) { m.Principal = "bob" }, want: "held by bob"},
	{name: "token", claim: other, meta: func(m *ahp.TerminalMeta) { m.Principal, m.Holder = "token:4f2a", "CI" }, want: "held by CI"},
	{name: "nameless", claim: other, meta: func(m *ahp.TerminalMeta) { m.Principal = "token:4f2a" }, want: "held by token 4f2a"},
	{name: "owner", claim: other, meta: func(m *ahp.TerminalMeta) { m.Principal = "operator" }, want: "held by the owner"},
	{name: "agent", claim: running, want: "claude: make test"},
	{name: "named", claim: running, meta: func(m *ahp.TerminalMeta) { m.Agent = "Claude Code" }, want: "Claude Code: make test"},
	{name: "id", claim: call, want: "s1: a tool call"},
	{name: "command", claim: call, meta: func(m *ahp.TerminalMeta) {
		m.LastCommand = &ahp.CommandInfo{CommandLine: "go test ./...\nx", Running: true}
	}, want: "s1: go test ./... …"},
	{name: "background", claim: parked, want: "claude, background"},
	{name: "exited", claim: ours, exit: 3, want: "exited 3"},
	{name: "killed", claim: ours, exit: 1, signal: "SIGKILL", want: "killed by SIGKILL"},
}

var (
	ours = ahp.Claim{Kind: ahp.ClaimClient, ClientID: ClientID}
	call = ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/s1", ToolCallID: "toolu_01AbCdEf"}
)

// Each state of a badge shows in the header and in the status line, at each size.
func TestBadges(t *testing.T) {
	var text strings.Builder
	var u *UI
	for _, s := range sizes {
		for _, c := range badgeStates {
			u = New(t, Options{W: s[0], H: s[1], Config: func(c *ui.Config) { c.Person = Person }, Host: func(h *Host) {
				term := h.AddCommand("prog", c.claim, "prog")
				if c.meta != nil {
					term.Describe(c.meta)
				}
			}})
			u.Press("ctrl+space w")
			u.Type("prog\r")
			if c.exit != 0 {
				u.Host.Terminal("prog").Exit(c.exit, c.signal)
				u.WaitIdle()
			}
			if s[0] >= 80 && c.want != "" {
				u.Shows(c.want)
			}
			if c.want == "" {
				u.Hides("mine", "my other client", "detached")
			}
			fmt.Fprintf(&text, "%s %d\n%s\n%s\n\n", c.name, s[0], u.Row(0), u.Row(-1))
		}
	}
	u.GoldenText("badges", text.String())
}
