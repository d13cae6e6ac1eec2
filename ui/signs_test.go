package ui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator/input"
	"tandemux/ui"
)

// threeSizes are those at which every state of a mark is looked at.
var threeSizes = []struct {
	name string
	w, h int
}{{"80", 80, 24}, {"200", 200, 50}, {"40", 40, 12}}

// marked shows a shell with a command in each state: one that passed at once, one
// that passed slowly, failed, ended without a word and runs.
func marked(t *testing.T, o Options) (*UI, *Terminal) {
	t.Helper()
	u := New(t, o)
	sh := u.Host.Terminal(u.Host.Terminals()[0])
	sh.Detect()
	sh.Begin("true")
	sh.End(0, 3)
	sh.Begin("make")
	sh.Print("built\r\n")
	sh.End(0, 65000)
	sh.Begin("grep x *")
	sh.Print("nothing\r\n")
	sh.End(2, 1234)
	sh.Begin("exec")
	sh.End(-1, 40)
	sh.Begin("sleep 100")
	u.WaitIdle()
	u.Advance(12 * time.Second)
	return u, sh
}

// TestMarks: every state of a mark at three sizes, where the pane has no frame on
// its left, and where it has.
func TestMarks(t *testing.T) {
	for _, size := range threeSizes {
		t.Run(size.name, func(t *testing.T) {
			o := Options{W: size.w, H: size.h}
			u, _ := marked(t, o)
			u.GoldenStyled("marks-" + size.name)

			// Beside another pane, in the line between them.
			u, _ = marked(t, o)
			u.Press("ctrl+space |", "ctrl+space >", "ctrl+space h")
			u.Advance(10 * time.Second)
			u.GoldenStyled("marks-framed-" + size.name)

			// What has scrolled off and back has its mark again.
			u.Press("ctrl+space l", "ctrl+space z", "ctrl+space z")
			u.Advance(10 * time.Second)
			u.Press("ctrl+space h")
			if got := u.Screen(); !strings.Contains(got, "✗") {
				t.Errorf("after a zoom the marks are gone:\n%s", got)
			}
			u.Press("ctrl+space l")
			sh := u.Host.Terminal(u.Host.Terminals()[0])
			sh.Print(strings.Repeat("more\r\n", size.h))
			u.WaitIdle()
			if got := u.Screen(); strings.ContainsAny(got, "✗") {
				t.Errorf("a mark stays where its command is gone:\n%s", got)
			}
		})
	}
}

// TestMarksLooks: marks in ASCII, without colours, above other panes, and none
// where they are switched off or the shell does not tell.
func TestMarksLooks(t *testing.T) {
	ascii := []string{"TERM=xterm", "LANG=C", "HOME=/home/ann", "NO_COLOR=1"}
	u, _ := marked(t, Options{Env: ascii})
	u.GoldenStyled("marks-plain")
	u, _ = marked(t, Options{Env: ascii})
	u.Press("ctrl+space |", "ctrl+space >")
	u.Advance(10 * time.Second)
	u.Golden("marks-plain-framed")

	u, _ = marked(t, Options{})
	u.Press("ctrl+space |", "ctrl+space h", "ctrl+space F")
	u.Advance(10 * time.Second)
	u.Golden("marks-floating")

	off := func(c *ui.Config) { c.NoCommandMarks = true }
	u, _ = marked(t, Options{Config: off})
	u.GoldenStyled("marks-off")

	u = New(t, Options{})
	sh := u.Host.Terminal(u.Host.Terminals()[0])
	sh.Print("ls\r\na b\r\n$ ")
	u.WaitIdle()
	u.GoldenStyled("marks-undetected")
}

// TestMarkChanges: a mark changes when its command ends, though its line does
// not; a full screen has none.
func TestMarkChanges(t *testing.T) {
	u, sh := marked(t, Options{})
	u.Hides("exit 1")
	sh.End(1, 5)
	u.WaitIdle()
	if got := u.Row(6); !strings.HasPrefix(got, "$ sleep 100") || !strings.HasSuffix(strings.TrimSpace(got), "exit 1") {
		t.Errorf("the line of the command that failed is %q", got)
	}
	sh.Begin("vim")
	sh.Print("\x1b[?1049h\x1b[2J\x1b[Htext")
	u.WaitIdle()
	u.Hides("exit 1")
	sh.Print("\x1b[?1049l")
	sh.End(0, 5)
	u.WaitIdle()
	u.Shows("exit 1")
}

