package overlay

import (
	"strings"

	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Layout is a row of the list of layouts.
type Layout struct {
	Name  string
	Facts string // what it shows, in words
	Here  bool   // it is the one on the screen
}

// LayoutDo is what the list can do with a layout. New needs none.
type LayoutDo struct {
	Go, Rename, Delete func(name string)
	New                func()
}

func (l Layout) key() string    { return l.Name }
func (l Layout) filter() string { return l.Name }

// Layouts is the list of layouts to go to.
type Layouts struct{ list[Layout] }

// NewLayouts gives a list of what rows gives at the time, with current chosen.
func NewLayouts(rows func() []Layout, current string, do LayoutDo) *Layouts {
	with := func(f func(string)) func(Layout) { return func(row Layout) { f(row.Name) } }
	begin := closes("n", "new", func(Layout) { do.New() })
	begin.rowless = true
	actions := []action[Layout]{begin, closes("r", "rename", with(do.Rename)), closes("x", "delete", with(do.Delete))}
	return &Layouts{list[Layout]{
		rows: rows, current: current,
		enterKeys: "enter go", enter: func(row Layout) bool { do.Go(row.Name); return true },
		actions: func() []action[Layout] { return actions },
	}}
}

// Draw implements Overlay.
func (s *Layouts) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	s.match()
	in, cursor := s.frame(c, area, 68, max(len(s.shown)+3, 8), "Layouts", l.Pointer, l)
	if in.Empty() {
		return cursor
	}
	s.draw(c, in, "no layout matches", l, func(r paint.Rect, row Layout, on func(look.Style) look.Style) {
		facts := row.Facts
		if row.Here {
			facts = strings.TrimPrefix(facts+", here", ", ")
		}
		w := min(paint.Width(facts), r.W/2)
		c.Text(r.X+3, r.Y, r.W-w-5, paint.Cut(row.Name, r.W-w-5, l.Ellipsis), on(l.Overlay))
		c.Text(r.X+r.W-w-1, r.Y, w, paint.Cut(facts, w, l.Ellipsis), on(l.OverlayMuted))
	})
	s.drawMenu(c, in, l)
	return cursor
}
