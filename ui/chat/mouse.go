package chat

import (
	"time"
)

// Click handles a press at a cell; it reports whether it was for something other
// than text.
func (c *Chat) Click(x, y int, now time.Time) bool {
	c.now = now
	v := &c.view
	switch {
	case v.popup.Contains(x, y) && len(c.popup.items) > 0:
		top := min(max(c.popup.at-v.popup.H+1, 0), max(len(c.popup.items)-v.popup.H, 0))
		if i := top + y - v.popup.Y; i < len(c.popup.items) {
			c.popup.at = i
			c.accept()
		}
	case v.panel.Contains(x, y):
		c.clickPanel(y - v.panel.Y)
	case v.prompt.Contains(x, y):
		c.where = inPrompt
		c.edit.Click(x-v.prompt.X-3, y-v.prompt.Y)
	default:
		return false
	}
	c.dirty = true
	return true
}

// clickPanel does what a line of the panel is for. A click means what it hits, so
// that no question is answered by one that was under way when it appeared.
func (c *Chat) clickPanel(row int) {
	c.where = inPanel
	if !c.armed() {
		return
	}
	at := c.view.panelLines[row].at
	switch t := c.asked(); {
	case at < 0:
	case t != nil && at < len(c.ask.read.Options):
		c.answer(c.ask.read.Options[at])
	case t != nil:
		c.editInput()
	case c.form.id != "":
		c.form.at = at
		if at >= len(c.form.fields) {
			c.enterForm()
		}
	}
}
