package chat

import (
	"encoding/json"
	"fmt"
	"time"

	"tandemux/ahp"
	"tandemux/ui/look"
	"tandemux/ui/markup"
	"tandemux/ui/paint"
	"tandemux/ui/transcript"
	"tandemux/ui/words"
)

// placed says where things are, as last drawn.
type placed struct {
	rect       paint.Rect
	panel      paint.Rect
	panelLines []panelLine
	prompt     paint.Rect
	popup      paint.Rect
	focused    bool
}

// Sizes in rows.
const (
	leastHint  = 16 // height of a chat that shows hints about keys
	mostPrompt = 10 // largest prompt
)

// Stale reports whether something has changed since it was drawn, including terminals in the
// transcript.
func (c *Chat) Stale() bool { return c.dirty || c.View.Stale() }

// Due is the time after which what was drawn must be updated, 0 for never.
func (c *Chat) Due() time.Duration { return c.due }

// Tick makes the next drawing update times.
func (c *Chat) Tick() {
	c.View.Tick()
	c.dirty = true
}

// Draw draws the chat into a rectangle and returns the cursor.
func (c *Chat) Draw(cv *paint.Canvas, r paint.Rect, l *look.Look, focused bool, now time.Time) paint.Cursor {
	if r.Empty() {
		return paint.Cursor{}
	}
	c.now, c.due = now, 0
	c.Dress(l, now)
	cv.Fill(r, ' ', c.Palette[markup.Plain])
	c.view = placed{rect: r, focused: focused}
	bottom := c.bottom(r.W, r.H, l)
	h := max(r.H-bottom.rows(), 0)
	if c.View.Draw(cv, paint.Rect{X: r.X, Y: r.Y, W: r.W, H: h}, l, c.where == inReading) {
		c.soon(time.Second)
	}
	if c.Len() == 0 {
		c.drawEmpty(cv, paint.Rect{X: r.X + 1, Y: r.Y, W: r.W - 2, H: h}, l)
	}
	cursor := c.drawBottom(cv, paint.Rect{X: r.X, Y: r.Y + h, W: r.W, H: r.H - h}, bottom, l)
	if c.where == inReading {
		cursor.Visible = false
	}
	c.dirty = false
	return cursor
}

func (c *Chat) soon(d time.Duration) {
	if c.due == 0 || d < c.due {
		c.due = d
	}
}

// Scroll scrolls the transcript. At the oldest turn it fetches older ones.
func (c *Chat) Scroll(n int) {
	c.View.Scroll(n)
	if n < 0 && c.AtTop() && c.state.TurnsNextCursor != "" {
		c.do.More()
	}
}

// drawEmpty says what a chat without messages is for, or why it has none.
func (c *Chat) drawEmpty(cv *paint.Canvas, t paint.Rect, l *look.Look) {
	if t.Empty() {
		return
	}
	var rows []markup.Line
	add := func(role markup.Role, attr markup.Attr, text string) {
		rows = append(rows, markup.Wrap([]markup.Run{{Text: text, Role: role, Attr: attr}}, t.W, markup.Margin{})...)
	}
	switch s := c.session; {
	case c.gone != nil:
		add(markup.Failed, 0, words.Lines("This chat can't be shown: "+c.gone.Error()))
	case s.Lifecycle == ahp.LifecycleFailed:
		text := "The agent did not start."
		if s.Error != nil {
			text = s.Error.Message
		}
		add(markup.Failed, 0, words.Lines(text))
		for _, w := range c.Ways() {
			add(markup.Muted, 0, "log in: "+words.Line(w.Name+" "+w.Description))
		}
		if len(c.Ways()) > 0 {
			add(markup.Muted, 0, c.do.Keys("chat-login")+" logs in")
		}
	case !c.ready:
		add(markup.Muted, 0, "Loading"+l.Ellipsis)
	default:
		add(markup.Plain, markup.Bold, "A new chat"+with(" with ", s.Agent))
		text := "@ names a file, ! runs a command"
		if len(s.Commands) > 0 {
			text = "/ lists its commands, " + text
		}
		add(markup.Muted, 0, text)
	}
	top := max((t.H-len(rows))/2, 0)
	for i, ln := range rows[:min(len(rows), t.H)] {
		markup.DrawRuns(cv, t.X+max((t.W-markup.Width(ln.Runs))/2, 0), t.Y+top+i, t.W, ln.Runs, &c.Palette)
	}
}

// Ways returns the ways to log in that the session's or the last turn's error names.
func (c *Chat) Ways() []ahp.AgentAuth {
	if w := transcript.WaysOf(c.session.Error); len(w) > 0 && c.session.Lifecycle == ahp.LifecycleFailed {
		return w
	}
	if n := len(c.state.Turns); n > 0 && c.state.ActiveTurn == nil {
		parts := c.state.Turns[n-1].ResponseParts
		if k := len(parts); k > 0 && parts[k-1].Kind == ahp.PartError {
			return transcript.WaysOf(parts[k-1].Error)
		}
	}
	return nil
}

func with(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}

// usageWords describes a turn's usage. If there is no room, the first are left out first.
func usageWords(u *ahp.Usage) []string {
	if u == nil {
		return nil
	}
	var m struct {
		ContextUsed int64   `json:"tandemux/contextUsed"`
		ContextSize int64   `json:"tandemux/contextSize"`
		Cost        float64 `json:"tandemux/cost"`
		Currency    string  `json:"tandemux/currency"`
	}
	json.Unmarshal(u.Meta, &m) //nolint:errcheck // then there is none
	var out []string
	if m.Cost > 0 {
		out = append(out, fmt.Sprintf("%.2f %s", m.Cost, m.Currency))
	}
	switch {
	case m.ContextSize > 0:
		out = append(out, words.Count(m.ContextUsed)+"/"+words.Count(m.ContextSize))
	case u.InputTokens != nil:
		n := *u.InputTokens
		if u.OutputTokens != nil {
			n += *u.OutputTokens
		}
		out = append(out, words.Count(n)+" tokens")
	}
	return out
}

// Click handles a mouse press at a cell. It reports false if the press was on the transcript.
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

// clickPanel handles a click on a line of the panel. Like keys, clicks count only when the
// question has shown for armTime.
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
