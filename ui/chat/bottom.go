package chat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/internal/approval"
	"tandemux/ui/look"
	"tandemux/ui/markup"
	"tandemux/ui/paint"
	"tandemux/ui/words"
)

// bottom is what is below the transcript: the plan, queued messages, a rule with the state, a
// question or form, the prompt, and hints about keys.
type bottom struct {
	plan, queue []markup.Line
	panel       panel
	prompt      int // rows
	rule, hint  bool
}

func (b bottom) rows() int {
	n := len(b.plan) + len(b.queue) + len(b.panel.lines) + b.prompt
	if b.rule {
		n++
	}
	if b.hint {
		n++
	}
	return n
}

// panel is a question or form that waits for an answer.
type panel struct {
	lines []panelLine
	row   int // the cursor's line, -1 if there is no cursor
	x     int // the cursor's column
}

// panelLine is a line of a panel. at is the option or field that a click on it chooses; -1 for
// none.
type panelLine struct {
	markup.Line
	at int
}

// add appends lines for at.
func (p *panel) add(at int, lines ...markup.Line) {
	for _, l := range lines {
		p.lines = append(p.lines, panelLine{l, at})
	}
}

// cut appends one line that is shortened to w cells.
func (p *panel) cut(at, w int, mark string, runs ...markup.Run) {
	p.add(at, markup.Line{Runs: markup.Cut(runs, w, mark)})
}

// bottom lays out what is below the transcript of a chat in w by h cells.
func (c *Chat) bottom(w, h int, l *look.Look) bottom {
	b := bottom{rule: h >= 3, hint: h >= leastHint && w >= 30}
	left := h - 1
	if b.rule {
		left--
	}
	if b.hint {
		left--
	}
	least := min(3, max(left-1, 0)) // rows of the transcript
	room := max(left-least, 1)
	rows := c.edit.Layout(max(w-3, 1))
	b.prompt = min(rows, mostPrompt, max(room/2, 1))
	if c.ask.id != "" || c.form.id != "" {
		if c.where == inPanel && c.edit.Empty() {
			b.prompt = 0
		}
		b.panel = c.panel(w, max(room-b.prompt+1, 1), l)
	}
	room -= len(b.panel.lines) + b.prompt - 1
	if room > 0 && h >= 8 {
		most := 1
		if c.planned {
			most = min(room, 12)
		}
		b.plan = planLines(c.session.Plan, c.planned, max(w-2, 1), most, c.Glyphs)
		room -= len(b.plan)
	}
	if room > 0 {
		b.queue = queued(&c.state, w-2, min(room, 3), l.Ellipsis)
	}
	return b
}

// fit returns at most most lines of the panel; the cursor's is among them.
func (p panel) fit(most int) panel {
	if len(p.lines) <= most {
		return p
	}
	top := min(max(p.row-most+1, 0), len(p.lines)-most)
	return panel{p.lines[top : top+most], p.row - top, p.x}
}

// queued lays out the queued messages in at most most lines of w cells.
func queued(s *ahp.ChatState, w, most int, mark string) []markup.Line {
	var out []markup.Line
	put := func(r ...markup.Run) { out = append(out, markup.Line{Runs: markup.Cut(r, max(w, 1), mark)}) }
	if m := s.SteeringMessage; m != nil {
		put(markup.Run{Text: "steering ", Role: markup.Accent}, markup.Run{Text: words.Line(m.Message.Text), Role: markup.Muted})
	}
	for i, q := range s.QueuedMessages {
		if len(out) == most-1 && i+1 < len(s.QueuedMessages) {
			put(markup.Run{Text: fmt.Sprintf("and %d more queued", len(s.QueuedMessages)-i), Role: markup.Muted})
			break
		}
		if len(out) < most {
			put(markup.Run{Text: "queued ", Role: markup.Accent}, markup.Run{Text: words.Line(q.Message.Text), Role: markup.Muted})
		}
	}
	return out
}

