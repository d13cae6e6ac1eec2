package terminal

import (
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"tandemux/ahp"
)

// titles are those that actions tell.
func titles(actions []ahp.Action) []string {
	var all []string
	for _, a := range actions {
		if a, ok := a.(ahp.TerminalTitleChanged); ok {
			all = append(all, a.Title)
		}
	}
	return all
}

// A shell's terminal is called by what runs in it, else by its directory; what
// the shell sets at its prompt is no title, and what a program sets is one until
// it ends.
func TestTitleOfShell(t *testing.T) {
	t.Parallel()
	const prompt = "\x1b]0;me@box: ~/app\a$ "
	term := fed(t, func(c *Config) { c.Title, c.Home, c.Dir = "bash", "/home/me", "file:///home/me" })
	told := func(doing string, want ...string) {
		t.Helper()
		if got := titles(taken(term)); !slices.Equal(got, want) {
			t.Errorf("%s: titles %q, want %q", doing, got, want)
		}
	}
	long := func() { // titleDelay passes
		term.look()
	}
	told("at first")
	if got := term.Title(); got != "bash" {
		t.Errorf("at first it is %q", got)
	}
	term.give(own("A") + prompt + own("B"))
	told("a prompt", "~")
	term.give(own("P;Cwd=/home/me/app"))
	told("a directory", "~/app")
	term.give(own("P;Cwd=/srv/www/site"))
	told("a directory elsewhere", "site")
	term.give("\r\n" + own("E;ls") + own("C;1") + "\x1b]0;ls site\aone\r\n" + own("D;0") + own("A") + prompt + own("B"))
	told("a short command")
	term.give("\r\n" + own("E;sudo htop -d 5") + own("C;2"))
	told("a command begins")
	long()
	told("a command runs", "htop")
	term.give(own("D;0") + own("A") + prompt + own("B"))
	told("a command ends", "site")
	term.give("\r\n" + own("E;vim a") + own("C;3") + "\x1b[22;2t\x1b]2;a + (~) - VIM\a")
	told("a program sets a title at once")
	long()
	told("a program has set a title", "a + (~) - VIM")
	term.give("\x1b]2;b (~) - VIM\a")
	told("it sets another", "b (~) - VIM")
	term.give("\x1b]2;\a")
	told("it takes it back", "vim")
	term.give("\x1b]2;left behind\a" + own("D;0") + own("A") + prompt + own("B"))
	told("it ends", "left behind", "site")
}

// One that was started with a command is called by that, and what the command
// sets counts, also when it has ended.
func TestTitleOfCommand(t *testing.T) {
	t.Parallel()
	term := fed(t, func(c *Config) { c.Title, c.Command = "make", "make -j4" })
	term.look()
	if got := titles(taken(term)); got != nil || term.Title() != "make" {
		t.Errorf("at first: %q, told %q", term.Title(), got)
	}
	term.give("\x1b]0;42 %\a")
	term.screen.Lock()
	term.finished(code(0))
	term.screen.Unlock()
	if term.Title() != "42 %" {
		t.Errorf("after its end: %q", term.Title())
	}
}

// Of a shell without marks the process in the foreground tells what runs, and
// nothing is done while nothing happens.
func TestTitleByProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	sh, err := exec.LookPath("dash")
	if err != nil {
		t.Skip("no dash")
	}
	h := startArgv(t, []string{sh, "-i"}, startOptions{config: func(c *Config) { c.Title, c.delays.title = "sh", 5*time.Millisecond }})
	called := func(want string) {
		t.Helper()
		h.await("the title "+want, func() bool {
			all := titles(h.actions)
			return len(all) > 0 && all[len(all)-1] == want
		})
	}
	called("dash")
	h.input("cat\n\n") // it answers, and then it is looked at
	called("cat")
	h.input("\x04sh -c 'printf \"\\033]0;mine\\007\"; exec cat'\n\n")
	called("mine")
	h.input("\x04echo a''gain\n")
	h.see("again")
	called("dash")
	armed := func() bool {
		h.term.screen.Lock()
		defer h.term.screen.Unlock()
		return h.term.titles.armed
	}
	for end := time.Now().Add(10 * time.Second); armed(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("an idle terminal is looked at again and again")
		}
	}
}

// What a shell without marks sets itself is no title.
func TestTitleOfPrompt(t *testing.T) {
	t.Parallel()
	h := startArgv(t, []string{"sh", "-i"}, startOptions{config: func(c *Config) { c.Title = "sh" }})
	h.input("printf '\\033]0;prompt\\007don''e\\n'\n")
	h.see("done\r\n")
	if got := h.term.Title(); got != "sh" {
		t.Errorf("the title is %q", got)
	}
}
