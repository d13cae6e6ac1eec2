package chat

import (
	"fmt"

	"tandemux/internal/approval"
	"tandemux/ui/words"
)

// change is what became of a file.
type change approval.Edit

// title is what a change is, on one line.
func (c change) title(g *glyphs) []run {
	r := []run{{text: words.Line(c.Path), attr: bold}}
	switch {
	case c.Fresh:
		r = append(r, run{text: " new", role: muted})
	case c.Gone:
		r = append(r, run{text: " deleted", role: removed})
	}
	if c.Plus > 0 {
		r = append(r, run{text: fmt.Sprintf(" +%d", c.Plus), role: added})
	}
	if c.Minus > 0 {
		r = append(r, run{text: fmt.Sprintf(" -%d", c.Minus), role: removed})
	}
	if c.Unread != "" {
		r = append(r, run{text: " " + g.dot + " " + c.Unread, role: muted})
	}
	return r
}

// render draws the change, at most that many rows of its lines; rest is how many
// lines are left out.
func (c change) render(w, most int, g *glyphs) (out []line, rest int) {
	lang := languageOf(c.Path)
	digits := 1
	for _, h := range c.Hunks {
		digits = max(digits, len(fmt.Sprint(h.To+len(h.Lines))), len(fmt.Sprint(h.From+len(h.Lines))))
	}
	numbers := w >= 30
	var s lexing
	for i, h := range c.Hunks {
		before, after := h.From, h.To
		if i > 0 && most > len(out) {
			out = append(out, line{runs: []run{{text: g.ellipsis, role: muted}}, lead: 1})
		}
		s = lexing{}
		for _, l := range h.Lines {
			l = words.Lines(l)
			if len(out) >= most {
				rest++
				continue
			}
			n, mark, style := after, " ", plain
			switch l[0] {
			case '+':
				mark, style = "+", added
				after++
			case '-':
				n, mark, style = before, "-", removed
				before++
			default:
				before, after = before+1, after+1
			}
			lead := []run{{text: mark + " ", role: style}}
			if numbers {
				lead = []run{{text: fmt.Sprintf("%*d ", digits, n), role: muted}, {text: mark + " ", role: style}}
			}
			var text []run
			if style == plain {
				text = s.line(l[1:], lang)
			} else if l[1:] != "" {
				text = []run{{text: l[1:], role: style}}
			}
			out = append(out, hard(text, w, indent(lead))...)
		}
	}
	if len(out) > most {
		out = out[:most]
	}
	return out, rest
}
