package overlay

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"cotty/ui/look"
	"cotty/ui/paint"
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

// Layouts is the list of layouts to go to.
type Layouts struct {
	rows   func() []Layout
	do     LayoutDo
	pick   picker
	typing bool
	shown  []Layout
	inside paint.Rect // of the rows, as last drawn
}

// NewLayouts gives a list of what rows gives at the time, with the one on the
// screen chosen.
func NewLayouts(rows func() []Layout, do LayoutDo) *Layouts {
	s := &Layouts{rows: rows, do: do}
	for i, l := range rows() {
		if l.Here {
			s.pick.chosen = i
		}
	}
	return s
}

func (s *Layouts) match() {
	all := s.rows()
	s.shown = s.shown[:0]
	for _, i := range matching(len(all), s.pick.query.String(), func(i int) string { return all[i].Name }) {
		s.shown = append(s.shown, all[i])
	}
	s.pick.chosen = min(s.pick.chosen, max(len(s.shown)-1, 0))
}

// Key implements Overlay.
func (s *Layouts) Key(k tea.Key) bool {
	s.match()
	stroke := stroke(k)
	if n, ok := listMoves[stroke]; ok {
		s.pick.move(n, len(s.shown))
		return false
	}
	if !s.typing {
		if done, known := s.verb(stroke); known {
			return done
		}
	}
	switch stroke {
	case "enter":
		return s.act(s.do.Go)
	case "esc", "ctrl+c":
		if s.typing {
			s.typing, s.pick = false, picker{}
			return false
		}
		return true
	}
	if s.pick.query.key(k) {
		s.typing = s.pick.query.String() != ""
		s.pick.chosen = 0
	}
	return false
}

// verb handles the letters that act.
func (s *Layouts) verb(stroke string) (done, known bool) {
	switch stroke {
	case "j":
		s.pick.move(1, len(s.shown))
	case "k":
		s.pick.move(-1, len(s.shown))
	case "q":
		return true, true
	case "/":
		s.typing = true
	case "n":
		s.do.New()
		return true, true
	case "r":
		return s.act(s.do.Rename), true
	case "d", "x":
		return s.act(s.do.Delete), true
	default:
		return false, false
	}
	return false, true
}

// act does something with the chosen row and reports whether there is one.
func (s *Layouts) act(do func(name string)) bool {
	if s.pick.chosen >= len(s.shown) {
		return false
	}
	do(s.shown[s.pick.chosen].Name)
	return true
}

// Paste implements Overlay.
func (s *Layouts) Paste(text string) {
	s.pick.query.insert(text)
	s.typing, s.pick.chosen = true, 0
}

// Click implements Clicker: it chooses a row, and goes to the chosen one.
func (s *Layouts) Click(x, y int) bool {
	i := s.pick.top + y - s.inside.Y
	if !s.inside.Contains(x, y) || i >= len(s.shown) {
		return false
	}
	again := i == s.pick.chosen
	s.pick.chosen = i
	return again && s.act(s.do.Go)
}

// Wheel implements Clicker.
func (s *Layouts) Wheel(up bool) {
	if up {
		s.pick.move(-1, len(s.shown))
	} else {
		s.pick.move(1, len(s.shown))
	}
}

// Draw implements Overlay.
func (s *Layouts) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	s.match()
	r := centred(area, min(64, area.W-2), min(max(len(s.shown)+3, 6), area.H))
	in := box(c, r, "Layouts", "enter go  n new  r rename  d delete  / filter", l)
	if in.H < 2 || in.W < 4 {
		return paint.Cursor{}
	}
	c.Text(in.X+1, in.Y, in.W-2, l.Pointer, l.OverlayAccent)
	text, at := s.pick.query.view(in.W - 4)
	if text == "" && !s.typing {
		c.Text(in.X+3, in.Y, in.W-4, "type / to filter", l.OverlayMuted)
	}
	c.Text(in.X+3, in.Y, in.W-4, text, l.Overlay)
	s.inside = paint.Rect{X: in.X, Y: in.Y + 1, W: in.W, H: in.H - 1}
	s.pick.scroll(s.inside.H, len(s.shown))
	if len(s.shown) == 0 {
		c.Text(in.X+3, in.Y+1, in.W-4, "no layout matches", l.OverlayMuted)
	}
	for i := range min(s.inside.H, len(s.shown)-s.pick.top) {
		row, style, muted := s.shown[s.pick.top+i], l.Overlay, l.OverlayMuted
		if s.pick.top+i == s.pick.chosen {
			style, muted = l.Selected, l.Selected
		}
		y := s.inside.Y + i
		c.Fill(paint.Rect{X: in.X, Y: y, W: in.W, H: 1}, ' ', style)
		facts := row.Facts
		if row.Here {
			facts = strings.TrimPrefix(facts+", here", ", ")
		}
		w := min(paint.Width(facts), in.W/2)
		c.Text(in.X+3, y, in.W-w-5, paint.Cut(row.Name, in.W-w-5, l.Ellipsis), style)
		c.Text(in.X+in.W-w-1, y, w, paint.Cut(facts, w, l.Ellipsis), muted)
	}
	return paint.Cursor{X: in.X + 3 + at, Y: in.Y, Visible: true, Default: true}
}
