package ui

import (
	"cmp"
	"strconv"
	"strings"

	"tandemux/ahp"
	"tandemux/ui/command"
	"tandemux/ui/look"
	"tandemux/ui/words"
)

// badge says who holds a terminal and what for, and how that is drawn.
func (m *Model) badge(t *terminal) (string, look.Style) {
	l := &m.outer.Look
	if t == nil {
		return "", l.Other
	}
	if t.exited() {
		return exitText(t), exitStyle(t, l)
	}
	switch holder := m.terms.holder(t); holder {
	case command.Me, command.MyOther:
		return m.ownBadge(t, holder == command.MyOther)
	case command.Other:
		return "held by " + personName(t), l.Other
	case command.Agent:
		return sessionName(t) + ": " + callName(t), l.Agent
	case command.Background:
		return sessionName(t) + ", background", l.Background
	}
	return "", l.Other
}

// ownBadge tells of one of this person's terminals what isn't plain: nothing of one
// that is on this screen and typed into here. other says that another client holds
// it.
func (m *Model) ownBadge(t *terminal, other bool) (string, look.Style) {
	l := &m.outer.Look
	_, shown := m.doc.shown.Showing(t.uri)
	detached := t.info.Meta != nil && t.info.Meta.Detached
	switch {
	case !shown && len(t.layouts()) == 0:
		return "background", l.Background
	case other && !detached:
		return "my other client", l.Other
	case other && !shown:
		return "detached", l.Background
	}
	return "", l.Mine
}

func exitText(t *terminal) string {
	if code := t.info.Lifecycle.ExitCode; code != nil {
		return "exited " + strconv.Itoa(*code)
	}
	if t.info.Meta != nil && t.info.Meta.Signal != "" {
		return "killed by " + words.Clean(t.info.Meta.Signal)
	}
	return "exited"
}

func exitStyle(t *terminal, l *look.Look) look.Style {
	if code := t.info.Lifecycle.ExitCode; code != nil && *code == 0 {
		return l.Exited
	}
	return l.Fail
}

// sessionName is a short name of the session that holds a terminal: its agent's,
// or that of the program that drives it, or the end of its address.
func sessionName(t *terminal) string {
	if meta := t.info.Meta; meta != nil {
		if name := words.Clean(cmp.Or(meta.Agent, meta.Holder)); name != "" {
			return name
		}
	}
	return shortSession(t.info.Claim.Session)
}

// shortSession names a session by the end of its address: "ahp-session:/claude-1"
// is "claude-1".
func shortSession(uri ahp.URI) string {
	if i := strings.LastIndexAny(uri, "/:"); i >= 0 {
		uri = uri[i+1:]
	}
	if uri = words.Clean(uri); uri == "" {
		return "agent"
	}
	return uri
}

// personName names another person, or their program, that holds a terminal.
func personName(t *terminal) string {
	meta := t.info.Meta
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

// callName says what a session that holds a terminal is doing: the command that
// runs, or the tool call by its name; ids mean nothing to people.
func callName(t *terminal) string {
	if line := runningLine(t); line != "" {
		return line
	}
	if id := words.Clean(t.info.Claim.ToolCallID); id != "" && !opaque(id) {
		return id
	}
	return "a tool call"
}

// runningLine is the first line of the command that runs in a terminal, "" for
// none that is known.
func runningLine(t *terminal) string {
	if t.info.Meta == nil || t.info.Meta.LastCommand == nil || !t.info.Meta.LastCommand.Running {
		return ""
	}
	line, _, more := strings.Cut(t.info.Meta.LastCommand.CommandLine, "\n")
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
