package overlay

import (
	"fmt"

	"tandemux/ui/look"
	"tandemux/ui/paint"
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

func (f Changed) key() string    { return f.Path }
func (f Changed) filter() string { return f.Path }

// Changes is what a task has changed, before it comes home.
type Changes struct {
	Bringing
	list[Changed]
}

// NewChanges gives a list of changes.
func NewChanges(b Bringing) *Changes {
	out := closes("o", "copy out", func(Changed) { b.Out() })
	out.rowless = true
	actions := []action[Changed]{out}
	if b.Merge != nil && len(b.Files) > 0 {
		merge := closes("m", "merge", func(Changed) { b.Merge() })
		merge.rowless = true
		actions = []action[Changed]{merge, out}
	}
	return &Changes{Bringing: b, list: list[Changed]{
		rows: func() []Changed { return b.Files }, actions: func() []action[Changed] { return actions },
	}}
}

// Draw implements Overlay.
func (o *Changes) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	o.match()
	h := min(max(len(o.Files)+5, 7), max(area.H*4/5, min(area.H, 8)))
	in, cursor := o.frame(c, area, 110, h, o.Title, l.Pointer, l)
	if in.H < 2 {
		return cursor
	}
	c.Text(in.X+1, in.Y, in.W-2, paint.Cut(o.Note, in.W-2, l.Ellipsis), l.OverlayMuted)
	empty := "no file matches"
	if len(o.Files) == 0 {
		empty = "nothing was changed"
	}
	added, deleted := 0, 0
	for _, f := range o.Files {
		added, deleted = max(added, len(lines('+', f))), max(deleted, len(lines('-', f)))
	}
	rows := paint.Rect{X: in.X, Y: in.Y + 1, W: in.W, H: in.H - 1}
	o.draw(c, rows, empty, l, func(r paint.Rect, f Changed, on func(look.Style) look.Style) {
		x, w := r.X+1, r.W-2
		c.Text(x, r.Y, 1, f.Mark, on(l.OverlayMuted))
		put := func(x, width int, text string, s look.Style) {
			c.Text(x+width-len(text), r.Y, width, text, on(s))
		}
		put(x+w-deleted, deleted, lines('-', f), l.MarkFailed)
		put(x+w-deleted-1-added, added, lines('+', f), l.MarkPassed)
		room := w - 2 - added - deleted - 2
		c.Text(x+2, r.Y, room, cutLeft(f.Path, room, l.Ellipsis), on(l.Overlay))
	})
	o.drawMenu(c, in, l)
	return cursor
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