// TestMarkLeavesText: what is said behind a line never covers text, and is not
// copied with it.
// TestMarkTypedOver: a line that another command was typed over has that one's mark.
func TestMarkTypedOver(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) { h.Program = silent }})
	sh := u.Host.Terminal("sh1")
	sh.Print("$ ")
	sh.Run("false", "", 1)
	u.WaitIdle()
	u.Shows("exit 1")
	sh.Print("\x1b[1;1H$ \x1b[K")
	sh.Run("true", "", 0)
	sh.Print("$ ")
	u.WaitIdle()
	if got := u.Row(0); !strings.HasPrefix(got, "$ true") || strings.Contains(got, "exit") {
		t.Errorf("the line shows %q", got)
	}
}

func TestMarkLeavesText(t *testing.T) {
	u := New(t, Options{W: 40, H: 12})
	sh := u.Host.Terminal(u.Host.Terminals()[0])
	sh.Detect()
	for n := 20; n < 39; n++ {
		line := strings.Repeat("x", n)
		sh.Begin(line)
		sh.End(130, 65000)
		u.WaitIdle()
		screen := u.Screen()
		if !strings.Contains(screen, "$ "+line) && n < 38 {
			t.Fatalf("a line of %d is covered:\n%s", n, screen)
		}
		if fits := n+len("$  exit 130 ")+1 <= 40+1; strings.Contains(lastOf(screen, line), "exit 130") != fits {
			t.Errorf("a line of %d: %q", n, lastOf(screen, line))
		}
	}
	u.Press("ctrl+space [", "k", "k", "V", "y")
	if got := copied(t, u); strings.Contains(got, "exit") {
		t.Errorf("copied %q", got)
	}
}

// TestMarkBesideRightPrompt: a prompt at the right edge hides neither the exit code
// nor the duration, where there is room before it, and is not covered.
func TestMarkBesideRightPrompt(t *testing.T) {
	u := New(t, Options{W: 60, H: 12})
	sh := u.Host.Terminal(u.Host.Terminals()[0])
	sh.Detect()
	for _, c := range []struct {
		typed, says string
	}{
		{"make", " exit 2  1m05s main 12:34"},
		{strings.Repeat("x", 24), "x         exit 2  1m05s main 12:34"},
		{strings.Repeat("x", 34), "x      exit 2 main 12:34"},
		{strings.Repeat("x", 40), "x       main 12:34"},
	} {
		sh.Begin(c.typed + strings.Repeat(" ", 60-2-len(c.typed)-10-1) + "main 12:34")
		sh.End(2, 65000)
		u.WaitIdle()
		if row := strings.TrimRight(lastOf(u.Screen(), "$ "+c.typed), " "); !strings.HasSuffix(row, c.says) {
			t.Errorf("%d typed: %q, want %q at its end", len(c.typed), row, c.says)
		}
	}
	u.Resize(30, 12) // the prompt of each is on a row of its own now
	u.Shows("\n     exit 2  1m05s main 12:34")
}

// lastOf gives the last row of a screen that has a text.
func lastOf(screen, text string) (row string) {
	for _, r := range strings.Split(screen, "\n") {
		if strings.Contains(r, text) {
			row = r
		}
	}
	return row
}

// TestElapsed: the time that a command runs is told once a second at most, only
// while it shows; an idle interface has no timer.
func TestElapsed(t *testing.T) {
	u, sh := commanded(t, 80, 24)
	u.Advance(time.Minute)
	if u.Timers() != 0 {
		t.Errorf("with nothing running %d timers run", u.Timers())
	}
	sh.Begin("make test")
	u.WaitIdle()
	u.Shows(" running  ~")
	u.Advance(12 * time.Second)
	u.Shows(" running 12s  ~")
	u.Advance(53 * time.Second)
	u.Shows(" running 1m05s  ~")
	u.Advance(20 * time.Minute)
	u.Shows(" running 21m  ~")
	written := u.Written
	u.Advance(10 * time.Minute)
	if n := u.Written - written; n > 10*60 || n == 0 {
		t.Errorf("in ten minutes %d bytes were written", n)
	}
	u.Advance(2 * time.Hour)
	u.Shows(" running 2h31m  ~")

	// In a tab that does not show nothing is counted.
	u.Press("ctrl+space c")
	u.Advance(2 * time.Minute)
	if u.Timers() != 0 {
		t.Errorf("for a hidden command %d timers run", u.Timers())
	}
	u.Press("ctrl+space p")
	u.Advance(time.Minute)
	u.Shows(" running 2h34m  ~")

	// Nor for a program that shows its own screen.
	sh.Print("\x1b[?1049h")
	u.Advance(2 * time.Minute)
	if u.Timers() != 0 {
		t.Errorf("for a full screen %d timers run", u.Timers())
	}
	u.Shows(" running  ~")
	sh.Print("\x1b[?1049l")
	sh.End(0, 100)
	u.Advance(2 * time.Minute)
	if u.Timers() != 0 {
		t.Errorf("when it has ended %d timers run", u.Timers())
	}
}

