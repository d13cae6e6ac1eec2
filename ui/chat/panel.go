package chat

import (
	"tandemux/ahp"
	"tandemux/internal/approval"
	"tandemux/ui/look"
	"tandemux/ui/markup"
)

// panel lays out what waits for an answer, in at most h lines of w cells less the
// margins.
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

// askRoles are the roles of the lines of a question.
var askRoles = map[approval.Kind]markup.Role{
	approval.Asked: markup.Warned, approval.Detail: markup.Muted, approval.Added: markup.Added, approval.Removed: markup.Removed, approval.Warning: markup.Failed,
}

// askPanel is a tool call's question with its options, which come once all of the
// question was shown.
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
		answers = c.askOptions(t, w, l).fit(max(h-len(p.lines), 1)) // now that one may be preselected
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

// askOptions are the answers to a tool call's question.
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
		p.cut(-1, w, l.Ellipsis, markup.Run{Text: "  " + c.keys("chat-tab") + " goes to the question", Role: markup.Muted})
	}
	return p
}
