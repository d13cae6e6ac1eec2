package ui

import (
	"fmt"
	"strings"
	"time"

	"cotty/ui/look"
	"cotty/ui/paint"
	"cotty/ui/pane"
	"cotty/ui/status"
)

// lastCommand says how the newest command of a terminal did, in full and in
// short, and how that is drawn; "" where none is known. It does not change while
// a command runs, so that nothing has to tick.
func (m *Model) lastCommand(t *terminal) (text, short string, style look.Style) {
	l := &m.outer.look
	style = l.Exited
	if t == nil || t.feed == nil || t.exited() {
		return "", "", style
	}
	c, _, ok := t.feed.LastCommand()
	switch {
	case !ok:
		return "", "", style
	case c.Running:
		return "running", "", l.Background
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
	return short + " " + lasted(c.Duration), short, style
}

// lasted writes a duration in at most two units.
func lasted(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// maxQuoted bounds a command line in a message, in cells.
const maxQuoted = 30

// copyOutput copies the output of the last command, or of the one that the view
// was scrolled to.
func (m *Model) copyOutput(v *pane.View) {
	o, err := v.CommandOutput()
	name := "the command"
	if o.Line != "" {
		line, _, more := strings.Cut(o.Line, "\n")
		if line = clean(line); more {
			line += m.outer.look.Ellipsis
		}
		name = fmt.Sprintf("%q", paint.Cut(line, maxQuoted, m.outer.look.Ellipsis))
	}
	switch {
	case err != nil && o.Line == "":
		m.say(status.Info, "nothing to copy: %v", err)
	case err != nil:
		m.say(status.Info, "the output of %s can't be copied: %v", name, err)
	case o.Text == "" && o.Running:
		m.say(status.Info, "%s has printed nothing yet", name)
	case o.Text == "":
		m.say(status.Info, "%s printed nothing", name)
	case !m.keep(o.Text):
		m.say(status.Warning, "copied %s of %s to a paste buffer only: more than the terminal's clipboard takes", counted(o.Text), name)
	case o.Cut:
		m.say(status.Info, "copied the last %s of %s; what came before is gone", counted(o.Text), name)
	case o.Running:
		m.say(status.Info, "copied %s of %s, which still runs", counted(o.Text), name)
	default:
		m.say(status.Info, "copied %s of %s", counted(o.Text), name)
	}
}
