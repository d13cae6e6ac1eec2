package diff

import (
	"fmt"

	"tandemux/internal/approval"
	"tandemux/ui/look"
	"tandemux/ui/markup"
	"tandemux/ui/paint"
	"tandemux/ui/words"
)

// The most rows of the screen that a line or a comment takes.
const (
	tallLine = 4
	tallNote = 20
)

// dress is the settings for drawing rows.
type dress struct {
	look    *look.Look
	glyphs  markup.Glyphs
	palette markup.Palette
	w       int
}

// Draw draws the visible rows into a rectangle.
func (v *View) Draw(c *paint.Canvas, r paint.Rect, l *look.Look) {
	d := &dress{look: l, glyphs: markup.GlyphsOf(l), palette: markup.PaletteOf(l), w: r.W}
	c.Fill(r, ' ', d.palette[markup.Plain])
	v.height, v.inside, v.y = r.H, v.inside[:0], r.Y
	if r.Empty() || len(v.rows) == 0 {
		return
	}
	v.scroll(d, r.H)
	first := v.rows[v.top]
	from, to := v.selected()
	for i := v.top; i < len(v.rows) && len(v.inside) < r.H; i++ {
		lines := v.render(i, d)
		if i == v.top && first.kind != head && first.file != nil && r.H > 2 { // the file's title stays at the top
			c.Fill(paint.Rect{X: r.X, Y: r.Y, W: r.W, H: 1}, ' ', d.palette[markup.Plain])
			markup.DrawRuns(c, r.X, r.Y, r.W, v.title(first.file, d), &d.palette)
			v.inside = append(v.inside, -1)
		}
		for _, ln := range lines[:min(len(lines), r.H-len(v.inside))] {
			y := r.Y + len(v.inside)
			markup.DrawRuns(c, r.X, y, r.W, ln.Runs, &d.palette)
			if i >= from && i <= to {
				c.Restyle(paint.Rect{X: r.X, Y: y, W: r.W, H: 1}, func(look.Style) look.Style { return l.Selected })
			}
			for from, to := range ln.Find(v.find) {
				c.Restyle(paint.Rect{X: r.X + from, Y: y, W: to - from, H: 1}, func(look.Style) look.Style { return l.Match })
			}
			v.inside = append(v.inside, i)
		}
	}
}

// scroll scrolls to the cursor's row.
func (v *View) scroll(d *dress, h int) {
	v.top = max(min(v.top, v.at, len(v.rows)-1), 0)
	room := h
	if h > 2 {
		room-- // the file's title may be above
	}
	used, below := 0, v.at
	for rows := 0; rows < h/4 && below+1 < len(v.rows); { // show some rows below the cursor
		below++
		rows += len(v.render(below, d))
	}
	for i := below; i >= v.top; i-- {
		if used += len(v.render(i, d)); used > room {
			v.top = min(i+1, v.at)
			break
		}
	}
	// Leave no empty rows at the end.
	used = 0
	for i := len(v.rows) - 1; i >= 0 && used <= room; i-- {
		if used += len(v.render(i, d)); used > room {
			v.top = min(v.top, i+1)
			return
		}
	}
	if used <= room {
		v.top = 0
	}
}

// Click moves the cursor to the row at a line of the screen. It reports whether the cursor was
// there already.
func (v *View) Click(y int) (again bool) {
	if y -= v.y; y < 0 || y >= len(v.inside) || v.inside[y] < 0 {
		return false
	}
	again = v.at == v.inside[y]
	v.at = v.inside[y]
	return again
}

// title describes a file and its change on one line.
func (v *View) title(f *file, d *dress) []markup.Run {
	sign := d.glyphs.Folded
	if f.open {
		sign = d.glyphs.Open
	}
	name := approval.Escape(f.Path)
	if f.From != "" {
		name = approval.Escape(f.From) + " > " + name
	}
	var facts []markup.Run
	fact := func(role markup.Role, format string, args ...any) {
		facts = append(facts, markup.Run{Text: fmt.Sprintf(" "+format, args...), Role: role})
	}
	if f.Binary {
		fact(markup.Muted, "binary")
	}
	if f.Added > 0 {
		fact(markup.Added, "+%d", f.Added)
	}
	if f.Deleted > 0 {
		fact(markup.Removed, "-%d", f.Deleted)
	}
	notes := 0
	for _, n := range v.notes {
		if n.Key == f.Key && n.Key != "" {
			notes++
		}
	}
	if notes > 0 {
		fact(markup.Warned, "%s", words.Plural(notes, "comment"))
	}
	lead := []markup.Run{{Text: sign + " ", Role: markup.Accent}, {Text: f.Mark + " ", Role: markup.Muted}}
	room := max(d.w-markup.Width(lead)-markup.Width(facts), min(d.w/2, 20))
	lead = append(lead, markup.Run{Text: paint.CutFront(name, room, d.glyphs.Ellipsis), Attr: markup.Bold})
	return markup.Cut(append(lead, facts...), d.w, d.glyphs.Ellipsis)
}

