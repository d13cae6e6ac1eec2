package chat

import (
	"fmt"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/ui/look"
	"tandemux/ui/markup"
	"tandemux/ui/paint"
	"tandemux/ui/words"
)

// placed is where things are, as last drawn.
type placed struct {
	rect       paint.Rect
	transcript paint.Rect // with its margins
	text       paint.Rect // the lines alone
	panel      paint.Rect
	prompt     paint.Rect
	panelRows  []panelRow
	popup      paint.Rect
	focused    bool
}

// Least sizes, in cells.
const (
	leastWide  = 16 // from here on the transcript has margins
	leastHint  = 16 // rows from which on keys are named below the prompt
	mostPrompt = 10 // rows of the prompt
)

// Stale reports whether something has changed that was not drawn, terminals that
// show in it included.
func (c *Chat) Stale() bool { return c.dirty || c.watch() }

// watch looks at the terminals that show.
func (c *Chat) watch() (redraw bool) {
	for _, k := range c.lively() {
		again, changed := c.turns[k.turn].items[k.item].stale(&c.r)
		if again {
			c.touch(k.turn, k.item)
		}
		redraw = redraw || changed
	}
	return redraw
}

// lively are the items whose terminals show now.
func (c *Chat) lively() []place {
	var out []place
	end := c.top + c.view.transcript.H
	for row := c.top; row < end; {
		p, ok := c.locate(row)
		if !ok {
			break
		}
		if it := c.turns[p.turn].items[p.item]; it.live != nil {
			out = append(out, p)
		}
		next := c.rowOf(p.turn, p.item) + c.turns[p.turn].items[p.item].lines
		row = max(next, row+1)
	}
	return out
}

// Terminals are those whose output shows in the transcript: to be followed.
func (c *Chat) Terminals() []ahp.URI {
	var out []ahp.URI
	for _, p := range c.lively() {
		out = append(out, c.turns[p.turn].items[p.item].live.uri)
	}
	return out
}

// TerminalReady says that a terminal can be seen now that could not before.
func (c *Chat) TerminalReady() {
	for _, p := range c.lively() {
		c.touch(p.turn, p.item)
	}
}

// Due is after which time what was drawn is out of date by itself, 0 for never.
func (c *Chat) Due() time.Duration { return c.due }

// Tick draws what shows times again.
func (c *Chat) Tick() {
	if n := len(c.turns); n > 0 && c.turns[n-1].active() {
		for i, it := range c.turns[n-1].items {
			if it.kind == toolItem && it.call.Status == ahp.ToolRunning {
				c.touch(n-1, i)
			}
		}
	}
	c.dirty = true
}

// Draw draws the chat into a rectangle and gives the place of the cursor.
func (c *Chat) Draw(cv *paint.Canvas, r paint.Rect, l *look.Look, focused bool, now time.Time) paint.Cursor {
	if r.Empty() {
		return paint.Cursor{}
	}
	c.now, c.r.now, c.due = now, now, 0
	c.dress(l)
	cv.Fill(r, ' ', c.palette[markup.Plain])
	c.view = placed{rect: r, focused: focused}
	bottom := c.bottom(r.W, r.H, l)
	h := max(r.H-bottom.rows(), 0)
	c.view.transcript = paint.Rect{X: r.X, Y: r.Y, W: r.W, H: h}
	c.view.text = c.view.transcript
	if r.W >= leastWide {
		c.view.text.X, c.view.text.W = r.X+1, r.W-2
	}
	c.drawTranscript(cv, l)
	cursor := c.drawBottom(cv, paint.Rect{X: r.X, Y: r.Y + h, W: r.W, H: r.H - h}, bottom, l)
	if c.where == inReading {
		cursor.Visible = false
	}
	c.dirty = false
	return cursor
}

// Scroll moves the view n rows towards newer text, back for negative n; it reports
// whether it moved.
func (c *Chat) Scroll(n int) bool {
	c.relayout()
	was, wasFollow := c.top, c.follow
	c.scrollTo(c.top + n)
	if n < 0 && c.top == 0 && c.state.TurnsNextCursor != "" && c.do.More != nil {
		c.do.More()
	}
	return c.top != was || c.follow != wasFollow
}

// scrollTo brings a row to the top, as far as there are rows below it.
func (c *Chat) scrollTo(top int) {
	last := max(c.rows-c.view.transcript.H, 0)
	c.top = min(max(top, 0), last)
	c.follow = c.top == last
	c.dirty = true
}

// Bottom follows the newest text again.
func (c *Chat) Bottom() {
	c.follow, c.dirty = true, true
	c.focus = stop{}
}

// Back is how many rows the view is scrolled back, and of how many.
func (c *Chat) Back() (back, of int) {
	last := max(c.rows-c.view.transcript.H, 0)
	if c.follow {
		return 0, last
	}
	return last - min(c.top, last), last
}

