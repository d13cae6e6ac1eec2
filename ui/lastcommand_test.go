package ui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// numbers is output of n lines.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\r\n", i+1)
	}
	return b.String()
}

// commanded shows a shell in which three commands have run: the first and the
// last print more than the screen holds.
func commanded(t *testing.T, w, h int) (*UI, *Terminal) {
	t.Helper()
	u := New(t, Options{W: w, H: h})
	sh := u.Host.Terminal(u.Host.Terminals()[0])
	sh.Detect()
	sh.Run("make all", numbers(40), 0)
	sh.Run("grep -r "+strings.Repeat("x", 100), "a: x\r\nb: x", 1)
	sh.Run("seq 1 50", numbers(50), 0)
	u.WaitIdle()
	return u, sh
}

// copied is what was written to the clipboard last.
func copied(t *testing.T, u *UI) string {
	t.Helper()
	return clip(u, 0)
}

// TestGoThroughCommands: from the live view into history, command by command,
// and back to the bottom.
func TestGoThroughCommands(t *testing.T) {
	u, _ := commanded(t, 80, 24)
	bottom := u.Screen()
	top := func(want string) {
		t.Helper()
		if got := u.Row(0); !strings.HasPrefix(got, want) {
			t.Errorf("the top row is %q, want %q", got, want)
		}
	}
	u.Press("ctrl+space {")
	top("b: x$ seq 1 50") // the output before has no line end
	u.Press("ctrl+space {")
	top("$ grep -r xxx")
	u.Press("{") // may be repeated
	top("$ make all")
	u.Press("ctrl+space {")
	top("$ make all")
	u.Shows("Previous command: there is no command above")
	u.Press("ctrl+space }")
	top("$ grep -r xxx")
	u.Advance(10 * time.Second)
	u.Press("ctrl+space }", "ctrl+space }")
	u.Advance(10 * time.Second)
	if got := u.Screen(); got != bottom {
		t.Errorf("behind the last command the screen is\n%s", got)
	}
	u.Press("ctrl+space }")
	u.Shows("Next command: there is no command below")
}

// TestGoThroughCommandsInCopyMode: there the cursor moves.
func TestGoThroughCommandsInCopyMode(t *testing.T) {
	u, _ := commanded(t, 80, 24)
	u.Press("ctrl+space [", "ctrl+space {", "ctrl+space {")
	u.Press("V", "y")
	if got := copied(t, u); got != "$ grep -r "+strings.Repeat("x", 100)+"\n" && !strings.HasPrefix(got, "$ grep -r xxx") {
		t.Errorf("copied %q", got)
	}
}

func TestCopyOutput(t *testing.T) {
	u, sh := commanded(t, 80, 24)
	want := strings.TrimSuffix(strings.ReplaceAll(numbers(50), "\r", ""), "\n")
	u.Press("ctrl+space y")
	u.Shows(`sent 50 lines of "seq 1 50" to the terminal's clipboard`)
	if got := copied(t, u); got != want {
		t.Errorf("copied %q", got)
	}
	// The one scrolled to, whose output has no line end at its end.
	u.Press("ctrl+space {", "ctrl+space {", "ctrl+space y")
	if got := copied(t, u); got != "a: x\nb: x" {
		t.Errorf("copied %q", got)
	}
	u.Shows(`sent 2 lines of "grep -r xxx`)
	u.Press("ctrl+space }", "ctrl+space }")

	sh.Begin("sleep 100")
	sh.Print("one\r\ntw")
	u.Press("ctrl+space y")
	u.Shows(`sent 2 lines of "sleep 100" to the terminal's clipboard; th`)
	if got := copied(t, u); got != "one\ntw" {
		t.Errorf("copied %q", got)
	}
	sh.Print("\r\n")
	sh.End(0, 1)
	sh.Run("true", "", 0)
	u.Press("ctrl+space y")
	u.Shows(`"true" printed nothing`)
	sh.Run("clear", "\x1b[H\x1b[2J", 0)
	u.Press("ctrl+space y")
	u.Shows(`the output of "clear" can't be copied: its output was cleared`)
	sh.Run("wide", strings.Repeat("ab ", 60)+"日本\r\n", 0)
	u.Press("ctrl+space y")
	if got := copied(t, u); got != strings.Repeat("ab ", 60)+"日本" {
		t.Errorf("copied %q", got)
	}
}

