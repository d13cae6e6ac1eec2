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
	Badge      string
	BadgeStyle look.Style
	Title      string
	Cwd        string
	Where      string // "2 vim" for tab 2, "" when no pane of this layout shows it
	Detail     string // the command, where it is not a shell
}

// Actions are what the terminal list can do. They say themselves why not.
type Actions struct {
	Show, Take, Background, Kill func(ahp.URI)
}

// Terminals is the list of all terminals of the host.
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

// match brings the rows up to date.
func (t *Terminals) match() {
	all := t.rows()
	var keep ahp.URI
	if t.pick.chosen < len(t.shown) {
		keep = t.shown[t.pick.chosen].URI
	}
	at := matching(len(all), t.pick.query.String(), func(i int) string {
		r := all[i]
		return r.Title + " " + r.Cwd + " " + r.Badge + " " + r.Detail + " " + r.Where
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
	return map[string]func(ahp.URI){"r": t.do.Take, "b": t.do.Background, "x": t.do.Kill}
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
			return false
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

// Draw implements Overlay.
func (t *Terminals) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	t.match()
	r := centred(area, min(110, area.W-2), min(max(len(t.shown)+4, 8), area.H))
	in := box(c, r, "Terminals", "enter show  r take  b background  x kill  / filter", l)
	if in.H < 2 {
		return paint.Cursor{}
	}
	c.Text(in.X+1, in.Y, in.W-2, l.Pointer, l.OverlayAccent)
	text, at := t.pick.query.view(in.W - 4)
	if text == "" && !t.typing {
		c.Text(in.X+3, in.Y, in.W-4, "type to filter", l.OverlayMuted)
	}
	c.Text(in.X+3, in.Y, in.W-4, text, l.Overlay)
	t.inside = paint.Rect{X: in.X, Y: in.Y + 1, W: in.W, H: in.H - 1}
	t.pick.scroll(t.inside.H, len(t.shown))
	if len(t.shown) == 0 {
		c.Text(in.X+3, in.Y+1, in.W-4, "no terminal matches", l.OverlayMuted)
	}
	for i := range min(t.inside.H, len(t.shown)-t.pick.top) {
		t.row(c, paint.Rect{X: in.X, Y: t.inside.Y + i, W: in.W, H: 1}, t.pick.top+i, l)
	}
	return paint.Cursor{X: in.X + 3 + at, Y: in.Y, Visible: true, Default: true}
}

// row draws a terminal: badge, title, directory, where it is.
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
	badge := min(20, r.W/3)
	where := min(14, r.W/5)
	c.Text(r.X+1, r.Y, badge-1, paint.Cut(row.Badge, badge-2, l.Ellipsis), paintIn(row.BadgeStyle))
	text := row.Title
	if row.Detail != "" && row.Detail != row.Title {
		text += "  " + row.Detail
	}
	room := r.W - badge - where - 1
	n := c.Text(r.X+badge, r.Y, room, paint.Cut(text, room*2/3, l.Ellipsis), paintIn(l.Overlay))
	c.Text(r.X+badge+n+1, r.Y, room-n-1, paint.Cut(" "+row.Cwd, room-n-2, l.Ellipsis), paintIn(l.OverlayMuted))
	c.Text(r.X+r.W-where, r.Y, where-1, paint.Cut(row.Where, where-1, l.Ellipsis), paintIn(l.OverlayMuted))
}
