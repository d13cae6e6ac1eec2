package transcript

import (
	"fmt"

	"tandemux/internal/approval"
	"tandemux/ui/markup"
	"tandemux/ui/words"
)

// change is what became of a file.
type change approval.Edit

// title is what a change is, on one line.
func (c change) title(g *markup.Glyphs) []markup.Run {
	r := []markup.Run{{Text: words.Line(c.Path), Attr: markup.Bold}}
	switch {
	case c.Fresh:
		r = append(r, markup.Run{Text: " new", Role: markup.Muted})
	case c.Gone:
		r = append(r, markup.Run{Text: " deleted", Role: markup.Removed})
	}
	if c.Plus > 0 {
		r = append(r, markup.Run{Text: fmt.Sprintf(" +%d", c.Plus), Role: markup.Added})
	}
	if c.Minus > 0 {
		r = append(r, markup.Run{Text: fmt.Sprintf(" -%d", c.Minus), Role: markup.Removed})
	}
	if c.Unread != "" {
		r = append(r, markup.Run{Text: " " + g.Dot + " " + c.Unread, Role: markup.Muted})
	}
	return r
}

// render draws the change, at most that many rows of its lines; rest is how many
// lines are left out.
func (c change) render(w, most int, g *markup.Glyphs) (out []markup.Line, rest int) {
	lang := markup.LanguageOf(c.Path)
	digits := 1
	for _, h := range c.Hunks {
		digits = max(digits, len(fmt.Sprint(h.To+len(h.Lines))), len(fmt.Sprint(h.From+len(h.Lines))))
	}
	numbers := w >= 30
	var s markup.Highlighter
	for i, h := range c.Hunks {
		before, after := h.From, h.To
		if i > 0 && most > len(out) {
			out = append(out, markup.Line{Runs: []markup.Run{{Text: g.Ellipsis, Role: markup.Muted}}, Lead: 1})
		}
		s = markup.Highlighter{}
		for _, l := range h.Lines {
			l = words.Lines(l)
			if len(out) >= most {
				rest++
				continue
			}
			n, mark, style := after, " ", markup.Plain
			switch l[0] {
			case '+':
				mark, style = "+", markup.Added
				after++
			case '-':
				n, mark, style = before, "-", markup.Removed
				before++
			default:
				before, after = before+1, after+1
			}
			lead := []markup.Run{{Text: mark + " ", Role: style}}
			if numbers {
				lead = []markup.Run{{Text: fmt.Sprintf("%*d ", digits, n), Role: markup.Muted}, {Text: mark + " ", Role: style}}
			}
			var text []markup.Run
			if style == markup.Plain {
				text = s.Line(l[1:], lang)
			} else if l[1:] != "" {
				text = []markup.Run{{Text: l[1:], Role: style}}
			}
			out = append(out, markup.WrapAnywhere(text, w, markup.Indent(lead))...)
		}
	}
	if len(out) > most {
		out = out[:most]
	}
	return out, rest
}