// render lays out a row in at least one line of the screen.
func (v *View) render(i int, d *dress) []markup.Line {
	r := v.rows[i]
	muted := func(text string) []markup.Line {
		return tall(markup.Wrap([]markup.Run{{Text: text, Role: markup.Muted}}, d.w, markup.Indent([]markup.Run{{Text: "  "}})), tallNote, d)
	}
	switch r.kind {
	case head:
		return []markup.Line{{Runs: v.title(r.file, d)}}
	case line:
		return tall(v.line(r.file, r.from, d), tallLine, d)
	case gap:
		text := d.glyphs.Ellipsis
		if n := r.to - r.from; n > 0 {
			text = fmt.Sprintf("%s %d lines", text, n)
		}
		return muted(text)
	case note:
		return v.note(r, d)
	}
	return muted(approval.Escape(r.text))
}

// tall cuts lines to most.
func tall(lines []markup.Line, most int, d *dress) []markup.Line {
	if len(lines) > most {
		lines = lines[:most]
		end := &lines[most-1]
		end.Runs = append(markup.Cut(end.Runs, d.w-1, ""), markup.Run{Text: d.glyphs.Ellipsis, Role: markup.Muted})
	}
	return lines
}

func (v *View) line(f *file, n int, d *dress) []markup.Line {
	l := f.text.Lines[n]
	role, mark, number := markup.Plain, " ", l.New
	switch l.Kind {
	case '+':
		role, mark = markup.Added, "+"
	case '-':
		role, mark, number = markup.Removed, "-", l.Old
	}
	lead := []markup.Run{{Text: mark + " ", Role: role}}
	if d.w >= 30 {
		last := f.text.Lines[len(f.text.Lines)-1]
		digits := len(fmt.Sprint(max(last.Old, last.New)))
		lead = []markup.Run{{Text: fmt.Sprintf("%*d ", digits, number), Role: markup.Muted}, lead[0]}
	}
	text := approval.Escape(l.Text[:min(len(l.Text), tallLine*4*d.w)])
	runs := []markup.Run{{Text: text, Role: role}}
	if l.Kind == ' ' {
		runs = (&markup.Highlighter{}).Line(text, markup.LanguageOf(f.Path))
	}
	if l.Bare {
		runs = append(runs, markup.Run{Text: " (no newline)", Role: markup.Muted})
	}
	return markup.WrapAnywhere(runs, d.w, markup.Indent(lead))
}

func (v *View) note(r row, d *dress) []markup.Line {
	n := r.note
	where := ""
	switch {
	case n.First > 0 && n.First < n.Last:
		where = fmt.Sprintf("lines %d-%d", n.First, n.Last)
	case n.Last > 0:
		where = fmt.Sprintf("line %d", n.Last)
	}
	if r.stray && r.file != nil {
		where += ", which is gone"
	}
	state := "goes with the next message"
	switch {
	case n.Resolved:
		state = "resolved"
	case n.Given:
		state = "the agent has it"
	}
	if where != "" {
		state = where + " " + d.glyphs.Dot + " " + state
	}
	runs := []markup.Run{{Text: words.Lines(n.Text)}, {Text: "\n" + state, Role: markup.Muted}}
	if r.stray && n.Quote != "" {
		runs = append(runs, markup.Run{Text: "\nit said: " + approval.Escape(n.Quote), Role: markup.Muted})
	}
	lead := []markup.Run{{Text: "  " + d.glyphs.Quote + " ", Role: markup.Warned}}
	bar := markup.Indent(lead)
	bar.Rest = lead
	return tall(markup.Wrap(runs, d.w, bar), tallNote, d)
}
