package ui

import (
	"strconv"
	"strings"

	"cotty/ui/command"
	"cotty/ui/look"
)

// badge says who holds a terminal and what for, and how that is drawn.
func (m *Model) badge(t *terminal) (string, look.Style) {
	l := &m.outer.look
	if t == nil {
		return "", l.Other
	}
	if t.exited() {
		return exitText(t), exitStyle(t, l)
	}
	switch m.terms.holder(t) {
	case command.Me:
		if _, shown := m.doc.shown.Showing(t.uri); !shown {
			return "background", l.Background
		}
		return "mine", l.Mine
	case command.MyOther:
		if t.info.Meta != nil && len(t.info.Meta.Layouts) == 0 {
			if _, shown := m.doc.shown.Showing(t.uri); !shown {
				return "background", l.Background
			}
		}
		return "my other client", l.Other
	case command.Other:
		return "held by " + clean(t.info.Meta.Principal), l.Other
	case command.Agent:
		return sessionName(t) + ": " + callName(t), l.Agent
	case command.Background:
		return sessionName(t) + ", background", l.Background
	}
	return "", l.Other
}

func exitText(t *terminal) string {
	if code := t.info.Lifecycle.ExitCode; code != nil {
		return "exited " + strconv.Itoa(*code)
	}
	if t.info.Meta != nil && t.info.Meta.Signal != "" {
		return "killed by " + clean(t.info.Meta.Signal)
	}
	return "exited"
}

func exitStyle(t *terminal, l *look.Look) look.Style {
	if code := t.info.Lifecycle.ExitCode; code != nil && *code == 0 {
		return l.Exited
	}
	return l.Fail
}

// sessionName is a short name of the session that holds a terminal:
// "ahp-session:/claude-1" is "claude-1".
func sessionName(t *terminal) string {
	name := t.info.Claim.Session
	if i := strings.LastIndexAny(name, "/:"); i >= 0 {
		name = name[i+1:]
	}
	if name = clean(name); name == "" {
		return "agent"
	}
	return name
}

// callName says what a session that holds a terminal is doing.
func callName(t *terminal) string {
	if id := clean(t.info.Claim.ToolCallID); id != "" {
		return id
	}
	return "running"
}
