package overlay

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"cotty/ui/look"
	"cotty/ui/paint"
)

// Ran is a row of the list of a terminal's commands.
type Ran struct {
	ID    string
	Line  string // as the shell has it; "" when unknown
	Glyph string // how it stands
	Style look.Style
	Facts string // exit code, duration, age
	// Failed is what the filter keeps.
	Failed bool
	// Gone says that its text is no longer kept, so that it can't be gone to.
	Gone bool
}

// RanDo is what the list can do with a command. They say themselves why not.
type RanDo struct {
	Go, CopyOutput, CopyLine, Again func(id string)
}

// Commands is the list of the commands that a terminal's shell has run, the
// newest first.
type Commands struct {
	rows   func() []Ran
	do     RanDo
	pick   picker
	typing bool
	failed bool // only those that failed
	shown  []Ran
	total  int
	inside paint.Rect // of the rows, as last drawn
}

// NewCommands gives a list of what rows gives at the time.
func NewCommands(rows func() []Ran, do RanDo) *Commands { return &Commands{rows: rows, do: do} }

// match brings the rows up to date. The choice stays on its command when others
// are added.
func (o *Commands) match() {
	keep := ""
	if o.pick.chosen > 0 && o.pick.chosen < len(o.shown) {
		keep = o.shown[o.pick.chosen].ID
	}
	all := o.rows()
	o.total = len(all)
	if o.failed {
		var failed []Ran
		for _, r := range all {
			if r.Failed {
				failed = append(failed, r)
			}
		}
		all = failed
	}
	at := matching(len(all), o.pick.query.String(), func(i int) string { return all[i].Line })
	o.shown = o.shown[:0]
	for _, i := range at {
		if all[i].ID == keep {
			o.pick.chosen = len(o.shown)
		}
		o.shown = append(o.shown, all[i])
	}
	o.pick.chosen = min(o.pick.chosen, max(len(o.shown)-1, 0))
}

// Key implements Overlay.
func (o *Commands) Key(k tea.Key) bool {
	o.match()
	stroke := stroke(k)
	if n, ok := listMoves[stroke]; ok {
		o.pick.move(n, len(o.shown))
		return false
	}
	if !o.typing {
		switch stroke {
		case "j", "k":
			o.pick.move(map[string]int{"j": 1, "k": -1}[stroke], len(o.shown))
			return false
		case "q":
			return true
		case "/":
			o.typing = true
			return false
		}
	}
	act := map[string]func(string){"y": o.do.CopyOutput, "Y": o.do.CopyLine, "r": o.do.Again}
	for letter, f := range act {
		if stroke == "alt+"+letter || stroke == letter && !o.typing {
			if o.pick.chosen < len(o.shown) {
				f(o.shown[o.pick.chosen].ID)
				return true
			}
			return false
		}
	}
	switch {
	case stroke == "enter":
		return o.choose()
	case stroke == "alt+f" || stroke == "f" && !o.typing:
		o.failed, o.pick.chosen = !o.failed, 0
		return false
	case stroke == "esc" || stroke == "ctrl+c":
		if o.typing {
			o.typing, o.pick = false, picker{}
			return false
		}
		return true
	}
	if o.pick.query.key(k) {
		o.typing = o.pick.query.String() != ""
		o.pick.chosen, o.shown = 0, nil
	}
	return false
}

func (o *Commands) choose() bool {
	if o.pick.chosen >= len(o.shown) {
		return false
	}
	o.do.Go(o.shown[o.pick.chosen].ID)
	return true
}

// Paste implements Overlay.
func (o *Commands) Paste(text string) {
	o.pick.query.insert(text)
	o.typing, o.pick.chosen, o.shown = true, 0, nil
}

// Click implements Clicker: it chooses a row; the chosen one is gone to.
func (o *Commands) Click(x, y int) bool {
	i := o.pick.top + y - o.inside.Y
	if !o.inside.Contains(x, y) || i >= len(o.shown) {
		return false
	}
	again := i == o.pick.chosen
	o.pick.chosen = i
	return again && o.choose()
}

// Wheel implements Clicker.
func (o *Commands) Wheel(up bool) {
	n := 1
	if up {
		n = -1
	}
	o.pick.move(n, len(o.shown))
}

// footers are what the keys do, the longest first.
var footers = []string{
	"enter go to  y copy output  Y copy line  r run again  f failed only  / filter",
	"enter go  y output  Y line  r again  f failed",
	"enter go  y copy  f failed",
}

// Draw implements Overlay.
func (o *Commands) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	o.match()
	r := centred(area, min(110, area.W-2), min(max(len(o.shown)+4, 8), area.H))
	title := "Commands"
	if o.failed {
		title = "Commands that failed"
	}
	footer := footers[len(footers)-1]
	for _, f := range footers {
		if paint.Width(f) <= r.W-6 {
			footer = f
			break
		}
	}
	in := box(c, r, title, footer, l)
	if in.H < 2 || in.W < 8 {
		return paint.Cursor{}
	}
	c.Text(in.X+1, in.Y, in.W-2, l.Pointer, l.OverlayAccent)
	text, at := o.pick.query.view(in.W - 4)
	if text == "" && !o.typing {
		c.Text(in.X+3, in.Y, in.W-4, "type to filter", l.OverlayMuted)
	}
	c.Text(in.X+3, in.Y, in.W-4, text, l.Overlay)
	o.inside = paint.Rect{X: in.X, Y: in.Y + 1, W: in.W, H: in.H - 1}
	o.pick.scroll(o.inside.H, len(o.shown))
	if len(o.shown) == 0 {
		c.Text(in.X+3, in.Y+1, in.W-4, o.none(), l.OverlayMuted)
	}
	for i := range min(o.inside.H, len(o.shown)-o.pick.top) {
		o.row(c, paint.Rect{X: in.X, Y: o.inside.Y + i, W: in.W, H: 1}, o.pick.top+i, l)
	}
	return paint.Cursor{X: in.X + 3 + at, Y: in.Y, Visible: true, Default: true}
}

func (o *Commands) none() string {
	switch {
	case o.total == 0:
		return "no command has run here yet"
	case o.failed && o.pick.query.String() == "":
		return "no command has failed"
	}
	return "no command matches"
}

// row draws a command: how it stands, its line, the facts.
func (o *Commands) row(c *paint.Canvas, r paint.Rect, i int, l look.Look) {
	row := o.shown[i]
	chosen := i == o.pick.chosen
	on := func(s look.Style) look.Style {
		if chosen {
			return l.Selected
		}
		s.BG = l.Overlay.BG
		return s
	}
	c.Fill(r, ' ', on(l.Overlay))
	c.Text(r.X+1, r.Y, 2, row.Glyph, on(row.Style))
	facts := paint.Cut(row.Facts, max(r.W/2, 0), l.Ellipsis)
	w := paint.Width(facts)
	line, style := row.Line, on(l.Overlay)
	if row.Gone {
		style = on(l.OverlayMuted)
	}
	if strings.TrimSpace(line) == "" {
		line, style = "(unknown)", on(l.OverlayMuted)
	}
	first, _, more := strings.Cut(line, "\n")
	if first = oneLine(first, r.W); more {
		first += l.Ellipsis
	}
	c.Text(r.X+3, r.Y, r.W-w-6, paint.Cut(first, r.W-w-6, l.Ellipsis), style)
	c.Text(r.X+r.W-w-1, r.Y, w, facts, on(l.OverlayMuted))
}
