package overlay

import (
	tea "charm.land/bubbletea/v2"

	"cotty/ui/look"
	"cotty/ui/paint"
)

// Choosing is what a Choice does. Moved is called with each row that the choice
// comes to, so that it can be shown at once; none when no row matches.
type Choosing struct {
	Title  string
	Rows   []string
	Chosen int // index of the row to start from
	Moved  func(row int)
	Accept func(row int)
	// Keep, if not nil, is Accept for good; it has a key of its own.
	Keep func(row int)
}

// Choice is a list of names, one of which is chosen. Typing filters it.
type Choice struct {
	Choosing
	pick  picker
	shown []int
	at    int // the row that Moved was called with last
	in    paint.Rect
}

// NewChoice gives a list.
func NewChoice(c Choosing) *Choice {
	o := &Choice{Choosing: c, at: c.Chosen}
	o.match()
	o.pick.chosen = c.Chosen
	return o
}

func (o *Choice) match() {
	o.shown = matching(len(o.Rows), o.pick.query.String(), func(i int) string { return o.Rows[i] })
	o.pick.chosen = min(o.pick.chosen, max(len(o.shown)-1, 0))
}

// moved tells where the choice is, if that has changed.
func (o *Choice) moved() {
	if row, ok := o.row(); ok && row != o.at {
		o.at = row
		o.Moved(row)
	}
}

func (o *Choice) row() (int, bool) {
	if o.pick.chosen >= len(o.shown) {
		return 0, false
	}
	return o.shown[o.pick.chosen], true
}

// Key implements Overlay.
func (o *Choice) Key(k tea.Key) bool {
	s := stroke(k)
	if n, ok := listMoves[s]; ok {
		o.pick.move(n, len(o.shown))
		o.moved()
		return false
	}
	row, ok := o.row()
	switch s {
	case "esc", "ctrl+c", "ctrl+g":
		return true
	case "enter":
		if ok {
			o.Accept(row)
		}
		return ok
	case "ctrl+s":
		if ok && o.Keep != nil {
			o.Keep(row)
			return true
		}
		return false
	}
	if o.pick.query.key(k) {
		o.pick.chosen = 0
		o.match()
		o.moved()
	}
	return false
}

// Paste implements Overlay.
func (o *Choice) Paste(text string) {
	o.pick.query.insert(text)
	o.pick.chosen = 0
	o.match()
	o.moved()
}

// Click implements Clicker.
func (o *Choice) Click(x, y int) bool {
	i := o.pick.top + y - o.in.Y
	if !o.in.Contains(x, y) || i >= len(o.shown) {
		return false
	}
	o.Accept(o.shown[i])
	return true
}

// Wheel implements Clicker.
func (o *Choice) Wheel(up bool) {
	n := 1
	if up {
		n = -1
	}
	o.pick.move(n, len(o.shown))
	o.moved()
}

// Draw implements Overlay.
func (o *Choice) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	footer := "enter use  esc leave"
	if o.Keep != nil {
		footer = "enter use  ctrl+s keep  esc leave"
	}
	if area.H > 8 {
		area.H-- // what is chosen may change the status line
	}
	w := max(40, paint.Width(o.Title)+6)
	for _, row := range o.Rows {
		w = max(w, paint.Width(row)+4)
	}
	r := centred(area, min(w, 90, area.W-2), min(len(o.Rows)+3, area.H))
	in := box(c, r, o.Title, footer, l)
	if in.H < 2 {
		return paint.Cursor{}
	}
	c.Text(in.X+1, in.Y, in.W-2, "/", l.OverlayAccent)
	text, at := o.pick.query.view(in.W - 4)
	c.Text(in.X+3, in.Y, in.W-4, text, l.Overlay)
	o.in = paint.Rect{X: in.X, Y: in.Y + 1, W: in.W, H: in.H - 1}
	o.pick.scroll(o.in.H, len(o.shown))
	for i := range min(o.in.H, len(o.shown)-o.pick.top) {
		n := o.pick.top + i
		row := paint.Rect{X: in.X, Y: o.in.Y + i, W: in.W, H: 1}
		style := l.Overlay
		if n == o.pick.chosen {
			style = l.Selected
		}
		c.Fill(row, ' ', style)
		c.Text(row.X+1, row.Y, row.W-2, paint.Cut(o.Rows[o.shown[n]], row.W-2, l.Ellipsis), style)
	}
	if len(o.shown) == 0 {
		c.Text(in.X+3, o.in.Y, in.W-4, "nothing matches", l.OverlayMuted)
	}
	return paint.Cursor{X: in.X + 3 + at, Y: in.Y, Visible: true, Default: true}
}