func (c *Chat) drawBottom(cv *paint.Canvas, r paint.Rect, b bottom, l *look.Look) paint.Cursor {
	y := r.Y
	put := func(ln markup.Line) {
		if y < r.Y+r.H {
			markup.DrawRuns(cv, r.X+min(1, max(r.W-1, 0)), y, max(r.W-1, 1), ln.Runs, &c.Palette)
			y++
		}
	}
	for _, ln := range append(b.plan, b.queue...) {
		put(ln)
	}
	if b.rule && y < r.Y+r.H {
		c.drawRule(cv, paint.Rect{X: r.X, Y: y, W: r.W, H: 1}, l)
		y++
	}
	cursor := paint.Cursor{}
	if n := min(len(b.panel.lines), r.Y+r.H-y); n > 0 {
		c.view.panel, c.view.panelLines = paint.Rect{X: r.X, Y: y, W: r.W, H: n}, b.panel.lines
		if p := b.panel; c.where == inPanel && p.row >= 0 && p.row < n {
			cursor = paint.Cursor{X: min(r.X+1+p.x, r.X+r.W-1), Y: y + p.row, Visible: true, Default: true}
		}
		for _, ln := range b.panel.lines[:n] {
			put(ln.Line)
		}
		if c.ask.id != "" && c.ask.since.IsZero() {
			c.ask.since = c.now
		}
		if c.form.id != "" && c.form.since.IsZero() {
			c.form.since = c.now
		}
	}
	if n := min(b.prompt, r.Y+r.H-y); n > 0 {
		at := c.drawPrompt(cv, paint.Rect{X: r.X, Y: y, W: r.W, H: n}, l)
		if c.where != inPanel {
			cursor = at
		}
		y += n
	}
	if b.hint && y < r.Y+r.H {
		runs := markup.Cut([]markup.Run{{Text: c.hint(), Role: markup.Muted}}, max(r.W-2, 1), l.Ellipsis)
		markup.DrawRuns(cv, r.X+1, y, r.W-1, runs, &c.Palette)
	}
	c.drawPopup(cv, l)
	return cursor
}

// drawRule draws the line above the prompt: the state on the left, options and usage on the
// right.
func (c *Chat) drawRule(cv *paint.Canvas, r paint.Rect, l *look.Look) {
	style, name := l.Border, c.Palette[markup.Muted]
	if c.view.focused {
		style = l.BorderFocused
	}
	cv.Fill(r, l.Horizontal, style)
	left := c.status()
	right := append(c.settings().said(), usageWords(c.Usage())...)
	w := min(markup.Width(left), max(r.W-4, 0))
	if left = markup.Cut(left, w, l.Ellipsis); w > 0 {
		cv.Text(r.X+1, r.Y, 1, " ", style)
		n := markup.DrawRuns(cv, r.X+2, r.Y, w, left, &c.Palette)
		cv.Text(r.X+2+n, r.Y, 1, " ", style)
	}
	room := r.W - w - 8
	for len(right) > 0 && paint.Width(strings.Join(right, " "+c.Glyphs.Dot+" ")) > room {
		right = right[1:]
	}
	if len(right) > 0 {
		text := " " + strings.Join(right, " "+c.Glyphs.Dot+" ") + " "
		n := paint.Width(text)
		cv.Text(r.X+r.W-n-1, r.Y, n, text, name)
	}
}

// status describes the chat's state.
func (c *Chat) status() []markup.Run {
	s := c.session
	switch {
	case c.gone != nil:
		return []markup.Run{{Text: c.Glyphs.Failed + " " + words.Line(c.gone.Error()), Role: markup.Failed}}
	case s.Lifecycle == ahp.LifecycleFailed:
		return []markup.Run{{Text: c.Glyphs.Failed + " not started", Role: markup.Failed}}
	case !c.ready:
		return []markup.Run{{Text: "loading", Role: markup.Muted}}
	}
	if since, yes := c.Working(); yes {
		text := " working"
		mark := markup.Run{Text: c.Glyphs.Running, Role: markup.Running}
		if c.state.Status.NeedsInput() {
			mark, text = markup.Run{Text: c.Glyphs.Waiting, Role: markup.Warned, Attr: markup.Bold}, " waits for you"
		}
		if d := c.now.Sub(since); !since.IsZero() && d >= time.Second {
			text += " " + words.Lasting(d)
		}
		c.soon(time.Second)
		r := []markup.Run{mark, {Text: text}}
		if a := words.Line(c.state.Activity); a != "" && !c.state.Status.NeedsInput() {
			r = append(r, markup.Run{Text: " " + c.Glyphs.Dot + " " + a, Role: markup.Muted})
		}
		return r
	}
	name := cmp.Or(s.Agent, "agent")
	switch {
	case s.Lifecycle == ahp.LifecycleCreating:
		return []markup.Run{{Text: "starting " + name, Role: markup.Muted}}
	case c.state.Status.Activity() == ahp.ActivityError:
		how := c.do.Keys("chat-retry") + " tries again"
		if len(c.Ways()) > 0 {
			how = c.do.Keys("chat-login") + " logs in"
		}
		return []markup.Run{{Text: c.Glyphs.Failed, Role: markup.Failed}, {Text: " failed", Role: markup.Failed}, {Text: " " + c.Glyphs.Dot + " " + how, Role: markup.Muted}}
	}
	return []markup.Run{{Text: name, Role: markup.Muted}}
}

