package ui_test

import (
	"fmt"
	"testing"

	"tandemux/ahp"
)

// sizes are the windows that components are looked at in.
var sizes = [...][2]int{{80, 24}, {200, 50}, {40, 12}}

// atSizes runs a test in each window; name tells its goldens apart.
func atSizes(t *testing.T, name string, f func(t *testing.T, u *UI, golden string)) {
	t.Helper()
	for _, s := range sizes {
		t.Run(fmt.Sprint(s[0]), func(t *testing.T) {
			f(t, New(t, Options{W: s[0], H: s[1]}), fmt.Sprintf("%s-%d", name, s[0]))
		})
	}
}

func typed(t *testing.T, u *UI, want map[string]string) {
	t.Helper()
	for name, want := range want {
		if got := u.Host.Terminal(name).Typed(); got != want {
			t.Errorf("%s got %q, want %q", name, got, want)
		}
	}
}

func TestTypingIntoAllPanes(t *testing.T) {
	atSizes(t, "type-to-all", func(t *testing.T, u *UI, golden string) {
		u.Press("ctrl+space |", "ctrl+space -")
		u.Host.Terminal("sh1").Claim(ahp.Claim{
			Kind: ahp.ClaimSession, Session: "ahp-session:/claude-1", Chat: "ahp-chat:/c1", TurnID: "t1", ToolCallID: "make",
		})
		u.WaitIdle()
		u.Press("ctrl+space s")
		u.Type("ls")
		u.Golden(golden)
		u.Paste("one")
		typed(t, u, map[string]string{"sh1": "", "sh2": "lsone", "sh3": "lsone"})
		u.Press("ctrl+space s")
		u.Type("x")
		typed(t, u, map[string]string{"sh2": "lsone", "sh3": "lsonex"})
		u.Hides("typing into 2 panes")
	})
}

// Each program gets a key as its own modes want it.
func TestTypingIntoAllPanesFollowsEachOnesModes(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |")
	u.Host.Terminal("sh1").Print("\x1b[?1h\x1b[?2004h")
	u.WaitIdle()
	u.Press("ctrl+space s", "up")
	u.Paste("p")
	typed(t, u, map[string]string{"sh1": "\x1bOA\x1b[200~p\x1b[201~", "sh2": "\x1b[Ap"})
}

