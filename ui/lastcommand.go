package ui

import (
	"fmt"
	"time"

	"tandemux/ui/clipboard"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// lastCommand says how the newest command of a terminal did, in full and in
// short, and how that is drawn; "" where none is known. Of one that runs it says
// for how long, unless it shows a screen of its own.
func (m *Model) lastCommand(t *terminals.Terminal) (text, short string, style look.Style) {
	l := &m.outer.Look
	style = l.Exited
	if t == nil || t.Feed == nil || t.Exited() {
		return "", "", style
	}
	c, _, ok := t.Feed.LastCommand()
	switch {
	case !ok:
		return "", "", style
	case c.Running:
		text, style = "running", l.Background
		if !t.Feed.Modes().AltScreen {
			if d := running(m.loop, c); d != "" {
				return text + " " + d, text, style
			}
		}
		return text, "", style
	}
	short = "done"
	if c.ExitCode != nil {
		if short = "ok"; *c.ExitCode != 0 {
			short, style = fmt.Sprintf("exit %d", *c.ExitCode), l.Fail
		}
	}
	if c.Duration < 0 {
		return short, "", style
	}
	return short + " " + pane.Lasted(c.Duration), short, style
}

// maxQuoted bounds a command line in a message, in cells.
const maxQuoted = 30

// copyOutput copies what a command has printed.
func (m *Model) copyOutput(o pane.Output, err error) {
	name := m.quoted(o.Command)
	switch {
	case err != nil && o.Line == "":
		m.loop.Say(status.Info, "nothing to copy: %v", err)
	case err != nil:
		m.loop.Say(status.Info, "the output of %s can't be copied: %v", name, err)
	case o.Text == "" && o.Running:
		m.loop.Say(status.Info, "%s has printed nothing yet", name)
	case o.Text == "":
		m.loop.Say(status.Info, "%s printed nothing", name)
	case o.Cut:
		m.clip.Copy(clipboard.Copied{Text: o.Text, What: "the last " + words.Counted(o.Text) + " of " + name, But: "; the rest is gone"})
	case o.Running:
		m.clip.Copy(clipboard.Copied{Text: o.Text, What: words.Counted(o.Text) + " of " + name, But: "; the command still runs"})
	default:
		m.clip.Copy(clipboard.Copied{Text: o.Text, What: words.Counted(o.Text) + " of " + name})
	}
}

// coarseTime is from when on a running time is told in minutes.
const coarseTime = 10 * time.Minute

// running says for how long a command has run, "" where that is not known or not
// worth a word.
func running(l *loop.Loop, c pane.Command) string {
	if c.Started.IsZero() {
		return ""
	}
	d, unit := l.Since(c.Started), time.Second
	if d >= coarseTime {
		unit = time.Minute
	}
	l.Counts(d, unit)
	switch {
	case d < time.Second:
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d >= coarseTime && d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return pane.Lasted(d)
}
