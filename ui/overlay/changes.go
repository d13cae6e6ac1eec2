package overlay

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"cotty/ui/look"
	"cotty/ui/paint"
)

// Changed is a file that a task has changed.
type Changed struct {
	Mark           string // one cell: how
	Path           string
	Added, Deleted int // lines
	Binary         bool
}

// Bringing is what a list of changes says and does.
type Bringing struct {
	Title string
	Files []Changed
	// Note says where they would go, or why they can't.
	Note string
	// Merge brings them home, nil where that is nowhere; Out writes them into a
	// directory. Both close the list.
	Merge, Out func()
}

// Changes is what a task has changed, before it comes home.
type Changes struct {
	Bringing
	pick   picker
	inside paint.Rect // of the rows, as last drawn
}

// NewChanges gives a list of changes.
func NewChanges(b Bringing) *Changes { return &Changes{Bringing: b} }

// Key implements Overlay.
func (o *Changes) Key(k tea.Key) bool {
	s := stroke(k)
	if n, ok := listMoves[s]; ok {
		o.pick.move(n, len(o.Files))
		return false
	}
	switch s {
	case "j", "k":
		o.pick.move(map[string]int{"j": 1, "k": -1}[s], len(o.Files))
	case "m":
		if o.Merge != nil && len(o.Files) > 0 {
			o.Merge()
			return true
		}
	case "o":
		o.Out()
		return true
	case "esc", "q", "ctrl+c":
		return true
	}
	return false
}

// Paste implements Overlay: there is nothing to write into.
func (o *Changes) Paste(string) {}

// Click implements Clicker: it chooses a row.
func (o *Changes) Click(x, y int) bool {
	if i := o.pick.top + y - o.inside.Y; o.inside.Contains(x, y) && i < len(o.Files) {
		o.pick.chosen = i
	}
	return false
}

// Wheel implements Clicker.
func (o *Changes) Wheel(up bool) {
	n := 1
	if up {
		n = -1
	}
	o.pick.move(n, len(o.Files))
}

// Draw implements Overlay.
func (o *Changes) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	keys := "o copy out  esc back"
	if o.Merge != nil && len(o.Files) > 0 {
		keys = "m merge  " + keys
	}
	r := centred(area, min(110, area.W-2), min(max(len(o.Files)+4, 6), max(area.H*4/5, min(area.H, 8))))
	in := box(c, r, o.Title, keys, l)
	if in.H < 2 {
		return paint.Cursor{}
	}
	c.Text(in.X+1, in.Y, in.W-2, paint.Cut(o.Note, in.W-2, l.Ellipsis), l.OverlayMuted)
	o.inside = paint.Rect{X: in.X, Y: in.Y + 1, W: in.W, H: in.H - 1}
	if len(o.Files) == 0 {
		c.Text(in.X+1, in.Y+1, in.W-2, "nothing was changed", l.OverlayMuted)
	}
	o.pick.scroll(o.inside.H, len(o.Files))
	added, deleted := 0, 0
	for _, f := range o.Files {
		added, deleted = max(added, len(lines('+', f))), max(deleted, len(lines('-', f)))
	}
	for i := range min(o.inside.H, len(o.Files)-o.pick.top) {
		o.row(c, o.inside.Y+i, o.pick.top+i, added, deleted, l)
	}
	return paint.Cursor{}
}

func (o *Changes) row(c *paint.Canvas, y, i, added, deleted int, l look.Look) {
	f := o.Files[i]
	in := func(s look.Style) look.Style {
		if i == o.pick.chosen {
			return l.Selected
		}
		s.BG = l.Overlay.BG
		return s
	}
	c.Fill(paint.Rect{X: o.inside.X, Y: y, W: o.inside.W, H: 1}, ' ', in(l.Overlay))
	x, w := o.inside.X+1, o.inside.W-2
	c.Text(x, y, 1, f.Mark, in(l.OverlayMuted))
	numbers := added + deleted + 2
	put := func(x, width int, text string, s look.Style) {
		c.Text(x+width-len(text), y, width, text, in(s))
	}
	put(x+w-deleted, deleted, lines('-', f), l.MarkFailed)
	put(x+w-deleted-1-added, added, lines('+', f), l.MarkPassed)
	c.Text(x+2, y, w-2-numbers, cutLeft(f.Path, w-2-numbers, l.Ellipsis), in(l.Overlay))
}

// lines is a number of lines with its sign.
func lines(sign byte, f Changed) string {
	n := f.Added
	if sign == '-' {
		n = f.Deleted
	}
	switch {
	case f.Binary && sign == '+':
		return "bin"
	case n == 0:
		return ""
	}
	return fmt.Sprintf("%c%d", sign, n)
}

// cutLeft keeps the end of a path.
func cutLeft(path string, w int, ellipsis string) string {
	if paint.Width(path) <= w {
		return path
	}
	for runes := []rune(path); len(runes) > 0; runes = runes[1:] {
		if s := ellipsis + string(runes[1:]); paint.Width(s) <= w {
			return s
		}
	}
	return ""
}