func (c *Chat) drawTranscript(cv *paint.Canvas, l *look.Look) {
	t := c.view.text
	if t.Empty() {
		return
	}
	c.resize(t.W)
	c.watch()
	c.relayout()
	last := max(c.rows-t.H, 0)
	if c.follow {
		c.top = last
	}
	c.top = min(max(c.top, 0), last)
	if len(c.turns) == 0 || c.gone != nil && !c.ready {
		c.drawEmpty(cv, l)
		return
	}
	var marked stopAt
	if c.where == inReading && c.focus.on {
		all := c.stops()
		if i := c.current(all); i >= 0 && all[i].stop == c.focus {
			marked = all[i]
		}
	}
	if c.find.text != "" {
		c.match()
	}
	for i := range min(t.H, c.rows-c.top) {
		row := c.top + i
		ln, p, ok := c.lineAt(row)
		if marked.on && row >= marked.from && row < marked.to && c.view.text.X > c.view.rect.X {
			cv.Text(c.view.rect.X, t.Y+i, 1, c.glyphs.Marker, c.palette[markup.Accent])
		}
		if !ok {
			continue
		}
		used := markup.DrawRuns(cv, t.X, t.Y+i, t.W, ln.Runs, &c.palette)
		it := c.turns[p.turn].items[p.item]
		if cells, x := it.liveRow(p.row); cells != nil && x < t.W {
			cells = cells[:min(len(cells), t.W-x)]
			cv.Line(t.X+x, t.Y+i, cells)
			used = x + len(cells)
		}
		c.highlight(cv, row, i, used, l)
	}
	c.drawBar(cv, l)
	if c.runningTool() {
		c.soon(time.Second)
	}
}

// runningTool reports whether a tool call of the active turn shows its time.
func (c *Chat) runningTool() bool {
	n := len(c.turns)
	if n == 0 || !c.turns[n-1].active() {
		return false
	}
	for _, it := range c.turns[n-1].items {
		if it.kind == toolItem && it.call.Status == ahp.ToolRunning && !it.began.IsZero() {
			return true
		}
	}
	return false
}

func (c *Chat) soon(d time.Duration) {
	if c.due == 0 || d < c.due {
		c.due = d
	}
}

// highlight marks the selection and what was found in a row.
func (c *Chat) highlight(cv *paint.Canvas, row, i, used int, l *look.Look) {
	t := c.view.text
	mark := func(from, to int, s look.Style) {
		to = min(to, t.W)
		if to > from {
			cv.Restyle(paint.Rect{X: t.X + from, Y: t.Y + i, W: to - from, H: 1}, func(old emulator.Style) emulator.Style {
				if s.FG.IsDefault() && s.BG.IsDefault() {
					old.Attrs ^= emulator.Reverse
					return old
				}
				old.FG, old.BG = s.FG, s.BG
				return old
			})
		}
	}
	for k, h := range c.find.hits {
		if h.row == row && c.find.text != "" {
			s := l.Match
			if k == c.find.at {
				s = l.Selection
			}
			mark(h.from, h.to, s)
		}
	}
	if !c.sel.on {
		return
	}
	from, to := c.sel.span()
	if row < from.row || row > to.row {
		return
	}
	first, last := 0, used
	if row == from.row {
		first = from.x
	}
	if row == to.row {
		last = min(to.x+1, max(used, 1))
	}
	mark(first, last, l.Selection)
}

// drawBar shows where in the transcript the view is, once it is scrolled back.
func (c *Chat) drawBar(cv *paint.Canvas, l *look.Look) {
	t := c.view.transcript
	if c.follow || c.rows <= t.H || t.H < 3 || t.W < leastWide {
		return
	}
	size := max(t.H*t.H/c.rows, 1)
	at := (t.H - size) * c.top / max(c.rows-t.H, 1)
	cv.Fill(paint.Rect{X: t.X + t.W - 1, Y: t.Y + at, W: 1, H: size}, ' ', look.Style{FG: l.Hint.FG, BG: l.Border.FG})
	if l.Border.FG.IsDefault() {
		cv.Fill(paint.Rect{X: t.X + t.W - 1, Y: t.Y + at, W: 1, H: size}, l.Vertical, look.Style{Attrs: emulator.Bold})
	}
	below := c.rows - c.top - t.H
	text := fmt.Sprintf(" %s %s below ", l.Down, lines(below))
	if w := paint.Width(text); w < t.W-4 {
		cv.Text(t.X+t.W-1-w, t.Y+t.H-1, w, text, l.Hint)
	}
}

// drawEmpty says what a chat without messages is for, or why it has none.
func (c *Chat) drawEmpty(cv *paint.Canvas, l *look.Look) {
	t := c.view.text
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
			add(markup.Muted, 0, c.keys("chat-login")+" logs in")
		}
	case !c.ready:
		add(markup.Muted, 0, "Loading"+l.Ellipsis)
	default:
		add(markup.Plain, markup.Bold, "A new chat"+with(" with ", s.Agent))
		if len(s.Commands) > 0 {
			add(markup.Muted, 0, "/ lists its commands, @ names a file")
		} else {
			add(markup.Muted, 0, "@ names a file")
		}
	}
	top := max((t.H-len(rows))/2, 0)
	for i, ln := range rows[:min(len(rows), t.H)] {
		markup.DrawRuns(cv, t.X+max((t.W-markup.Width(ln.Runs))/2, 0), t.Y+top+i, t.W, ln.Runs, &c.palette)
	}
}

// Ways are the ways to log in that the session's or the last turn's error names.
func (c *Chat) Ways() []ahp.AgentAuth {
	if w := waysOf(c.session.Error); len(w) > 0 && c.session.Lifecycle == ahp.LifecycleFailed {
		return w
	}
	if n := len(c.state.Turns); n > 0 && c.state.ActiveTurn == nil {
		parts := c.state.Turns[n-1].ResponseParts
		if k := len(parts); k > 0 && parts[k-1].Kind == ahp.PartError {
			return waysOf(parts[k-1].Error)
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

// keys are those of a command.
func (c *Chat) keys(command string) string {
	if c.do.Keys == nil {
		return ":" + command
	}
	return c.do.Keys(command)
}
