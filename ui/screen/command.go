package screen

import (
	"fmt"
	"time"

	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/pane"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// LastCommand says how the newest command of a terminal did, in full and in
// short, and how that is drawn; "" where none is known. Of one that runs it says
// for how long, unless it shows a screen of its own.
func (sc *Screen) LastCommand(t *terminals.Terminal) (text, short string, style look.Style) {
	l := &sc.outer.Look
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
			if d := running(sc.loop, c); d != "" {
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
	return short + " " + words.Lasted(c.Duration), short, style
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
	return words.Lasted(d)
}
