package chat

import (
	"fmt"
	"strings"

	"cotty/ahp"
	"cotty/ui/look"
	"cotty/ui/paint"
)

// panel lays out what waits for an answer, in lines of w cells less the margins.
func (c *Chat) panel(w int, l *look.Look) panel {
	w = max(w-2, 1)
	if t := c.asked(); t != nil {
		return c.askPanel(t, w, l)
	}
	if c.form.id != "" {
		return c.formPanel(w)
	}
	return panel{cursor: spot{row: -1}}
}

// askPanel is a tool call's question with its options.
func (c *Chat) askPanel(t *ahp.ToolCall, w int, l *look.Look) panel {
	p := panel{cursor: spot{row: -1}}
	p.lines = wrap([]run{{text: Question(t), role: warned, attr: bold}}, w, margin{})
	if len(p.lines) > 3 {
		p.lines = p.lines[:3]
	}
	if c.ask.input != nil {
		for _, ln := range inputLines(*c.ask.input, w) {
			if len(p.lines) < 8 {
				p.lines = append(p.lines, ln)
			}
		}
	}
	list := Options(t)
	active := c.where == inPanel
	for i, o := range list {
		at := " "
		if i == c.ask.at && active {
			at = l.Pointer
		}
		role := accent
		if !active {
			role = muted
		}
		r := []run{{text: at + " ", role: accent}, {text: o.Key, role: role, attr: bold}, {text: "  " + o.Label}}
		if !active {
			r[2].role = muted
		}
		if i == c.ask.at && active {
			r[2].attr = bold
			p.cursor = spot{row: len(p.lines)}
		}
		p.rows = append(p.rows, panelRow{len(p.lines), i})
		p.lines = append(p.lines, line{runs: cut(r, w, l.Ellipsis)})
	}
	if t.Editable != nil && *t.Editable {
		p.rows = append(p.rows, panelRow{len(p.lines), len(list)})
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
	p.lines = wrap([]run{{text: harmless(text), role: warned, attr: bold}}, w, margin{})
	if f.q.URL != "" {
		p.lines = append(p.lines, wrap([]run{{text: oneLine(f.q.URL), role: linkText, link: address([]byte(oneLine(f.q.URL)))}}, w, margin{})...)
	}
	active := c.where == inPanel
	for i := range f.fields {
		d := &f.fields[i]
		here := active && f.at == i
		title := []run{{text: questionTitle(d.Question), attr: bold}}
		if d.Required {
			title = append(title, run{text: " *", role: warned})
		}
		if m := oneLine(d.Message); m != "" && m != questionTitle(d.Question) {
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
		p.lines = append(p.lines, line{runs: cut([]run{{text: oneLine(f.wrong), role: failed}}, w, g.ellipsis)})
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
			r := []run{mark(d.chosen[i]), {text: fmt.Sprintf("%d ", i+1), role: muted}, {text: oneLine(o.Label)}}
			if o.Description != "" {
				r = append(r, run{text: "  " + oneLine(o.Description), role: muted})
			}
			put(i == d.cursor, r...)
		}
	default:
		before := strings.ReplaceAll(string(d.edit.text[:d.edit.at]), "\n", " ")
		after := strings.ReplaceAll(string(d.edit.text[d.edit.at:]), "\n", " ")
		for paint.Width(before) > max(w-4, 1) { // the cursor's part shows
			before = before[cells(before, 1):]
		}
		put(true, run{text: before + after, attr: underline})
		if here {
			p.cursor.x = 2 + paint.Width(before)
		}
	}
}
