package terminal

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"strings"
	"time"
	"unicode"

	"tandemux/ahp"
	"tandemux/host/shell"
	"tandemux/internal/fileuri"
	"tandemux/internal/plaintext"
)

// titleDelay is how long a command must run to become the terminal's title, and
// the least time between two looks at the process in the foreground: what ends
// at once makes no tab flicker.
const titleDelay = 250 * time.Millisecond

// titleAgain times titleDelay after a look the process in the foreground is looked
// at once more: some programs are silent when they start.
const titleAgain = 8

// titling is what is known of a terminal's title. Guarded by screen.
//
// The title is, where nobody has given the terminal a name: the one that the
// running program sets (OSC 0 and 2); else the running program's name; else the
// directory in which the shell waits. A title that a shell sets for its prompt
// doesn't count, and a program's counts until the program ends.
//
// Which program runs is told by the shell's marks. Of a shell without marks, and
// where the command line doesn't tell, it is the process in the foreground, which
// is looked at a moment after output: while nothing happens nothing is done.
type titling struct {
	program string // set by the program that runs
	process string // name of the process in the foreground
	settled bool   // the running command has run for titleDelay
	shown   string // as told last
	armed   bool   // timer runs
	again   bool   // it does so for titleAgain times as long
	timer   *time.Timer
}

// Title is what the terminal is called unless somebody gave it a name.
func (t *Terminal) Title() string {
	t.screen.Lock()
	defer t.screen.Unlock()
	return t.titles.shown
}

// setTitle takes a title that the output sets. The caller holds screen.
func (t *Terminal) setTitle(title string) {
	if t.promptSets() || title == t.titles.program {
		return
	}
	t.titles.program = title
	t.learnt.Store(true)
	t.retitle()
}

// promptSets reports whether the shell, not a program in it, writes at present.
func (t *Terminal) promptSets() bool {
	switch {
	case t.cfg.Command != "":
		return false
	case t.cmds.available:
		return t.cmds.running == nil
	}
	return t.Foreground() == t.cfg.Process.Pid
}

// titleEnds is called when the shell's command has ended.
func (t *Terminal) titleEnds() {
	if t.cfg.Command != "" {
		return // It is what the terminal was made for.
	}
	t.titles.program, t.titles.process, t.titles.settled = "", "", false
	t.titles.timer.Stop()
	t.titles.armed = false
	t.retitle()
}

// lookSoon has the process in the foreground looked at if only that tells what
// runs. The caller holds screen, after output.
func (t *Terminal) lookSoon() {
	if t.looks() && (!t.titles.armed || t.titles.again) {
		t.titles.again = false
		t.titles.lookAfter(t.cfg.delays.title)
	}
}

// looks reports whether only the process in the foreground tells what runs.
func (t *Terminal) looks() bool { return !t.cmds.available && t.cfg.Command == "" }

func (n *titling) lookAfter(d time.Duration) {
	n.armed = true
	n.timer.Reset(d)
}

// look is the timer's.
func (t *Terminal) look() {
	t.screen.Lock()
	t.titles.armed = false
	if !t.closed.Load() {
		t.settleTitle()
		t.retitle()
		if t.titles.again = t.looks() && !t.titles.again; t.titles.again {
			t.titles.lookAfter(titleAgain * t.cfg.delays.title)
		}
	}
	handOn(t)
}

// settleTitle finds out what runs. The caller holds screen.
func (t *Terminal) settleTitle() {
	cmd := t.cmds.running
	switch {
	case t.cfg.Command != "":
		return
	case t.cmds.available && cmd == nil:
		return
	case t.cmds.available:
		t.titles.settled = true
		if shell.Program(cmd.info.CommandLine) == "" {
			t.titles.process = processName(t.Foreground())
		}
	default:
		group := t.Foreground()
		if t.titles.process = processName(group); group == t.cfg.Process.Pid && t.titles.program != "" {
			t.titles.program = ""
			t.learnt.Store(true)
		}
	}
}

// retitle tells the title if it has changed. The caller holds screen, and
// publishes.
func (t *Terminal) retitle() {
	if now := t.titles.title(&t.cfg, &t.cmds, t.cwd); now != t.titles.shown {
		t.titles.shown = now
		t.push(ahp.TerminalTitleChanged{Title: now})
	}
}

// title is the title as of now.
func (n *titling) title(c *Config, cmds *commands, cwd string) string {
	switch {
	case c.Command != "":
		return first(n.program, c.Title)
	case !cmds.available:
		return first(n.program, n.process, c.Title)
	case cmds.running != nil && n.settled:
		line := cmds.running.info.CommandLine
		return first(n.program, shell.Program(line), n.process, shell.FirstProgram(line), c.Title)
	case cmds.running != nil:
		return first(n.shown, c.Title)
	}
	return first(shortDir(cwd, c.Home), c.Title)
}

// first is the first of names with something to see in it.
func first(names ...string) string {
	for _, name := range names {
		if strings.TrimSpace(name) != "" {
			return name
		}
	}
	return ""
}

// shortDir names a directory, given as a file URI: "~", "~/app", else its last
// part.
func shortDir(uri, home string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Path == "" {
		return ""
	}
	dir := path.Clean(u.Path)
	home = path.Clean(home)
	switch {
	case home == "." || home == "/":
	case dir == home:
		return "~"
	case path.Dir(dir) == home:
		return "~/" + path.Base(dir)
	}
	return path.Base(dir)
}

// processName is the name of a process, "" where the system doesn't say: that
// takes /proc.
func processName(pid int) string {
	if pid <= 0 {
		return ""
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return plaintext.Without(strings.ToValidUTF8(strings.TrimSpace(string(b)), ""), func(r rune) bool { return !unicode.IsPrint(r) })
}

// localDir makes a file URI without a host of the directory that a shell
// reported with a host's name, "" when it gave none. It is false when that is
// another host, as a shell behind ssh names it (docs/from-tmux.md).
func localDir(dir, host, hostname string) (uri string, ok bool) {
	if host != "" && !strings.EqualFold(host, "localhost") && !sameHost(host, hostname) {
		return "", false
	}
	return fileuri.Of(path.Clean(dir)), true
}

// sameHost compares host names; one may have its domain and the other not.
func sameHost(a, b string) bool {
	if b == "" {
		return false
	}
	if strings.EqualFold(a, b) {
		return true
	}
	short := func(s string) string { s, _, _ = strings.Cut(s, "."); return s }
	bare := !strings.Contains(a, ".") || !strings.Contains(b, ".")
	return bare && strings.EqualFold(short(a), short(b))
}