// hint describes the keys that matter now.
func (c *Chat) hint() string {
	named := func(does ...string) string {
		var parts []string
		for _, s := range does {
			command, text, _ := strings.Cut(s, " ")
			if k := c.do.Keys(command); k != "" {
				parts = append(parts, k+" "+text)
			}
		}
		return strings.Join(parts, "  ")
	}
	_, works := c.Working()
	switch {
	case c.where == inReading:
		return named("chat-next moves", "chat-fold folds", "copy-selection copies", "chat-terminal terminal", "chat-rewind rewinds", "chat-prompt prompt")
	case c.where == inPanel && c.form.id != "":
		return named("chat-send next", "chat-tab next field", "chat-escape twice cancels")
	case c.where == inPanel:
		return "a key answers  typing goes to the prompt  " + named("chat-escape twice cancels")
	case len(c.popup.items) > 0:
		return named("chat-tab completes", "chat-escape closes")
	case (c.ask.id != "" || c.form.id != "") && !c.edit.Empty():
		return named("chat-tab answers the question", "chat-send queues")
	case works:
		return named("chat-send queues", "chat-steer steers", "chat-escape twice cancels", "chat-tab reads")
	}
	return named("chat-send sends", "chat-newline new line", "chat-tab reads", "chat-mode mode", "chat-options options")
}

// drawPrompt draws the prompt and returns its cursor.
func (c *Chat) drawPrompt(cv *paint.Canvas, r paint.Rect, l *look.Look) paint.Cursor {
	c.view.prompt = r
	e := &c.edit
	style := c.Palette[markup.Muted]
	if c.where == inPrompt && c.view.focused {
		style = c.Palette[markup.Accent]
	}
	cv.Text(r.X, r.Y, r.W, " "+c.Glyphs.Prompt, style)
	rows, x, y := e.View(max(r.W-3, 1), r.H)
	for i, row := range rows {
		cv.Text(r.X+3, r.Y+i, max(r.W-3, 0), row, c.Palette[markup.Plain])
	}
	if e.Empty() && r.W > 10 {
		what := "Ask" + with(" ", c.session.Agent)
		if _, works := c.Working(); works {
			what = "Queue a message"
		}
		cv.Text(r.X+3, r.Y, r.W-4, paint.Cut(what, r.W-4, l.Ellipsis), c.Palette[markup.Muted])
	}
	return paint.Cursor{X: min(r.X+3+x, r.X+r.W-1), Y: r.Y + y, Visible: c.ready, Default: true}
}

// drawPopup draws the completions above the prompt.
func (c *Chat) drawPopup(cv *paint.Canvas, l *look.Look) {
	p := &c.popup
	if len(p.items) == 0 || c.view.prompt.Empty() || c.where != inPrompt {
		return
	}
	h := min(len(p.items), maxPopup, c.view.prompt.Y-c.view.rect.Y)
	w := 0
	for _, it := range p.items {
		n := paint.Width(words.Line(it.InsertText)) + 2
		if d := describe(it, c.session.Commands); d != "" {
			n += paint.Width(d) + 2
		}
		w = max(w, n)
	}
	w = min(w, c.view.rect.W-2)
	if h <= 0 || w < 4 {
		return
	}
	r := paint.Rect{X: c.view.rect.X + 2, Y: c.view.prompt.Y - h, W: w, H: h}
	c.view.popup = r
	top := min(max(p.at-h+1, 0), max(len(p.items)-h, 0))
	for i := range h {
		it := p.items[top+i]
		style, dim := l.Hint, l.Hint
		if top+i == p.at {
			style, dim = l.Selected, l.Selected
		} else {
			dim.Attrs |= look.Faint
		}
		row := paint.Rect{X: r.X, Y: r.Y + i, W: r.W, H: 1}
		cv.Fill(row, ' ', style)
		n := cv.Text(row.X+1, row.Y, row.W-2, paint.Cut(words.Line(it.InsertText), row.W-2, l.Ellipsis), style)
		if d := describe(it, c.session.Commands); d != "" && row.W-n-4 > 4 {
			cv.Text(row.X+n+3, row.Y, row.W-n-4, paint.Cut(d, row.W-n-4, l.Ellipsis), dim)
		}
	}
}

// panel lays out the question or form in at most h lines, of w cells with the margins.
func (c *Chat) panel(w, h int, l *look.Look) panel {
	w = max(w-2, 1)
	if t := c.asked(); t != nil {
		return c.askPanel(t, w, h, l)
	}
	if c.form.id != "" {
		return c.form.panel(w, c.where == inPanel, c.Glyphs).fit(h)
	}
	return panel{row: -1}
}

// askRoles is the roles of the lines of a question.
var askRoles = map[approval.Kind]markup.Role{
	approval.Asked: markup.Warned, approval.Detail: markup.Muted, approval.Added: markup.Added, approval.Removed: markup.Removed, approval.Warning: markup.Failed,
}

