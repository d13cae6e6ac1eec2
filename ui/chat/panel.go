package chat

import (
	"fmt"

	"tandemux/ahp"
	"tandemux/internal/approval"
	"tandemux/ui/look"
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
var askRoles = map[approval.Kind]role{
	approval.Asked: warned, approval.Detail: muted, approval.Added: added, approval.Removed: removed, approval.Warning: failed,
}

// askPanel is a tool call's question with its options, which come once all of the
// question was shown.
func (c *Chat) askPanel(t *ahp.ToolCall, w, h int, l *look.Look) panel {
	answers := c.askOptions(t, w, l)
	r := c.ask.read
	f := r.Lay(w, h, len(answers.lines))
	p := panel{cursor: spot{row: -1}}
	for _, row := range f.Rows {
		text := run{text: row.Text, role: askRoles[row.Kind]}
		if row.Kind == approval.Asked || row.Kind == approval.File {
			text.attr = bold
		}
		p.lines = append(p.lines, line{runs: []run{{text: row.Lead, role: askRoles[row.Kind]}, text}})
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
	p.lines = append(p.lines, line{runs: cut([]run{{text: more, role: warned}}, w, l.Ellipsis)})
	return p
}

// askOptions are the answers to a tool call's question.
func (c *Chat) askOptions(t *ahp.ToolCall, w int, l *look.Look) panel {
	p := panel{cursor: spot{row: -1}}
	active := c.where == inPanel
	for i, o := range c.ask.read.Options {
		at, key, text := run{text: "  "}, run{text: o.Key, role: accent, attr: bold}, run{text: o.Text()}
		if !active {
			key.role, text.role = muted, muted
		}
		if i == c.ask.read.At && active {
			at, text.attr = run{text: l.Pointer + " ", role: accent}, bold
			p.cursor = spot{row: len(p.lines)}
		}
		first := []run{at, key, {text: "  "}}
		rows := wrap([]run{text}, w, indent(first))
		for k := range rows {
			p.rows = append(p.rows, panelRow{len(p.lines) + k, i})
		}
		p.lines = append(p.lines, rows...)
	}
	if t.Editable != nil && *t.Editable {
		p.rows = append(p.rows, panelRow{len(p.lines), len(c.ask.read.Options)})
		p.lines = append(p.lines, line{runs: cut([]run{{text: "  "}, {text: "e", role: accent, attr: bold}, {text: "  edit it first", role: muted}}, w, l.Ellipsis)})
	}
	if !active {
		text := c.keys("chat-tab") + " goes to the question"
		p.lines = append(p.lines, line{runs: cut([]run{{text: "  " + text, role: muted}}, w, l.Ellipsis)})
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
	p.lines = wrap([]run{{text: words.Lines(text), role: warned, attr: bold}}, w, margin{})
	if f.q.URL != "" {
		p.lines = append(p.lines, wrap([]run{{text: words.Line(f.q.URL), role: linkText, link: address([]byte(words.Line(f.q.URL)))}}, w, margin{})...)
	}
	active := c.where == inPanel
	for i := range f.fields {
		d := &f.fields[i]
		here := active && f.at == i
		title := []run{{text: questionTitle(d.Question), attr: bold}}
		if d.Required {
			title = append(title, run{text: " *", role: warned})
		}
		if m := words.Line(d.Message); m != "" && m != questionTitle(d.Question) {
			title = append(title, run{text: "  " + m, role: muted})
		}
		p.rows = append(p.rows, panelRow{len(p.lines), i})
		p.lines = append(p.lines, wrap(title, w, margin{})...)
		p.field(d, here, i, w, g)
	}
	for i, name := range []string{"Send", "Decline"} {
		at := len(f.fields) + i
		r := run{text: "[" + name + "]"}
		if f.q.URL != "" && i == 0 {
			r.text = "[Open and go on]"
		}
		if active && f.at == at {
			r.role, r.attr = accent, bold
		} else {
			r.role = muted
		}
		p.rows = append(p.rows, panelRow{len(p.lines), at})
		if active && f.at == at {
			p.cursor = spot{row: len(p.lines)}
		}
		p.lines = append(p.lines, line{runs: cut([]run{r}, w, g.ellipsis)})
	}
	if f.wrong != "" {
		p.lines = append(p.lines, line{runs: cut([]run{{text: words.Line(f.wrong), role: failed}}, w, g.ellipsis)})
	}
	return p
}

// field lays out what a question is answered with.
func (p *panel) field(d *field, here bool, at, w int, g *glyphs) {
	mark := func(on bool) run {
		if on {
			return run{text: g.checked + " ", role: passed}
		}
		return run{text: g.box + " ", role: muted}
	}
	put := func(cursor bool, r ...run) {
		lead := "  "
		if cursor && here {
			lead = g.prompt + " "
			p.cursor = spot{row: len(p.lines)}
		}
		p.rows = append(p.rows, panelRow{len(p.lines), at})
		p.lines = append(p.lines, line{runs: cut(join([]run{{text: lead, role: accent}}, r), w, g.ellipsis)})
	}
	switch d.Kind {
	case "boolean":
		put(true, mark(d.yes), run{text: map[bool]string{true: "yes", false: "no"}[d.yes]})
	case "single-select", "multi-select":
		for i, o := range d.Options {
			r := []run{mark(d.chosen[i]), {text: fmt.Sprintf("%d ", i+1), role: muted}, {text: words.Line(o.Label)}}
			if o.Description != "" {
				r = append(r, run{text: "  " + words.Line(o.Description), role: muted})
			}
			put(i == d.cursor, r...)
		}
	default:
		text, x := d.edit.Window(max(w-3, 1))
		put(true, run{text: text, attr: underline})
		if here {
			p.cursor.x = 2 + x
		}
	}
}
