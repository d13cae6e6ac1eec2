package terminals

import (
	"cmp"
	"strconv"
	"strings"

	"tandemux/ahp"
	"tandemux/ui/command"
	"tandemux/ui/look"
	"tandemux/ui/words"
)

// Badge says who holds a terminal and what for, and how that is drawn. shown says
// whether the layout on the screen has it.
func (ts *List) Badge(t *Terminal, shown bool, l *look.Look) (string, look.Style) {
	if t == nil {
		return "", l.Other
	}
	if t.Exited() {
		return t.ExitText(), exitStyle(t, l)
	}
	switch holder := ts.Holder(t); holder {
	case command.Me, command.MyOther:
		return t.ownBadge(holder == command.MyOther, shown, l)
	case command.Other:
		return "held by " + t.PersonName(), l.Other
	case command.Agent:
		return t.AgentName() + ": " + t.Doing(), l.Agent
	case command.Background:
		return t.AgentName() + ", background", l.Background
	}
	return "", l.Other
}

// ownBadge tells of one of this person's terminals what isn't plain: nothing of one
// that is on this screen and typed into here. other says that another client holds
// it.
func (t *Terminal) ownBadge(other, shown bool, l *look.Look) (string, look.Style) {
	detached := t.Info.Meta != nil && t.Info.Meta.Detached
	switch {
	case !shown && len(t.Layouts()) == 0:
		return "background", l.Background
	case other && !detached:
		return "my other client", l.Other
	case other && !shown:
		return "detached", l.Background
	}
	return "", l.Mine
}

// ExitText says how its program ended.
func (t *Terminal) ExitText() string {
	if code := t.Info.Lifecycle.ExitCode; code != nil {
		return "exited " + strconv.Itoa(*code)
	}
	if t.Info.Meta != nil && t.Info.Meta.Signal != "" {
		return "killed by " + words.Clean(t.Info.Meta.Signal)
	}
	return "exited"
}

func exitStyle(t *Terminal, l *look.Look) look.Style {
	if code := t.Info.Lifecycle.ExitCode; code != nil && *code == 0 {
		return l.Exited
	}
	return l.Fail
}

// AgentName is a short name of the session that holds a terminal: its agent's,
// or that of the program that drives it, or the end of its address.
func (t *Terminal) AgentName() string {
	if meta := t.Info.Meta; meta != nil {
		if name := words.Clean(cmp.Or(meta.Agent, meta.Holder)); name != "" {
			return name
		}
	}
	return ShortName(t.Info.Claim.Session)
}

// ShortName names a session by the end of its address: "ahp-session:/claude-1"
// is "claude-1".
func ShortName(uri ahp.URI) string {
	if i := strings.LastIndexAny(uri, "/:"); i >= 0 {
		uri = uri[i+1:]
	}
	if uri = words.Clean(uri); uri == "" {
		return "agent"
	}
	return uri
}

// PersonName names another person, or their program, that holds a terminal.
func (t *Terminal) PersonName() string {
	meta := t.Info.Meta
	switch {
	case meta == nil:
		return "somebody"
	case meta.Holder != "":
		return words.Clean(meta.Holder)
	case meta.Principal == "operator":
		return "the owner"
	}
	if id, ok := strings.CutPrefix(meta.Principal, "token:"); ok {
		return "token " + words.Clean(id)
	}
	return words.Clean(meta.Principal)
}

// Doing says what a session that holds a terminal is doing: the command that
// runs, or the tool call by its name; ids mean nothing to people.
func (t *Terminal) Doing() string {
	if line := t.RunningLine(); line != "" {
		return line
	}
	if id := words.Clean(t.Info.Claim.ToolCallID); id != "" && !opaque(id) {
		return id
	}
	return "a tool call"
}

// RunningLine is the first line of the command that runs in a terminal, "" for
// none that is known.
func (t *Terminal) RunningLine() string {
	if t.Info.Meta == nil || t.Info.Meta.LastCommand == nil || !t.Info.Meta.LastCommand.Running {
		return ""
	}
	line, _, more := strings.Cut(t.Info.Meta.LastCommand.CommandLine, "\n")
	if line = words.Clean(line); more {
		line += " …"
	}
	return line
}

// opaque reports whether a name is one that a program made for itself.
func opaque(id string) bool {
	for _, prefix := range [...]string{"toolu_", "call_", "tool_", "tc_", "fc_"} {
		if strings.HasPrefix(id, prefix) {
			return true
		}
	}
	digits := strings.IndexFunc(id, func(r rune) bool { return r >= '0' && r <= '9' }) >= 0
	return digits && len(id) >= 16 && !strings.Contains(id, " ")
}