// TestElapsedOtherClock: a host whose clock is wrong counts the same.
func TestElapsedOtherClock(t *testing.T) {
	u := New(t, Options{})
	sh := u.Host.Terminal(u.Host.Terminals()[0])
	u.Host.Now = u.Host.Now - 3600_000
	sh.Detect()
	sh.Begin("sleep")
	u.WaitIdle()
	u.Advance(5 * time.Second)
	u.Shows(" running 5s ")
}

// TestFold: a command's output is left out and shown again; what is typed and
// clicked goes where it shows.
func TestFold(t *testing.T) {
	for _, size := range threeSizes {
		t.Run(size.name, func(t *testing.T) {
			u, sh := commanded(t, size.w, size.h)
			before := u.Screen()
			u.Press("ctrl+space e")
			u.Hides("line 49")
			u.Advance(10 * time.Second)
			u.GoldenStyled("folded-" + size.name)
			u.Type("echo")
			u.Shows("$ echo")
			for range 4 {
				u.Press("backspace")
			}
			u.Press("ctrl+space e")
			u.Advance(10 * time.Second)
			if got := u.Screen(); got != before {
				t.Errorf("unfolded it is\n%s", got)
			}
			u.Press("ctrl+space e")
			sh.Run("next", numbers(5), 1)
			u.Advance(10 * time.Second)
			u.Shows("50 lines", "$ next", "line 5")
			u.Hides("line 48")
		})
	}
}

// TestFoldAllAndMove: with everything folded, copy mode and the scroll keys move
// by the lines that show; a search opens a fold.
func TestFoldAllAndMove(t *testing.T) {
	u, _ := commanded(t, 80, 24)
	u.Press("ctrl+space [", "z M")
	u.Advance(10 * time.Second)
	u.Golden("folded-all")
	u.Press("k")
	if cur := u.Outer().Cursor(); !strings.HasPrefix(u.Row(cur.Y), "b: x$ seq 1 50") {
		t.Errorf("one line up is %q", u.Row(cur.Y))
	}
	u.Press("( (")
	if cur := u.Outer().Cursor(); !strings.HasPrefix(u.Row(cur.Y), "$ make all") {
		t.Errorf("two commands up is %q", u.Row(cur.Y))
	}
	u.Press("? l i n e space 3 7 enter")
	u.Shows("line 37")
	u.Hides("line 49")
	u.Press("z R", "q")
	u.Advance(10 * time.Second)
	u.Shows("line 50", "line 49")
}

// TestFoldByClick: a click on the mark in the frame folds.
func TestFoldByClick(t *testing.T) {
	u, _ := marked(t, Options{})
	u.Press("ctrl+space |", "ctrl+space >")
	u.Advance(10 * time.Second)
	row := 0
	for y, r := range strings.Split(u.Screen(), "\n") {
		if strings.Contains(r, "grep") {
			row = y
		}
	}
	u.Click(40, row)
	u.Hides("nothing")
	u.Shows("1 line")
	u.Click(40, row)
	u.Shows("nothing")
}

// TestSticky: the line of the command that fills the pane stays on top while it
// is scrolled back; a click on it goes there.
func TestSticky(t *testing.T) {
	for _, size := range threeSizes {
		u, _ := commanded(t, size.w, size.h)
		u.Wheel(true, 5, 5)
		u.GoldenStyled("sticky-" + size.name)
		if size.h < 50 {
			u.Click(5, 0)
			if got := u.Row(0); !strings.HasPrefix(got, "b: x$ seq 1 50") {
				t.Errorf("after a click the top row is %q", got)
			}
		}
	}
	u, _ := commanded(t, 80, 24)
	if got := u.Row(0); strings.Contains(got, "seq") {
		t.Errorf("the live screen is covered: %q", got)
	}
	always := func(c *ui.Config) { c.StickyCommand = "always" }
	u = New(t, Options{Config: always})
	sh := u.Host.Terminal(u.Host.Terminals()[0])
	sh.Detect()
	sh.Begin("seq 1 50")
	u.WaitIdle()
	if got := u.Row(0); !strings.HasPrefix(got, "$ seq 1 50") {
		t.Errorf("the top row is %q", got)
	}
	for i := range 40 {
		sh.Print(fmt.Sprintf("line %d\r\n", i))
		u.WaitIdle()
	}
	if got := u.Row(0); !strings.Contains(got, "● seq 1 50") {
		t.Errorf("the top row is %q", got)
	}
	// Nor is what hints are on, or copy mode's cursor.
	sh.Print("/usr/share/doc\r\n")
	u.WaitIdle()
	u.Press("ctrl+space U")
	if got := u.Row(0); strings.Contains(got, "seq") {
		t.Errorf("among hints the top row is covered: %q", got)
	}
	u.Press("esc")
	u.Press("ctrl+space [", "H")
	if got := u.Row(0); strings.Contains(got, "seq") {
		t.Errorf("copy mode's line is covered: %q", got)
	}
}