// TestOutputLongerThanHistory: what is left is copied, and said to be a part.
func TestOutputLongerThanHistory(t *testing.T) {
	u := New(t, Options{})
	sh := u.Host.Terminal(u.Host.Terminals()[0])
	sh.Run("before", "x\r\n", 0)
	sh.Run("flood", numbers(12000), 0)
	u.Press("ctrl+space y")
	u.Shows(`sent the last `, ` lines of "flood"`)
	if got := copied(t, u); !strings.HasSuffix(got, "\nline 12000") || strings.Count(got, "\n") < 9000 {
		t.Errorf("copied %d lines that end with %q", strings.Count(got, "\n")+1, got[max(0, len(got)-20):])
	}
}

// TestCommandsSurviveReflowAndReconnect: places and outputs are the same after
// the pane has changed its width, and after a new snapshot.
func TestCommandsSurviveReflowAndReconnect(t *testing.T) {
	u, sh := commanded(t, 80, 24)
	check := func(when string) {
		t.Helper()
		u.Press("ctrl+space {", "ctrl+space {", "ctrl+space y")
		if got := copied(t, u); got != "a: x\nb: x" {
			t.Errorf("%s: copied %q", when, got)
		}
		if got := u.Row(0); !strings.HasPrefix(got, "$ grep -r xxx") {
			t.Errorf("%s: the top row is %q", when, got)
		}
		u.Press("ctrl+space }", "ctrl+space }", "ctrl+space y")
		u.Shows(`sent 50 lines of "seq 1 50"`)
	}
	check("at first")
	u.Resize(50, 24)
	check("narrower")
	u.Resize(80, 24)
	check("wide again")
	sh.Begin("running")
	u.Host.Reconnect(nil)
	u.WaitIdle()
	sh.Print("more\r\n")
	sh.End(3, 5)
	u.Press("ctrl+space y")
	if got := copied(t, u); got != "more" {
		t.Errorf("of a command that ran during a reconnect, copied %q", got)
	}
	u.Advance(10 * time.Second)
	u.Shows(" exit 3 5ms ")
}

// TestLastCommandShows: the status line and the headers say how the last command
// did.
func TestLastCommandShows(t *testing.T) {
	u, sh := commanded(t, 80, 24)
	u.Shows(" ok 1.2s  ~")
	sh.Begin("make test")
	u.WaitIdle()
	u.Shows(" running  ~")
	sh.End(2, 754000)
	u.WaitIdle()
	u.Shows(" exit 2 12m34s  ~")
	u.Press("ctrl+space |")
	u.GoldenStyled("last-command")
	sh.Begin("x")
	sh.End(-1, 65)
	u.WaitIdle()
	u.Shows(" done 65ms ")
	u.Resize(40, 12)
	u.Golden("last-command-small")
}

// TestCommandsWithoutDetection: the commands say why they can't run.
func TestCommandsWithoutDetection(t *testing.T) {
	u := New(t, Options{})
	sh := u.Host.Terminal(u.Host.Terminals()[0])
	u.Press("ctrl+space {")
	u.Shows("Previous command: this shell does not mark its commands")
	u.Press("ctrl+space y")
	u.Shows("this shell does not mark its commands")
	sh.Detect()
	u.Press("ctrl+space y")
	u.Shows("no command has run here yet")
	sh.Begin("vim")
	sh.Print("\x1b[?1049h")
	u.Press("ctrl+space y")
	u.Shows("the program here shows its own screen")
}

// TestOutputWithoutLineEnd: what zsh and fish print to get to a new line belongs
// to no command.
func TestOutputWithoutLineEnd(t *testing.T) {
	u := New(t, Options{})
	sh := u.Host.Terminal(u.Host.Terminals()[0])
	sh.Prompt = "%" + strings.Repeat(" ", 79) + "\r \r$ "
	sh.Run("printf abc", "abc", 0)
	sh.Run("seq 1 50", numbers(50), 0)
	u.Press("ctrl+space {")
	if got := u.Row(0); !strings.HasPrefix(got, "$ seq 1 50") {
		t.Errorf("the top row is %q", got)
	}
	u.Press("{", "ctrl+space y")
	if got := copied(t, u); got != "abc" {
		t.Errorf("copied %q", got)
	}
}

// TestCommandOfSeveralLines: the first line of what was typed is the command's.
func TestCommandOfSeveralLines(t *testing.T) {
	u := New(t, Options{})
	sh := u.Host.Terminal(u.Host.Terminals()[0])
	sh.Run("for i in 1 2\ndo echo $i\ndone", "1\r\n2\r\n", 0)
	sh.Run("seq 1 50", numbers(50), 0)
	u.Press("ctrl+space {", "ctrl+space {")
	u.Press("ctrl+space y")
	u.Shows(`sent 2 lines of "for i in 1 2…"`)
}
