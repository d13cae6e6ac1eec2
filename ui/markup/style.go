package markup

import (
	"unicode/utf8"

	"tandemux/emulator"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Glyphs is the characters of a transcript.
type Glyphs struct {
	Bullet, Quote, Bar, Rule, User, Folded, Open, Prompt string
	Box, Checked                                         string
	Waiting, Running, Passed, Failed, Skipped            string
	Ellipsis, Dot                                        string
	Marker, Corner                                       string
}

// GlyphsOf returns the characters for a look.
func GlyphsOf(l *look.Look) Glyphs {
	g := Glyphs{
		Bullet: "•", Quote: "▎", Bar: "│", Rule: "─", User: "▌", Folded: "▸", Open: "▾", Prompt: "›",
		Box: "☐", Checked: "☑", Waiting: "?", Running: "●", Passed: "✓", Failed: "✗", Skipped: "○",
		Ellipsis: l.Ellipsis, Dot: "·", Marker: "┃", Corner: "╭",
	}
	if l.Ellipsis == look.ASCII.Ellipsis {
		g = Glyphs{
			Bullet: "*", Quote: "|", Bar: "|", Rule: "-", User: "|", Folded: ">", Open: "v", Prompt: ">",
			Box: "[ ]", Checked: "[x]", Waiting: "?", Running: "*", Passed: "o", Failed: "x", Skipped: "-",
			Ellipsis: l.Ellipsis, Dot: "-", Marker: "#", Corner: "+",
		}
	}
	return g
}

// Palette is the styles of the roles.
type Palette [roles]look.Style

// PaletteOf returns the palette for a look.
func PaletteOf(l *look.Look) Palette {
	fg := func(s look.Style) look.Style { return look.Style{FG: s.FG} }
	faint := look.Style{FG: l.Title.FG}
	if l.Title.FG.IsDefault() {
		faint.Attrs = emulator.Faint
	}
	p := Palette{
		Plain: {}, Muted: faint, Accent: fg(l.OverlayAccent), heading: fg(l.OverlayAccent),
		codeText: fg(l.Background), LinkText: fg(l.BorderFocused), quote: faint, User: fg(l.BorderFocused),
		Passed: fg(l.MarkPassed), Failed: fg(l.Fail), Running: fg(l.MarkRunning), Warned: fg(l.Agent),
		Added: fg(l.MarkPassed), Removed: fg(l.Fail),
		keyword: fg(l.OverlayAccent), literal: fg(l.MarkPassed), comment: faint, callee: fg(l.BorderFocused),
	}
	p[LinkText].Underline = emulator.Single
	p[heading].Attrs |= emulator.Bold
	p[comment].Attrs |= emulator.Italic
	if l.OverlayAccent.FG.IsDefault() { // no colours
		p[Accent].Attrs |= emulator.Bold
		p[keyword].Attrs |= emulator.Bold
		p[Failed].Attrs |= emulator.Bold
		p[Warned].Attrs |= emulator.Bold
		p[Removed].Attrs |= emulator.Faint
		p[Added].Attrs |= emulator.Bold
	}
	return p
}

// style returns the style of a run.
func (p *Palette) style(r Run) look.Style {
	s := p[r.Role]
	if r.Attr&Bold != 0 {
		s.Attrs |= emulator.Bold
	}
	if r.Attr&Italic != 0 {
		s.Attrs |= emulator.Italic
	}
	if r.Attr&Strike != 0 {
		s.Attrs |= emulator.Strike
	}
	if r.Attr&Underline != 0 {
		s.Underline = emulator.Single
	}
	return s
}

// DrawRuns draws runs from a cell rightwards and returns the number of cells drawn.
func DrawRuns(c *paint.Canvas, x, y, w int, runs []Run, p *Palette) int {
	used := 0
	for _, r := range runs {
		if used >= w {
			break
		}
		if r.Link != "" {
			cells := linked(r, p.style(r))
			cells = cells[:min(len(cells), w-used)]
			c.Line(x+used, y, cells)
			used += len(cells)
			continue
		}
		used += c.Text(x+used, y, w-used, r.Text, p.style(r))
	}
	return used
}

// linked returns the cells of a run with a link, which the outer terminal may open (OSC 8).
func linked(r Run, s look.Style) []emulator.Cell {
	var cells []emulator.Cell
	for g := emulator.ClustersOf(r.Text); g.Next(); {
		w := g.Width()
		if w <= 0 {
			continue
		}
		first, size := utf8.DecodeRuneInString(g.Value())
		cells = append(cells, emulator.Cell{Rune: first, Combining: g.Value()[size:], Width: uint8(min(w, 2)), Style: s, Link: r.Link})
		if w > 1 {
			cells = append(cells, emulator.Cell{Style: s, Link: r.Link})
		}
	}
	return cells
}
