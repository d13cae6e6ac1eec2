package chat

import (
	"unicode/utf8"

	"tandemux/emulator"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// glyphs are the characters of a transcript.
type glyphs struct {
	bullet, quote, bar, rule, user, folded, open, more, prompt string
	box, checked                                               string
	waiting, running, passed, failed, skipped                  string
	ellipsis, dot                                              string
	marker, corner                                             string
}

// glyphsOf chooses the characters that a look's terminal can show.
func glyphsOf(l *look.Look) glyphs {
	g := glyphs{
		bullet: "•", quote: "▎", bar: "│", rule: "─", user: "▌", folded: "▸", open: "▾", more: "…", prompt: "›",
		box: "☐", checked: "☑", waiting: "?", running: "●", passed: "✓", failed: "✗", skipped: "○",
		ellipsis: l.Ellipsis, dot: "·", marker: "┃", corner: "╭",
	}
	if l.Ellipsis == look.ASCII.Ellipsis {
		g = glyphs{
			bullet: "*", quote: "|", bar: "|", rule: "-", user: "|", folded: ">", open: "v", more: "~", prompt: ">",
			box: "[ ]", checked: "[x]", waiting: "?", running: "*", passed: "o", failed: "x", skipped: "-",
			ellipsis: l.Ellipsis, dot: "-", marker: "#", corner: "+",
		}
	}
	return g
}

// Palette gives each role its style.
type palette [roles]look.Style

func paletteOf(l *look.Look) palette {
	fg := func(s look.Style) look.Style { return look.Style{FG: s.FG} }
	faint := look.Style{FG: l.Title.FG}
	if l.Title.FG.IsDefault() {
		faint.Attrs = emulator.Faint
	}
	p := palette{
		plain: {}, muted: faint, accent: fg(l.OverlayAccent), heading: fg(l.OverlayAccent),
		codeText: fg(l.Background), linkText: fg(l.BorderFocused), quote: faint, user: fg(l.BorderFocused),
		passed: fg(l.MarkPassed), failed: fg(l.Fail), running: fg(l.MarkRunning), warned: fg(l.Agent),
		added: fg(l.MarkPassed), removed: fg(l.Fail),
		keyword: fg(l.OverlayAccent), literal: fg(l.MarkPassed), comment: faint, callee: fg(l.BorderFocused),
	}
	p[linkText].Underline = emulator.Single
	p[heading].Attrs |= emulator.Bold
	p[comment].Attrs |= emulator.Italic
	if l.OverlayAccent.FG.IsDefault() { // no colours
		p[accent].Attrs |= emulator.Bold
		p[keyword].Attrs |= emulator.Bold
		p[failed].Attrs |= emulator.Bold
		p[warned].Attrs |= emulator.Bold
		p[removed].Attrs |= emulator.Faint
		p[added].Attrs |= emulator.Bold
	}
	return p
}

// style is how a run is drawn.
func (p *palette) style(r run) look.Style {
	s := p[r.role]
	if r.attr&bold != 0 {
		s.Attrs |= emulator.Bold
	}
	if r.attr&italic != 0 {
		s.Attrs |= emulator.Italic
	}
	if r.attr&strike != 0 {
		s.Attrs |= emulator.Strike
	}
	if r.attr&underline != 0 {
		s.Underline = emulator.Single
	}
	return s
}

// drawRuns draws runs from a cell rightwards and gives the cells that they took.
func drawRuns(c *paint.Canvas, x, y, w int, runs []run, p *palette) int {
	used := 0
	for _, r := range runs {
		if used >= w {
			break
		}
		if r.link != "" {
			used += drawLink(c, x+used, y, w-used, r, p.style(r))
			continue
		}
		used += c.Text(x+used, y, w-used, r.text, p.style(r))
	}
	return used
}

// drawLink draws a run that the outer terminal may open (OSC 8).
func drawLink(c *paint.Canvas, x, y, w int, r run, s look.Style) int {
	cells := linked(r, s)
	cells = cells[:min(len(cells), w)]
	c.Line(x, y, cells)
	return len(cells)
}

// linked gives the cells of a run with its link.
func linked(r run, s look.Style) []emulator.Cell {
	var cells []emulator.Cell
	for g := emulator.ClustersOf(r.text); g.Next(); {
		w := g.Width()
		if w <= 0 {
			continue
		}
		first, size := utf8.DecodeRuneInString(g.Value())
		cells = append(cells, emulator.Cell{Rune: first, Combining: g.Value()[size:], Width: uint8(min(w, 2)), Style: s, Link: r.link})
		if w > 1 {
			cells = append(cells, emulator.Cell{Style: s, Link: r.link})
		}
	}
	return cells
}