// askPanel lays out a tool call's question. The options follow once the whole question was shown.
func (c *Chat) askPanel(t *ahp.ToolCall, w, h int, l *look.Look) panel {
	answers := c.askOptions(t, w, l)
	r := c.ask.read
	f := r.Lay(w, h, len(answers.lines))
	p := panel{row: -1}
	for _, row := range f.Rows {
		text := markup.Run{Text: row.Text, Role: askRoles[row.Kind]}
		if row.Kind == approval.Asked || row.Kind == approval.File {
			text.Attr = markup.Bold
		}
		p.add(-1, markup.Line{Runs: []markup.Run{{Text: row.Lead, Role: askRoles[row.Kind]}, text}})
	}
	if f.Options {
		answers = c.askOptions(t, w, l).fit(max(h-len(p.lines), 1)) // laid out again, as one may be preselected now
		if answers.row >= 0 {
			p.row = answers.row + len(p.lines)
		}
		p.lines = append(p.lines, answers.lines...)
		return p
	}
	more := l.Ellipsis + " " + f.More()
	if n, ok := r.Find(approval.Key("reject_once")); ok && !n.Allows {
		more += ", " + n.Key + " refuses"
	}
	p.cut(-1, w, l.Ellipsis, markup.Run{Text: more, Role: markup.Warned})
	return p
}

// askOptions lays out the answers to a tool call's question.
func (c *Chat) askOptions(t *ahp.ToolCall, w int, l *look.Look) panel {
	p := panel{row: -1}
	active := c.where == inPanel
	for i, o := range c.ask.read.Options {
		at, key, text := markup.Run{Text: "  "}, markup.Run{Text: o.Key, Role: markup.Accent, Attr: markup.Bold}, markup.Run{Text: o.Text()}
		if !active {
			key.Role, text.Role = markup.Muted, markup.Muted
		}
		if i == c.ask.read.At && active {
			at, text.Attr = markup.Run{Text: l.Pointer + " ", Role: markup.Accent}, markup.Bold
			p.row = len(p.lines)
		}
		p.add(i, markup.Wrap([]markup.Run{text}, w, markup.Indent([]markup.Run{at, key, {Text: "  "}}))...)
	}
	if t.Editable != nil && *t.Editable {
		p.cut(len(c.ask.read.Options), w, l.Ellipsis,
			markup.Run{Text: "  "}, markup.Run{Text: "e", Role: markup.Accent, Attr: markup.Bold}, markup.Run{Text: "  edit it first", Role: markup.Muted})
	}
	if !active {
		p.cut(-1, w, l.Ellipsis, markup.Run{Text: "  " + c.do.Keys("chat-tab") + " goes to the question", Role: markup.Muted})
	}
	return p
}

// planLines lays out an agent's plan: one line, or with open a line for each step.
func planLines(plan []ahp.AgentPlanEntry, open bool, w, most int, g *markup.Glyphs) []markup.Line {
	if len(plan) == 0 || most <= 0 {
		return nil
	}
	done := 0
	for _, e := range plan {
		if e.Status == "completed" {
			done++
		}
	}
	at := slices.IndexFunc(plan, func(e ahp.AgentPlanEntry) bool { return e.Status == "in_progress" })
	if at < 0 {
		at = slices.IndexFunc(plan, func(e ahp.AgentPlanEntry) bool { return e.Status != "completed" })
	}
	head := []markup.Run{{Text: fmt.Sprintf("Plan %d/%d", done, len(plan)), Role: markup.Accent}}
	if !open && at >= 0 {
		head = append(head, markup.Run{Text: " " + g.Dot + " " + words.Line(plan[at].Text), Role: markup.Muted})
	}
	lines := []markup.Line{{Runs: markup.Cut(head, w, g.Ellipsis)}}
	if !open {
		return lines
	}
	from := 0
	if room := most - 1; len(plan) > room && room > 0 {
		// Completed steps make room first.
		from = min(max(done-1, 0), len(plan)-room)
	}
	for _, e := range plan[from:] {
		if len(lines) >= most {
			break
		}
		mark, r := markup.Run{Text: g.Box + " ", Role: markup.Muted}, markup.Run{Text: words.Line(e.Text)}
		switch e.Status {
		case "completed":
			mark, r.Role, r.Attr = markup.Run{Text: g.Checked + " ", Role: markup.Passed}, markup.Muted, markup.Strike
		case "in_progress":
			mark, r.Attr = markup.Run{Text: g.Running + " ", Role: markup.Running}, markup.Bold
		}
		lines = append(lines, markup.Line{Runs: markup.Cut([]markup.Run{{Text: " "}, mark, r}, w, g.Ellipsis)})
	}
	return lines
}
