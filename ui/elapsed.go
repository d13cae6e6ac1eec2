package ui

import (
	"fmt"
	"time"

	"tandemux/ahp"
	"tandemux/ui/loop"
	"tandemux/ui/pane"
)

// elapsed is how long commands have run that show. A timer runs only while one
// does, once a second at most and once a minute after coarseTime.
type elapsed struct {
	due     time.Duration // until what was drawn last changes, 0 for never
	ticking bool
	skew    time.Duration // by how much this clock is ahead of the host's
	known   bool
}

// coarseTime is from when on a running time is told in minutes.
const coarseTime = 10 * time.Minute

// began learns from a command that begins now how the host's clock stands.
func (m *Model) began(a ahp.TerminalCommandExecuted) {
	if a.Timestamp > 0 {
		m.elapsed.skew, m.elapsed.known = m.env.Now().Sub(time.UnixMilli(a.Timestamp)), true
	}
}

// running says for how long a command has run, "" where that is not known or
// not worth a word, and notes when that changes.
func (m *Model) running(c pane.Command) string {
	if c.Started.IsZero() {
		return ""
	}
	d := max(m.env.Now().Sub(c.Started)-m.elapsed.skew, 0)
	unit := time.Second
	if d >= coarseTime {
		unit = time.Minute
	}
	if wait := unit - d%unit; m.elapsed.due == 0 || wait < m.elapsed.due {
		m.elapsed.due = wait
	}
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

// tick draws the times again when they change. It is called after drawing.
func (m *Model) tick() {
	e := &m.elapsed
	if e.due == 0 || e.ticking {
		return
	}
	e.ticking = true
	m.loop.After(e.due, func() {
		m.elapsed.ticking, m.elapsed.due = false, 0
		m.loop.Dirty |= loop.Chrome
	})
}