// TestCommandList: the list at three sizes, its filters, and what it does.
func TestCommandList(t *testing.T) {
	for _, size := range threeSizes {
		u, _ := marked(t, Options{W: size.w, H: size.h})
		u.Press("ctrl+space C")
		u.GoldenStyled("command-list-" + size.name)
		u.Press("alt+f")
		u.Golden("command-list-failed-" + size.name)
		u.Press("tab", "f")
		u.Type("mak")
		u.Golden("command-list-filter-" + size.name)
	}
	u, sh := commanded(t, 80, 24)
	u.Press("ctrl+space C", "down", "down", "enter")
	if got := u.Row(0); !strings.HasPrefix(got, "$ make all") {
		t.Errorf("the top row is %q", got)
	}
	u.Press("ctrl+space C", "down", "alt+y")
	if got := copied(t, u); got != "a: x\nb: x" {
		t.Errorf("copied %q", got)
	}
	u.Press("ctrl+space C", "alt+l")
	if got := copied(t, u); got != "seq 1 50" {
		t.Errorf("copied %q", got)
	}
	u.Press("ctrl+space C", "alt+r")
	if got := sh.Typed(); got != "seq 1 50\r" {
		t.Errorf("typed %q", got)
	}
	u.Press("ctrl+space C", "z", "z", "z")
	u.Shows("nothing matches")
	u.Press("ctrl+u", "alt+f")
	u.Shows("Commands that failed", "exit 1")
	u.Press("esc")
	// While the list is open commands come to it.
	u.Press("ctrl+space C")
	sh.Begin("late")
	u.WaitIdle()
	u.Shows("late")
	u.Mouse(input.MousePress, tea.MouseLeft, 20, 10)

	// One that shows already is gone to in copy mode.
	u, _ = marked(t, Options{})
	u.Press("ctrl+space C", "down", "down", "enter")
	u.Shows(" copy ")
	if cur := u.Outer().Cursor(); !strings.HasPrefix(u.Row(cur.Y), "$ grep x *") {
		t.Errorf("the cursor is on %q", u.Row(cur.Y))
	}
}

// TestRunAgain: the line of the last command or the one scrolled to is run again;
// what is in the way is said.
func TestRunAgain(t *testing.T) {
	u, sh := commanded(t, 80, 24)
	u.Press("ctrl+space R")
	if got := sh.Typed(); got != "seq 1 50\r" {
		t.Errorf("typed %q", got)
	}
	u.Press("ctrl+space {", "{", "{", "ctrl+space R")
	if got := sh.Typed(); got != "seq 1 50\rmake all\r" {
		t.Errorf("typed %q", got)
	}
	u.Advance(10 * time.Second)
	u.Host.FailRun = fmt.Errorf(`run: the terminal can't take a command now: "vim" is running in it`)
	u.Press("ctrl+space R")
	u.Shows(`not run again: "vim" is running in it`)
	u.Host.FailRun = nil
	sh.Begin("")
	sh.End(0, 1)
	u.Press("ctrl+space R")
	u.Shows("did not tell the command's line")
	sh.Run(strings.Repeat("y", 70<<10), "", 0)
	u.Press("ctrl+space R")
	u.Shows("too long to be run again")
}

// TestCopyLineAndSelect: a command's line is copied, its output selected.
func TestCopyLineAndSelect(t *testing.T) {
	u, _ := commanded(t, 80, 24)
	u.Press("ctrl+space ctrl+y")
	if got := copied(t, u); got != "seq 1 50" {
		t.Errorf("copied %q", got)
	}
	u.Press("ctrl+space {", "{", "ctrl+space v")
	u.Advance(10 * time.Second)
	u.GoldenStyled("select-output")
	u.Press("y")
	if got := copied(t, u); got != "a: x\n" {
		t.Errorf("copied %q", got)
	}
}
