package overlay

import (
	"strconv"

	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Choosing is what a Choice does. Moved is called with each row that the choice
// comes to, so that it can be shown at once; none when no row matches.
type Choosing struct {
	Title  string
	Rows   []string
	Chosen int // index of the row to start from
	Moved  func(row int)
	Accept func(row int)
	// Once, if not nil, is Accept for this time only; it is an action of its own.
	Once func(row int)
}

// Choice is a list of names, one of which is chosen.
type Choice struct {
	Choosing
	list[choiceRow]
}

// choiceRow is a row of a Choice by its index and its name.
type choiceRow struct {
	n    int
	name string
}

func (r choiceRow) key() string    { return strconv.Itoa(r.n) }
func (r choiceRow) filter() string { return r.name }

// NewChoice gives a list.
func NewChoice(c Choosing) *Choice {
	rows := make([]choiceRow, len(c.Rows))
	for i, name := range c.Rows {
		rows[i] = choiceRow{i, name}
	}
	o := &Choice{Choosing: c, list: list[choiceRow]{
		rows: func() []choiceRow { return rows }, current: strconv.Itoa(c.Chosen),
		enterKeys: "enter use", enter: func(row choiceRow) bool { c.Accept(row.n); return true }, clickEnters: true,
		moved: func(row choiceRow) { c.Moved(row.n) },
	}}
	if c.Once != nil {
		actions := []action[choiceRow]{closes("t", "for now", func(row choiceRow) { c.Once(row.n) })}
		o.actions = func() []action[choiceRow] { return actions }
	}
	return o
}

// Draw implements Overlay.
func (o *Choice) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	o.match()
	if area.H > 8 {
		area.H-- // what is chosen may change the status line
	}
	w := max(40, paint.Width(o.Title)+6)
	for _, row := range o.Rows {
		w = max(w, paint.Width(row)+4)
	}
	in, cursor := o.frame(c, area, min(w, 90), len(o.Rows)+3, o.Title, "/", l)
	if in.Empty() {
		return cursor
	}
	o.draw(c, in, "nothing matches", l, func(r paint.Rect, row choiceRow, on func(look.Style) look.Style) {
		c.Text(r.X+1, r.Y, r.W-2, paint.Cut(row.name, r.W-2, l.Ellipsis), on(l.Overlay))
	})
	o.drawMenu(c, in, l)
	return cursor
}
