package clipboard

import (
	"time"

	"tandemux/ui/status"
	"tandemux/ui/words"
)

// Policy says which programs may set the clipboard by OSC 52: "focused" lets that of the
// focused pane, "ask" asks, "off" lets none.
type Policy = string

const (
	// period is the time in which programs may set the clipboard so often, to so many
	// bytes together.
	period  = 10 * time.Second
	most    = 20
	mostOut = 1 << 20
)

// spent is what programs had of a period.
type spent struct {
	since time.Time
	times int
	bytes int
}

// Program handles that a program, called name, sets the clipboard.
func (c *Clipboard) Program(may Policy, focused bool, name, text string) {
	if may == "off" || may != "ask" && !focused {
		return
	}
	now := c.loop.Now()
	if s := &c.spent; now.Sub(s.since) > period {
		*s = spent{since: now}
	}
	c.spent.times++
	c.spent.bytes += len(text)
	if c.spent.times > most || c.spent.bytes > mostOut {
		c.loop.Say(status.Warning, "%s sets the clipboard too often, or to too much: it was not set", name)
		return
	}
	if may == "ask" {
		c.asked = &Copied{Text: text, What: words.Counted(text)}
		c.loop.Say(status.Warning, "%s wants to set the clipboard to %s: %s lets it", name, c.asked.What, c.loop.Keys("allow-clipboard"))
		return
	}
	c.outer(text, false)
}

// Allow sets the clipboard to what a program asked for last.
func (c *Clipboard) Allow() {
	if c.asked == nil {
		c.loop.Say(status.Info, "no program asks for the clipboard")
		return
	}
	t := *c.asked
	c.asked = nil
	if why := c.outer(t.Text, false); why != "" {
		c.loop.Say(status.Warning, "the clipboard is not set: %s", why)
		return
	}
	c.loop.Brief("sent %s to the terminal's clipboard", t.What)
}
