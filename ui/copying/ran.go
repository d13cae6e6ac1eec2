package copying

import (
	"context"
	"fmt"
	"strings"

	"tandemux/ahp"
	"tandemux/ui/clipboard"
	"tandemux/ui/look"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// PaneEnv returns the Program.Env of a program that is started at the focused pane: variables
// about that pane. TANDEMUX_PANE is its terminal.
func (cp *Copying) PaneEnv() func() (map[string]string, func(), error) {
	_, t, v := cp.panes.Focused()
	if t == nil {
		return nil
	}
	env, text := map[string]string{"TANDEMUX_PANE": t.URI}, ""
	if v != nil {
		text = v.SelectedText()
		if c, _, ok := v.Feed.LastCommand(); ok {
			env["TANDEMUX_PANE_COMMAND"] = c.Line
		}
	}
	return func() (map[string]string, func(), error) {
		if text == "" || cp.desk == nil {
			return env, nil, nil
		}
		path, back, err := cp.desk.Lend(text)
		env["TANDEMUX_PANE_SELECTION"] = path
		return env, back, err
	}
}

// shellActions is the commands about what a terminal's shell has run.
var shellActions = map[string]action{
	"previous-command": onView(func(_ *Copying, v *pane.View, n int) { goCommand(v, false, n) }),
	"next-command":     onView(func(_ *Copying, v *pane.View, n int) { goCommand(v, true, n) }),
	"commands":         onView(func(cp *Copying, v *pane.View, _ int) { cp.openCommands(v) }),
	"copy-output": onView(func(cp *Copying, v *pane.View, _ int) {
		o, err := v.CommandOutput("")
		cp.copyOutput(o, err)
	}),
	"copy-command-line": onView(func(cp *Copying, v *pane.View, _ int) {
		c, err := v.Chosen()
		cp.copyLine(c, err)
	}),
	"select-output": onView(func(cp *Copying, v *pane.View, _ int) {
		if c, err := v.SelectOutput(); err != nil {
			cp.loop.Say(status.Info, "the output of %s can't be selected: %v", cp.quoted(c), err)
		}
	}),
	"fold-output": onView(func(cp *Copying, v *pane.View, _ int) {
		c, folded, n, err := v.Fold()
		switch {
		case err != nil:
			cp.loop.Say(status.Info, "the output of %s can't be folded: %v", cp.quoted(c), err)
		case folded:
			cp.loop.Brief("folded %s of %s", words.Plural(n, "line"), cp.quoted(c))
		}
	}),
	"fold-all": onView(func(cp *Copying, v *pane.View, _ int) {
		if v.FoldAll(true) == 0 {
			cp.loop.Say(status.Info, "there is no output to fold")
		}
	}),
	"unfold-all": onView(func(_ *Copying, v *pane.View, _ int) { v.FoldAll(false) }),
	"run-again": onView(func(cp *Copying, v *pane.View, _ int) {
		c, err := v.Chosen()
		cp.runAgain(c, err)
	}),
}

// quoted is a command line as messages show it.
func (cp *Copying) quoted(c pane.Command) string {
	if strings.TrimSpace(c.Line) == "" {
		return "the command"
	}
	line, _, more := strings.Cut(c.Line, "\n")
	if line = words.Clean(line); more {
		line += cp.outer.Look.Ellipsis
	}
	return fmt.Sprintf("%q", paint.Cut(line, maxQuoted, cp.outer.Look.Ellipsis))
}

func (cp *Copying) copyLine(c pane.Command, err error) {
	switch {
	case c.Line == "" && err != nil:
		cp.loop.Say(status.Info, "nothing to copy: %v", err)
	case c.Line == "":
		cp.loop.Say(status.Info, "the shell did not tell the command's line")
	case c.Cut:
		cp.loop.Say(status.Info, "too long to be kept: %s", cp.quoted(c))
	default:
		cp.clip.Copy(clipboard.Copied{Text: c.Line, What: "the line " + cp.quoted(c)})
	}
}

// runAgain types a command line at the prompt and runs it. The host refuses if no prompt waits.
func (cp *Copying) runAgain(c pane.Command, err error) {
	_, t, v := cp.panes.Focused()
	switch {
	case err != nil && c.Line == "":
		cp.loop.Say(status.Info, "nothing to run again: %v", err)
	case t == nil || v == nil:
	case c.Line == "":
		cp.loop.Say(status.Info, "the shell did not tell the command's line")
	case c.Cut:
		cp.loop.Say(status.Info, "too long to be run again: %s", cp.quoted(c))
	case cp.may(t):
		if !v.Copying() {
			v.Follow()
		}
		p := ahp.RunParams{Channel: t.URI, Line: c.Line, Typed: true}
		cp.loop.Async("run "+cp.quoted(c)+" again", func(ctx context.Context) (func(), error) {
			err := cp.link.Host.Call(ctx, ahp.MethodRun, p, nil)
			return func() {
				if err != nil {
					cp.loop.Say(status.Warning, "not run again: %s", refusal(err))
				}
			}, nil
		})
	}
}

// refusal is why the host ran nothing, without the prefixes that all such errors have.
func refusal(err error) string {
	text := err.Error()
	for _, lead := range [...]string{"run: ", "the terminal can't take a command now: "} {
		text = strings.TrimPrefix(text, lead)
	}
	return text
}

// openCommands lists the commands of a terminal, the newest first.
func (cp *Copying) openCommands(v *pane.View) {
	feed, failed := v.Feed, false
	with := func(do func(id string, c pane.Command)) func(string) {
		return func(id string) {
			cp.loop.Close()
			for _, c := range feed.Commands() {
				if c.ID == id {
					do(id, c.Command)
				}
			}
		}
	}
	show := with(func(id string, c pane.Command) {
		if err := v.GoTo(id); err != nil {
			cp.loop.Say(status.Info, "%s can't be shown: %v", cp.quoted(c), err)
		}
	})
	list := &overlay.List{Source: overlay.Source{
		Title: "Commands", None: "no command has run here yet", Width: 110,
		Columns: []overlay.Column{{Most: 1}, {Fills: true, Least: 20}, {Least: 8, Right: true, Muted: true}},
		Rows: func() []overlay.Row {
			var rows []overlay.Row
			for _, c := range feed.Commands() {
				if !failed || c.State() == pane.Failed {
					rows = append(rows, cp.row(&c))
				}
			}
			return rows
		},
		Enter: func(id string) bool { show(id); return true }, EnterKeys: "enter go to",
	}}
	list.Actions = []overlay.Action{
		{Letter: "y", Label: "copy output", Do: with(func(id string, _ pane.Command) { cp.copyOutput(v.CommandOutput(id)) })},
		{Letter: "l", Label: "copy line", Do: with(func(_ string, c pane.Command) { cp.copyLine(c, nil) })},
		{Letter: "r", Label: "run again", Do: with(func(_ string, c pane.Command) { cp.runAgain(c, nil) })},
		{Letter: "f", Label: "failed only", NoRow: true, Do: func(string) {
			if failed = !failed; failed {
				list.Title, list.None = "Commands that failed", "no command has failed"
			} else {
				list.Title, list.None = "Commands", "no command has run here yet"
			}
			list.Home()
		}},
	}
	cp.loop.Open(list)
}

func (cp *Copying) row(c *pane.Listed) overlay.Row {
	l := &cp.outer.Look
	state := c.State()
	mark := map[pane.State]struct {
		glyph rune
		style look.Style
	}{pane.Running: {l.Running, l.MarkRunning}, pane.Passed: {l.Passed, l.MarkPassed}, pane.Failed: {l.Failed, l.Fail}, pane.Ended: {l.Ended, l.Exited}}[state]
	var facts []string
	if state == pane.Failed {
		facts = append(facts, fmt.Sprintf("exit %d", *c.ExitCode))
	}
	if c.Duration >= 0 {
		facts = append(facts, words.Lasted(c.Duration))
	} else if c.Running {
		facts = append(facts, "running")
	}
	if !c.Started.IsZero() {
		facts = append(facts, words.Ago(cp.loop.Since(c.Started)))
	}
	first, _, more := strings.Cut(c.Line, "\n")
	line := overlay.Cell{Text: words.Line(first)}
	if more {
		line.Text += l.Ellipsis
	}
	if strings.TrimSpace(c.Line) == "" {
		line.Text = "(unknown)"
	}
	if c.Gone || line.Text == "(unknown)" {
		line.Style = l.OverlayMuted // its text is gone, so the view can't go to it
	}
	return overlay.Row{Key: c.ID, Filter: c.Line, Cells: []overlay.Cell{{Text: string(mark.glyph), Style: mark.style}, line, {Text: strings.Join(facts, "  ")}}}
}

// copyOutput copies a command's output.
func (cp *Copying) copyOutput(o pane.Output, err error) {
	name := cp.quoted(o.Command)
	switch {
	case err != nil && o.Line == "":
		cp.loop.Say(status.Info, "nothing to copy: %v", err)
	case err != nil:
		cp.loop.Say(status.Info, "the output of %s can't be copied: %v", name, err)
	case o.Text == "" && o.Running:
		cp.loop.Say(status.Info, "%s has printed nothing yet", name)
	case o.Text == "":
		cp.loop.Say(status.Info, "%s printed nothing", name)
	case o.Cut:
		cp.clip.Copy(clipboard.Copied{Text: o.Text, What: "the last " + words.Counted(o.Text) + " of " + name, But: "; the rest is gone"})
	case o.Running:
		cp.clip.Copy(clipboard.Copied{Text: o.Text, What: words.Counted(o.Text) + " of " + name, But: "; the command still runs"})
	default:
		cp.clip.Copy(clipboard.Copied{Text: o.Text, What: words.Counted(o.Text) + " of " + name})
	}
}

// maxQuoted is the width of a command line in a message, in cells.
const maxQuoted = 30
