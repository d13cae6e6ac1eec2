package ui

import (
	"context"
	"fmt"
	"strings"

	"tandemux/ahp"
	"tandemux/ui/clipboard"
	"tandemux/ui/link"
	"tandemux/ui/look"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// shellActions are the commands about what a terminal's shell has run.
var shellActions = map[string]action{
	"previous-command": onView(func(_ *Model, v *pane.View, n int) { goCommand(v, false, n) }),
	"next-command":     onView(func(_ *Model, v *pane.View, n int) { goCommand(v, true, n) }),
	"commands":         onView(func(m *Model, v *pane.View, _ int) { m.openCommands(v) }),
	"copy-output": onView(func(m *Model, v *pane.View, _ int) {
		o, err := v.CommandOutput()
		m.copyOutput(o, err)
	}),
	"copy-command-line": onView(func(m *Model, v *pane.View, _ int) {
		c, err := v.Chosen()
		m.copyLine(c, err)
	}),
	"select-output": onView(func(m *Model, v *pane.View, _ int) {
		if c, err := v.SelectOutput(); err != nil {
			m.loop.Say(status.Info, "the output of %s can't be selected: %v", m.quoted(c), err)
		}
	}),
	"fold-output": onView(func(m *Model, v *pane.View, _ int) {
		c, folded, n, err := v.Fold()
		switch {
		case err != nil:
			m.loop.Say(status.Info, "the output of %s can't be folded: %v", m.quoted(c), err)
		case folded:
			m.loop.Brief("folded %s of %s", words.Plural(n, "line"), m.quoted(c))
		}
	}),
	"fold-all": onView(func(m *Model, v *pane.View, _ int) {
		if v.FoldAll(true) == 0 {
			m.loop.Say(status.Info, "there is no output to fold")
		}
	}),
	"unfold-all": onView(func(_ *Model, v *pane.View, _ int) { v.FoldAll(false) }),
	"record": func(m *Model, args []string) {
		if _, t, _ := m.panes.Focused(); t != nil {
			m.recordings.Toggle(t.URI, t.Exited(), strings.Join(args, " "))
		}
	},
	"run-again": onView(func(m *Model, v *pane.View, _ int) {
		c, err := v.Chosen()
		m.runAgain(c, err)
	}),
}

// quoted names a command in a message.
func (m *Model) quoted(c pane.Command) string {
	if strings.TrimSpace(c.Line) == "" {
		return "the command"
	}
	line, _, more := strings.Cut(c.Line, "\n")
	if line = words.Clean(line); more {
		line += m.outer.Look.Ellipsis
	}
	return fmt.Sprintf("%q", paint.Cut(line, maxQuoted, m.outer.Look.Ellipsis))
}

// copyLine copies a command's line.
func (m *Model) copyLine(c pane.Command, err error) {
	switch {
	case c.Line == "" && err != nil:
		m.loop.Say(status.Info, "nothing to copy: %v", err)
	case c.Line == "":
		m.loop.Say(status.Info, "the shell did not tell the command's line")
	case c.Cut:
		m.loop.Say(status.Info, "too long to be kept: %s", m.quoted(c))
	default:
		m.clip.Copy(clipboard.Copied{Text: c.Line, What: "the line " + m.quoted(c)})
	}
}

// runAgain types a command's line at the prompt and runs it. The host refuses
// where none waits.
func (m *Model) runAgain(c pane.Command, err error) {
	_, t, v := m.panes.Focused()
	switch {
	case err != nil && c.Line == "":
		m.loop.Say(status.Info, "nothing to run again: %v", err)
	case t == nil || v == nil:
	case !m.link.Can(link.CanRun):
		m.loop.Say(status.Info, "this host can't run commands")
	case c.Line == "":
		m.loop.Say(status.Info, "the shell did not tell the command's line")
	case c.Cut:
		m.loop.Say(status.Info, "too long to be run again: %s", m.quoted(c))
	case m.typing.MayType(t):
		if !v.Copying() {
			v.Follow()
		}
		p := ahp.RunParams{Channel: t.URI, Line: c.Line, Typed: true}
		m.loop.Async("run "+m.quoted(c)+" again", func(ctx context.Context) (func(), error) {
			err := m.link.Host.Run(ctx, p)
			return func() {
				if err != nil {
					m.loop.Say(status.Warning, "not run again: %s", refusal(err))
				}
			}, nil
		})
	}
}

// refusal is why the host ran nothing, less what every such answer begins with.
func refusal(err error) string {
	text := err.Error()
	for _, lead := range [...]string{"run: ", "the terminal can't take a command now: "} {
		text = strings.TrimPrefix(text, lead)
	}
	return text
}

// openCommands opens the list of the commands of a terminal.
func (m *Model) openCommands(v *pane.View) {
	feed := v.Feed
	rows := func() []overlay.Ran {
		list := feed.Commands()
		rows := make([]overlay.Ran, len(list))
		for i := range list {
			rows[i] = m.ranRow(&list[i])
		}
		return rows
	}
	with := func(do func(m *Model, id string, c pane.Command)) func(string) {
		return func(id string) {
			m.loop.Close()
			for _, c := range feed.Commands() {
				if c.ID == id {
					do(m, id, c.Command)
				}
			}
		}
	}
	m.loop.Open(overlay.NewCommands(rows, overlay.RanDo{
		Go: with(func(m *Model, id string, c pane.Command) {
			if err := v.GoTo(id); err != nil {
				m.loop.Say(status.Info, "%s can't be shown: %v", m.quoted(c), err)
			}
		}),
		CopyOutput: with(func(m *Model, id string, _ pane.Command) {
			o, err := v.OutputOf(id)
			m.copyOutput(o, err)
		}),
		CopyLine: with(func(m *Model, _ string, c pane.Command) { m.copyLine(c, nil) }),
		Again:    with(func(m *Model, _ string, c pane.Command) { m.runAgain(c, nil) }),
	}))
}

// ranRow is a command's row in the list.
func (m *Model) ranRow(c *pane.Listed) overlay.Ran {
	l := &m.outer.Look
	state := c.State()
	row := overlay.Ran{ID: c.ID, Line: c.Line, Gone: c.Gone, Failed: state == pane.Failed}
	mark := map[pane.State]struct {
		glyph rune
		style look.Style
	}{pane.Running: {l.Running, l.MarkRunning}, pane.Passed: {l.Passed, l.MarkPassed}, pane.Failed: {l.Failed, l.Fail}, pane.Ended: {l.Ended, l.Exited}}[state]
	row.Glyph, row.Style = string(mark.glyph), mark.style
	var facts []string
	if row.Failed {
		facts = append(facts, fmt.Sprintf("exit %d", *c.ExitCode))
	}
	if c.Duration >= 0 {
		facts = append(facts, pane.Lasted(c.Duration))
	} else if c.Running {
		facts = append(facts, "running")
	}
	if !c.Started.IsZero() {
		facts = append(facts, words.Ago(m.loop.Since(c.Started)))
	}
	row.Facts = strings.Join(facts, "  ")
	return row
}
