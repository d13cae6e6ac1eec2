package overlay

import (
	"tandemux/ahp"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Terminal is a row of the terminal list.
type Terminal struct {
	URI        ahp.URI
	Title      string
	Badge      string
	BadgeStyle look.Style
	Where      string // "tab 2", "" when no pane of this layout shows it
	// Mark, in one cell, and Alert say what it has to tell; "" for nothing.
	Mark      string
	MarkStyle look.Style
	Alert     string
	// State is one cell that says how the command stands; Command is its line, or
	// what was started, and Facts how it went.
	State      string
	StateStyle look.Style
	Command    string
	Facts      string
	Cwd        string
}

// Actions are what the terminal list can do. They say themselves why not.
type Actions struct {
	// Show goes to it, Bring takes it into this tab.
	Show, Bring, Take, Background, Kill func(ahp.URI)
	// Preview draws the terminal's screen; it may be nil.
	Preview func(c *paint.Canvas, r paint.Rect, uri ahp.URI)
}

func (t Terminal) key() string { return string(t.URI) }

func (t Terminal) filter() string {
	return t.Title + " " + t.Cwd + " " + t.Badge + " " + t.Command + " " + t.Where
}

// Terminals is the list of all terminals of the host, with the chosen one's
// screen beside or below.
type Terminals struct {
	list[Terminal]
	preview func(c *paint.Canvas, r paint.Rect, uri ahp.URI)
}

// NewTerminals gives a list of what rows gives at the time, with current chosen if
// that is one of them.
func NewTerminals(rows func() []Terminal, current ahp.URI, do Actions) *Terminals {
	with := func(f func(ahp.URI)) func(Terminal) { return func(row Terminal) { f(row.URI) } }
	actions := []action[Terminal]{
		closes("t", "to this tab", with(do.Bring)),
		stays("r", "take", with(do.Take)),
		stays("b", "background", with(do.Background)),
		stays("x", "kill", with(do.Kill)),
	}
	return &Terminals{preview: do.Preview, list: list[Terminal]{
		rows: rows, current: string(current),
		enterKeys: "enter show", enter: func(row Terminal) bool { do.Show(row.URI); return true },
		actions: func() []action[Terminal] { return actions },
	}}
}

// Chosen is the terminal chosen now, "" for none.
func (t *Terminals) Chosen() ahp.URI {
	t.match()
	row, _ := t.row()
	return row.URI
}

// Sizes of the list, in cells.
const (
	listWide    = 120 // from here on the preview is beside the rows, else below
	listRows    = 66  // width of the rows beside a preview
	leastScreen = 5   // rows of a preview below
)

// Draw implements Overlay.
func (t *Terminals) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	t.match()
	h := max(len(t.shown)+4, 8)
	if t.preview != nil {
		h = max(h, area.H*3/4)
	}
	in, cursor := t.frame(c, area, 170, h, "Terminals", l.Pointer, l)
	if in.Empty() {
		return cursor
	}
	rows, facts, screen := t.divide(in)
	title, badge, where := t.columns(rows.W)
	t.draw(c, rows, "no terminal matches", l, func(r paint.Rect, row Terminal, on func(look.Style) look.Style) {
		if row.Mark != "" {
			c.Text(r.X, r.Y, 1, row.Mark, row.MarkStyle)
		}
		x := r.X + 2
		c.Text(x, r.Y, title-1, paint.Cut(row.Title, title-1, l.Ellipsis), on(l.Overlay))
		x += title
		c.Text(x, r.Y, badge-1, paint.Cut(row.Badge, badge-1, l.Ellipsis), on(row.BadgeStyle))
		x += badge
		c.Text(x, r.Y, 1, row.State, on(row.StateStyle))
		room := r.X + r.W - where - x - 2
		c.Text(x+2, r.Y, room, paint.Cut(row.Command, room, l.Ellipsis), on(l.OverlayMuted))
		c.Text(r.X+r.W-where, r.Y, where-1, paint.Cut(row.Where, where-1, l.Ellipsis), on(l.OverlayMuted))
	})
	if row, ok := t.row(); ok {
		factsLine(c, facts, l, row.Alert, row.Cwd, row.Facts, row.Where)
		if !screen.Empty() {
			t.preview(c, screen, row.URI)
		}
	}
	t.drawMenu(c, in, l)
	return cursor
}

// divide gives the places of the rows, of the chosen one's facts and of its
// screen, those for which there is room.
func (t *Terminals) divide(r paint.Rect) (list, facts, screen paint.Rect) {
	switch {
	case t.preview != nil && r.W >= listWide && r.H >= leastScreen:
		list = paint.Rect{X: r.X, Y: r.Y, W: listRows, H: r.H}
		x, w := r.X+listRows+1, r.W-listRows-1
		return list, paint.Rect{X: x, Y: r.Y, W: w, H: 1}, paint.Rect{X: x, Y: r.Y + 1, W: w, H: r.H - 1}
	case t.preview != nil && r.H >= 2*leastScreen:
		h := min(max(len(t.shown), 3), r.H-1-leastScreen, max(r.H*2/5, 3))
		list = paint.Rect{X: r.X, Y: r.Y, W: r.W, H: h}
		return list, paint.Rect{X: r.X, Y: r.Y + h, W: r.W, H: 1}, paint.Rect{X: r.X, Y: r.Y + h + 1, W: r.W, H: r.H - h - 1}
	case r.H > 3:
		return paint.Rect{X: r.X, Y: r.Y, W: r.W, H: r.H - 1}, paint.Rect{X: r.X, Y: r.Y + r.H - 1, W: r.W, H: 1}, paint.Rect{}
	}
	return r, paint.Rect{}, paint.Rect{}
}

// columns gives the widths of the titles, the badges and the places, in a row of
// w cells, with a blank behind each.
func (t *Terminals) columns(w int) (title, badge, where int) {
	for _, row := range t.shown {
		title, badge = max(title, paint.Width(row.Title)+1), max(badge, paint.Width(row.Badge)+1)
		where = max(where, paint.Width(row.Where)+1)
	}
	if where = min(max(where, 7), 20); w < 60 {
		where = 0
	}
	title = min(title, 24, w*2/5)
	return title, min(badge, max((w-where-title)*3/5, 10)), where
}
