package overlay

import (
	tea "charm.land/bubbletea/v2"

	"cotty/ahp"
	"cotty/ui/look"
	"cotty/ui/paint"
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

// Terminals is the list of all terminals of the host, with the chosen one's
// screen beside or below.
type Terminals struct {
	rows func() []Terminal
	do   Actions
	pick picker
	// typing says that every letter belongs to the filter.
	typing bool
	shown  []Terminal
	inside paint.Rect // of the rows, as last drawn
}

// NewTerminals gives a list of what rows gives at the time.
func NewTerminals(rows func() []Terminal, do Actions) *Terminals {
	return &Terminals{rows: rows, do: do}
}

// Chosen is the terminal chosen now, "" for none.
func (t *Terminals) Chosen() ahp.URI {
	t.match()
	if t.pick.chosen >= len(t.shown) {
		return ""
	}
	return t.shown[t.pick.chosen].URI
}

// match brings the rows up to date.
func (t *Terminals) match() {
	all := t.rows()
	var keep ahp.URI
	if t.pick.chosen < len(t.shown) {
		keep = t.shown[t.pick.chosen].URI
	}
	at := matching(len(all), t.pick.query.String(), func(i int) string {
		r := all[i]
		return r.Title + " " + r.Cwd + " " + r.Badge + " " + r.Command + " " + r.Where
	})
	t.shown = t.shown[:0]
	for _, i := range at {
		t.shown = append(t.shown, all[i])
	}
	if t.pick.query.String() == "" {
		// The choice stays on its terminal when the list changes under it.
		for i, r := range t.shown {
			if r.URI == keep {
				t.pick.chosen = i
			}
		}
	}
	t.pick.chosen = min(t.pick.chosen, max(len(t.shown)-1, 0))
}

// verbs are the single letters that act, until a filter is typed; with Alt
// they always do.
func (t *Terminals) verbs() map[string]func(ahp.URI) {
	return map[string]func(ahp.URI){"r": t.do.Take, "b": t.do.Background, "x": t.do.Kill, "t": t.do.Bring}
}

var listMoves = map[string]int{
	"up": -1, "down": 1, "ctrl+p": -1, "ctrl+n": 1, "pgup": -10, "pgdown": 10, "home": -1 << 20, "end": 1 << 20,
}

// Key implements Overlay.
func (t *Terminals) Key(k tea.Key) bool {
	t.match()
	stroke := stroke(k)
	if n, ok := listMoves[stroke]; ok {
		t.pick.move(n, len(t.shown))
		return false
	}
	if !t.typing {
		switch stroke {
		case "j", "k":
			t.pick.move(map[string]int{"j": 1, "k": -1}[stroke], len(t.shown))
			return false
		case "q":
			return true
		case "/":
			t.typing = true
			return false
		}
	}
	for letter, act := range t.verbs() {
		if stroke == "alt+"+letter || stroke == letter && !t.typing {
			if t.pick.chosen < len(t.shown) {
				act(t.shown[t.pick.chosen].URI)
			}
			return letter == "t" && len(t.shown) > 0
		}
	}
	switch stroke {
	case "enter":
		return t.choose()
	case "esc", "ctrl+c":
		if t.typing {
			t.typing, t.pick = false, picker{}
			return false
		}
		return true
	}
	if t.pick.query.key(k) {
		t.typing = t.pick.query.String() != ""
		t.pick.chosen = 0
	}
	return false
}

func (t *Terminals) choose() bool {
	if t.pick.chosen >= len(t.shown) {
		return false
	}
	t.do.Show(t.shown[t.pick.chosen].URI)
	return true
}

// Paste implements Overlay.
func (t *Terminals) Paste(text string) {
	t.pick.query.insert(text)
	t.typing, t.pick.chosen = true, 0
}

// Click implements Clicker: it chooses a row; the chosen one is shown.
func (t *Terminals) Click(x, y int) bool {
	if !t.inside.Contains(x, y) {
		return false
	}
	i := t.pick.top + y - t.inside.Y
	if i >= len(t.shown) {
		return false
	}
	again := i == t.pick.chosen
	t.pick.chosen = i
	return again && t.choose()
}

// Wheel implements Clicker.
func (t *Terminals) Wheel(up bool) {
	if up {
		t.pick.move(-1, len(t.shown))
	} else {
		t.pick.move(1, len(t.shown))
	}
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
	h := len(t.shown) + 4
	if t.do.Preview != nil {
		h = max(h, area.H*3/4)
	}
	r := centred(area, min(170, area.W-2), min(max(h, 8), area.H))
	in := box(c, r, "Terminals", "enter show  t to this tab  r take  b background  x kill  / filter", l)
	if in.H < 2 {
		return paint.Cursor{}
	}
	c.Text(in.X+1, in.Y, in.W-2, l.Pointer, l.OverlayAccent)
	text, at := t.pick.query.view(in.W - 4)
	if text == "" && !t.typing {
		c.Text(in.X+3, in.Y, in.W-4, "type to filter", l.OverlayMuted)
	}
	c.Text(in.X+3, in.Y, in.W-4, text, l.Overlay)
	list, facts, screen := t.divide(paint.Rect{X: in.X, Y: in.Y + 1, W: in.W, H: in.H - 1})
	t.inside = list
	t.pick.scroll(list.H, len(t.shown))
	if len(t.shown) == 0 {
		c.Text(list.X+3, list.Y, list.W-4, "no terminal matches", l.OverlayMuted)
	}
	for i := range min(list.H, len(t.shown)-t.pick.top) {
		t.row(c, paint.Rect{X: list.X, Y: list.Y + i, W: list.W, H: 1}, t.pick.top+i, l)
	}
	if t.pick.chosen < len(t.shown) {
		t.facts(c, facts, t.shown[t.pick.chosen], l)
		if !screen.Empty() {
			t.do.Preview(c, screen, t.shown[t.pick.chosen].URI)
		}
	}
	return paint.Cursor{X: in.X + 3 + at, Y: in.Y, Visible: true, Default: true}
}

// divide gives the places of the rows, of the chosen one's facts and of its
// screen, those for which there is room.
func (t *Terminals) divide(r paint.Rect) (list, facts, screen paint.Rect) {
	switch {
	case t.do.Preview != nil && r.W >= listWide && r.H >= leastScreen:
		list = paint.Rect{X: r.X, Y: r.Y, W: listRows, H: r.H}
		x, w := r.X+listRows+1, r.W-listRows-1
		return list, paint.Rect{X: x, Y: r.Y, W: w, H: 1}, paint.Rect{X: x, Y: r.Y + 1, W: w, H: r.H - 1}
	case t.do.Preview != nil && r.H >= 2*leastScreen:
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
	}
	if where = 7; w < 60 {
		where = 0
	}
	title = min(title, 24, w*2/5)
	return title, min(badge, max((w-where-title)*3/5, 10)), where
}

// row draws a terminal: what it has to tell, its title, who holds it, how its
// command stands, where it is.
func (t *Terminals) row(c *paint.Canvas, r paint.Rect, i int, l look.Look) {
	row := t.shown[i]
	chosen := i == t.pick.chosen
	paintIn := func(s look.Style) look.Style {
		if chosen {
			return l.Selected
		}
		s.BG = l.Overlay.BG
		return s
	}
	c.Fill(r, ' ', paintIn(l.Overlay))
	if row.Mark != "" {
		c.Text(r.X, r.Y, 1, row.Mark, row.MarkStyle)
	}
	title, badge, where := t.columns(r.W)
	x := r.X + 2
	c.Text(x, r.Y, title-1, paint.Cut(row.Title, title-1, l.Ellipsis), paintIn(l.Overlay))
	x += title
	c.Text(x, r.Y, badge-1, paint.Cut(row.Badge, badge-1, l.Ellipsis), paintIn(row.BadgeStyle))
	x += badge
	c.Text(x, r.Y, 1, row.State, paintIn(row.StateStyle))
	room := r.X + r.W - where - x - 2
	c.Text(x+2, r.Y, room, paint.Cut(row.Command, room, l.Ellipsis), paintIn(l.OverlayMuted))
	c.Text(r.X+r.W-where, r.Y, where-1, paint.Cut(row.Where, where-1, l.Ellipsis), paintIn(l.OverlayMuted))
}

// facts draws a line about the chosen terminal.
func (t *Terminals) facts(c *paint.Canvas, r paint.Rect, row Terminal, l look.Look) {
	if r.Empty() {
		return
	}
	c.Fill(r, l.Horizontal, l.OverlayBox)
	text := ""
	for _, s := range [...]string{row.Alert, row.Cwd, row.Facts, row.Where} {
		switch {
		case s == "":
		case text == "":
			text = s
		default:
			text += " " + l.Separator + " " + s
		}
	}
	if text != "" {
		c.Text(r.X+1, r.Y, r.W-2, " "+paint.Cut(text, r.W-4, l.Ellipsis)+" ", l.OverlayMuted)
	}
}
