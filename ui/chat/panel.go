package chat

import (
	"fmt"

	"tandemux/ahp"
	"tandemux/internal/approval"
	"tandemux/ui/look"
	"tandemux/ui/markup"
	"tandemux/ui/words"
)

// panel lays out what waits for an answer, in at most h lines of w cells less the
// margins.
func (c *Chat) panel(w, h int, l *look.Look) panel {
	w = max(w-2, 1)
	if t := c.asked(); t != nil {
		return c.askPanel(t, w, h, l)
	}
	if c.form.id != "" {
		return c.formPanel(w).fit(h)
	}
	return panel{cursor: spot{row: -1}}
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
	p := panel{cursor: spot{row: -1}}
	for _, row := range f.Rows {
		text := markup.Run{Text: row.Text, Role: askRoles[row.Kind]}
		if row.Kind == approval.Asked || row.Kind == approval.File {
			text.Attr = markup.Bold
		}
		p.lines = append(p.lines, markup.Line{Runs: []markup.Run{{Text: row.Lead, Role: askRoles[row.Kind]}, text}})
	}
	if f.Options {
		answers = c.askOptions(t, w, l).fit(max(h-len(p.lines), 1)) // now that one may be preselected
		for _, k := range answers.rows {
			p.rows = append(p.rows, panelRow{k.line + len(p.lines), k.at})
		}
		if answers.cursor.row >= 0 {
			p.cursor = spot{row: answers.cursor.row + len(p.lines)}
		}
		p.lines = append(p.lines, answers.lines...)
		return p
	}
	more := l.Ellipsis + " " + f.More()
	if n, ok := r.Find(approval.Key("reject_once")); ok && !n.Allows {
		more += ", " + n.Key + " refuses"
	}
	p.lines = append(p.lines, markup.Line{Runs: markup.Cut([]markup.Run{{Text: more, Role: markup.Warned}}, w, l.Ellipsis)})
	return p
}

// askOptions are the answers to a tool call's question.
func (c *Chat) askOptions(t *ahp.ToolCall, w int, l *look.Look) panel {
	p := panel{cursor: spot{row: -1}}
	active := c.where == inPanel
	for i, o := range c.ask.read.Options {
		at, key, text := markup.Run{Text: "  "}, markup.Run{Text: o.Key, Role: markup.Accent, Attr: markup.Bold}, markup.Run{Text: o.Text()}
		if !active {
			key.Role, text.Role = markup.Muted, markup.Muted
		}
		if i == c.ask.read.At && active {
			at, text.Attr = markup.Run{Text: l.Pointer + " ", Role: markup.Accent}, markup.Bold
			p.cursor = spot{row: len(p.lines)}
		}
		first := []markup.Run{at, key, {Text: "  "}}
		rows := markup.Wrap([]markup.Run{text}, w, markup.Indent(first))
		for k := range rows {
			p.rows = append(p.rows, panelRow{len(p.lines) + k, i})
		}
		p.lines = append(p.lines, rows...)
	}
	if t.Editable != nil && *t.Editable {
		p.rows = append(p.rows, panelRow{len(p.lines), len(c.ask.read.Options)})
		p.lines = append(p.lines, markup.Line{Runs: markup.Cut([]markup.Run{{Text: "  "}, {Text: "e", Role: markup.Accent, Attr: markup.Bold}, {Text: "  edit it first", Role: markup.Muted}}, w, l.Ellipsis)})
	}
	if !active {
		text := c.keys("chat-tab") + " goes to the question"
		p.lines = append(p.lines, markup.Line{Runs: markup.Cut([]markup.Run{{Text: "  " + text, Role: markup.Muted}}, w, l.Ellipsis)})
	}
	return p
}

// formPanel is an input request as a form.
func (c *Chat) formPanel(w int) panel {
	f := &c.form
	g := c.r.g
	p := panel{cursor: spot{row: -1}}
	text := "The agent asks"
	if m := f.q.Message; m != nil && m.Text != "" {
		text = m.Text
	}
	p.lines = markup.Wrap([]markup.Run{{Text: words.Lines(text), Role: markup.Warned, Attr: markup.Bold}}, w, markup.Margin{})
	if f.q.URL != "" {
		p.lines = append(p.lines, markup.Wrap([]markup.Run{{Text: words.Line(f.q.URL), Role: markup.LinkText, Link: markup.Address([]byte(words.Line(f.q.URL)))}}, w, markup.Margin{})...)
	}
	active := c.where == inPanel
	for i := range f.fields {
		d := &f.fields[i]
		here := active && f.at == i
		title := []markup.Run{{Text: questionTitle(d.Question), Attr: markup.Bold}}
		if d.Required {
			title = append(title, markup.Run{Text: " *", Role: markup.Warned})
		}
		if m := words.Line(d.Message); m != "" && m != questionTitle(d.Question) {
			title = append(title, markup.Run{Text: "  " + m, Role: markup.Muted})
		}
		p.rows = append(p.rows, panelRow{len(p.lines), i})
		p.lines = append(p.lines, markup.Wrap(title, w, markup.Margin{})...)
		p.field(d, here, i, w, g)
	}
	for i, name := range []string{"Send", "Decline"} {
		at := len(f.fields) + i
		r := markup.Run{Text: "[" + name + "]"}
		if f.q.URL != "" && i == 0 {
			r.Text = "[Open and go on]"
		}
		if active && f.at == at {
			r.Role, r.Attr = markup.Accent, markup.Bold
		} else {
			r.Role = markup.Muted
		}
		p.rows = append(p.rows, panelRow{len(p.lines), at})
		if active && f.at == at {
			p.cursor = spot{row: len(p.lines)}
		}
		p.lines = append(p.lines, markup.Line{Runs: markup.Cut([]markup.Run{r}, w, g.Ellipsis)})
	}
	if f.wrong != "" {
		p.lines = append(p.lines, markup.Line{Runs: markup.Cut([]markup.Run{{Text: words.Line(f.wrong), Role: markup.Failed}}, w, g.Ellipsis)})
	}
	return p
}

// field lays out what a question is answered with.
func (p *panel) field(d *field, here bool, at, w int, g *markup.Glyphs) {
	mark := func(on bool) markup.Run {
		if on {
			return markup.Run{Text: g.Checked + " ", Role: markup.Passed}
		}
		return markup.Run{Text: g.Box + " ", Role: markup.Muted}
	}
	put := func(cursor bool, r ...markup.Run) {
		lead := "  "
		if cursor && here {
			lead = g.Prompt + " "
			p.cursor = spot{row: len(p.lines)}
		}
		p.rows = append(p.rows, panelRow{len(p.lines), at})
		p.lines = append(p.lines, markup.Line{Runs: markup.Cut(markup.Join([]markup.Run{{Text: lead, Role: markup.Accent}}, r), w, g.Ellipsis)})
	}
	switch d.Kind {
	case "boolean":
		put(true, mark(d.yes), markup.Run{Text: map[bool]string{true: "yes", false: "no"}[d.yes]})
	case "single-select", "multi-select":
		for i, o := range d.Options {
			r := []markup.Run{mark(d.chosen[i]), {Text: fmt.Sprintf("%d ", i+1), Role: markup.Muted}, {Text: words.Line(o.Label)}}
			if o.Description != "" {
				r = append(r, markup.Run{Text: "  " + words.Line(o.Description), Role: markup.Muted})
			}
			put(i == d.cursor, r...)
		}
	default:
		text, x := d.edit.Window(max(w-3, 1))
		put(true, markup.Run{Text: text, Attr: markup.Underline})
		if here {
			p.cursor.x = 2 + x
		}
	}
}