// What can't be seen is not typed into: other tabs, panes under a zoomed one, and
// those where somebody reads. A focused pane that is not the person's gets
// nothing, and so do the others.
func TestTypingIntoAllPanesThatShow(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |", "ctrl+space s")
	u.Press("ctrl+space z")
	u.Type("a")
	u.Press("ctrl+space z", "ctrl+space c")
	u.Type("b")
	u.Press("ctrl+space p", "ctrl+space [", "ctrl+space h")
	u.Type("c")
	typed(t, u, map[string]string{"sh1": "c", "sh2": "a", "sh3": "b"})
	u.Press("ctrl+space l", "q", "ctrl+space h")
	u.Host.Terminal("sh1").Claim(ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/s", ToolCallID: "make", Chat: "ahp-chat:/c"})
	u.WaitIdle()
	u.Type("d")
	typed(t, u, map[string]string{"sh1": "c", "sh2": "a"})
}

// With its last other pane it ends: a pane opened later is typed into alone.
func TestTypingIntoAllPanesEnds(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |", "ctrl+space s", "ctrl+space x", "y", "ctrl+space |")
	u.Type("x")
	typed(t, u, map[string]string{"sh1": "", "sh3": "x"})
	u.Hides("typing")
}

func TestJoinTheMarkedPane(t *testing.T) {
	atSizes(t, "join", func(t *testing.T, u *UI, golden string) {
		u.Press("ctrl+space |", "ctrl+space m")
		u.Golden(golden + "-marked")
		u.Press("ctrl+space c", "ctrl+space @")
		u.Golden(golden)
		if got := focusTitle(t, u); got != "sh2" {
			t.Errorf("the focus is on %s", got)
		}
		if l, tb := tab(t, u); len(l.Tabs) != 2 || len(tb.Panes()) != 2 {
			t.Errorf("%d tabs, %d panes in this one", len(l.Tabs), len(tb.Panes()))
		}
		u.Press("ctrl+space @")
		u.Shows("Join the marked pane: no")
	})
}

func TestSwapWithTheMarkedPane(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space m", "ctrl+space c", "ctrl+space |", "ctrl+space :")
	u.Type("swap-marked\r")
	u.Press("ctrl+space 1")
	if got := focusTitle(t, u); got != "sh3" {
		t.Errorf("the first tab shows %s", got)
	}
	u.Press("ctrl+space m", "ctrl+space m")
	u.Hides("─ marked ─")
}

func TestMoveToTab(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space c", "ctrl+space c", "ctrl+space :")
	u.Type("move-to-tab\r")
	u.Shows("move to tab (1-3)")
	u.Type("1\r")
	if l, tb := tab(t, u); len(l.Tabs) != 2 || l.Active != 0 || len(tb.Panes()) != 2 {
		t.Errorf("%d tabs, active %d with %d panes", len(l.Tabs), l.Active, len(tb.Panes()))
	}
	u.Press("ctrl+space :")
	u.Type("move-to-tab 1\r")
	u.Shows("this pane is in tab 1 already")
	u.Press("ctrl+space :")
	u.Type("move-to-tab 9\r")
	u.Shows("there is no tab 9")
	tiny := New(t, Options{W: 4, H: 3})
	tiny.Press("ctrl+space c")
	tiny.Press("ctrl+space :")
	tiny.Type("move-to-tab 1\r")
	tiny.Resize(80, 24)
	tiny.Shows("there is no room in tab 1")
}

// Of two clients of one person the one that types decides the size; the other one
// leaves it as it is, also when it is taken from it and when its window changes.
func TestAnotherClientDecidesTheSize(t *testing.T) {
	u := start(t)
	sh := u.Host.Terminal("sh1")
	sh.Claim(ahp.Claim{Kind: ahp.ClaimClient, ClientID: "larger"})
	sh.Resize(120, 39)
	u.WaitIdle()
	u.Resize(70, 20)
	if cols, rows := sh.Size(); cols != 120 || rows != 39 {
		t.Errorf("the client that only looks made it %dx%d", cols, rows)
	}
	u.Type("x")
	if cols, rows := sh.Size(); cols != 70 || rows != 19 {
		t.Errorf("after typing it is %dx%d", cols, rows)
	}
}

// What was just made here has the size of its pane here, though a smaller client shows it, too.
func TestAnotherClientShowsWhatWasMade(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space c")
	_, tb := tab(t, u)
	made := u.Host.terms[tb.Panes()[0].Terminal]
	cols, rows := made.Size()
	made.Resize(40, 10)
	u.WaitIdle()
	if c, r := made.Size(); c != cols || r != rows {
		t.Errorf("it is %dx%d, not %dx%d", c, r, cols, rows)
	}
	u.Type("x")
	made.Resize(40, 10) // as tandemux resize does
	u.WaitIdle()
	if c, r := made.Size(); c != 40 || r != 10 {
		t.Errorf("after typing here, a size of 40x10 became %dx%d", c, r)
	}
}

// A name that was typed for what somebody else closed meanwhile is not lost without a word.
func TestRenameWhatIsGone(t *testing.T) {
	for key, want := range map[string]string{",": "the pane is gone", ".": "the tab is gone"} {
		u := start(t)
		u.Press("ctrl+space c")
		_, tb := tab(t, u)
		u.Press("ctrl+space " + key)
		made := ahp.DisposeTerminalParams{Channel: tb.Panes()[0].Terminal}
		if err := u.Host.Call(t.Context(), ahp.MethodDisposeTerminal, made, nil); err != nil {
			t.Fatal(err)
		}
		u.WaitIdle()
		u.Type("mine\r")
		u.Shows(want)
		u.Hides("mine")
	}
}
