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

// titleDelay is how long a command must run to become the terminal's title, so that short
// commands make no tab flicker. It is also the least time between two looks at the
// foreground process.
const titleDelay = 250 * time.Millisecond

// After a look at the foreground process another follows after titleAgain times
// titleDelay: some programs print nothing when they start.
const titleAgain = 8

// titling is what is known of a terminal's title. screen guards it.
//
// A terminal without a name given by a client has the title that the running program sets
// (OSC 0 and 2), else the running program's name, else the directory in which the shell
// waits. A title that a shell sets for its prompt doesn't count, and a program's title
// counts until the program ends.
//
// The shell's marks tell which program runs. Without marks, or if the command line doesn't
// tell, it is the foreground process, which is looked at a moment after output. While
// nothing is printed, no timer runs.
type titling struct {
	program string // title that the running program has set
	process string // name of the foreground process
	settled bool   // the running command has run for titleDelay
	shown   string // the title that viewers were told last
	armed   bool   // timer runs
	again   bool   // timer runs for titleAgain times titleDelay
	timer   *time.Timer
}

// Title is the terminal's title, for when no client gave it a name.
func (t *Terminal) Title() string {
	t.screen.Lock()
	defer t.screen.Unlock()
	return t.titles.shown
}

// setTitle handles a title in the output. The caller holds screen.
func (t *Terminal) setTitle(title string) {
	if t.promptSets() || title == t.titles.program {
		return
	}
	t.titles.program = title
	t.learnt.Store(true)
	t.retitle()
}

// promptSets reports whether the shell writes at present, and not a program in it.
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
		return // the command is the terminal's only one
	}
	t.titles.program, t.titles.process, t.titles.settled = "", "", false
	t.titles.timer.Stop()
	t.titles.armed = false
	t.retitle()
}

// lookSoon is called after output. It schedules a look at the foreground process if only
// that tells what runs. The caller holds screen.
func (t *Terminal) lookSoon() {
	if t.looks() && (!t.titles.armed || t.titles.again) {
		t.titles.again = false
		t.titles.lookAfter(t.cfg.delays.title)
	}
}

// looks reports whether only the foreground process tells what runs.
func (t *Terminal) looks() bool { return !t.cmds.available && t.cfg.Command == "" }

func (n *titling) lookAfter(d time.Duration) {
	n.armed = true
	n.timer.Reset(d)
}

// look is called by the timer.
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

// retitle tells viewers the title if it has changed. The caller holds screen, and
// publishes.
func (t *Terminal) retitle() {
	if now := t.titles.title(&t.cfg, &t.cmds, t.cwd); now != t.titles.shown {
		t.titles.shown = now
		t.push(ahp.TerminalTitleChanged{Title: now})
	}
}

// title is the present title.
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

// first is the first of names that is not blank.
func first(names ...string) string {
	for _, name := range names {
		if strings.TrimSpace(name) != "" {
			return name
		}
	}
	return ""
}

// shortDir is the short name of a directory, given as a file URI: "~", "~/app", else its
// last component.
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

// processName is the name of a process, "" without /proc.
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

// localDir is the file URI without a host of a directory that a shell reported with host,
// which may be "". ok is false when that is another host, as of a shell over ssh
// (docs/from-tmux.md).
func localDir(dir, host, hostname string) (uri string, ok bool) {
	if host != "" && !strings.EqualFold(host, "localhost") && !sameHost(host, hostname) {
		return "", false
	}
	return fileuri.Of(path.Clean(dir)), true
}

// sameHost compares host names; only one of them may have its domain.
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
