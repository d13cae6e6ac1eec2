package overlay

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"cotty/ui/look"
	"cotty/ui/paint"
)

// Command is a row of the palette.
type Command struct {
	Name  string
	Title string
	Help  string
	Args  string // what arguments look like, "" for none
	Keys  string // bound to it, "" for none
	Why   string // it can't run now, "" when it can
}

// Palette finds a command by its name and runs it.
type Palette struct {
	rows  func() []Command
	run   func(name string, args []string)
	pick  picker
	all   []Command
	shown []int
	in    paint.Rect
}

// NewPalette gives a palette of what rows gives at the time; run runs what was
// chosen, with the words typed behind its name.
func NewPalette(rows func() []Command, run func(name string, args []string)) *Palette {
	return &Palette{rows: rows, run: run}
}

// typed splits what was typed into a command's name and arguments; ok is false
// when the first word is no command's name.
func (p *Palette) typed() (row int, args []string, ok bool) {
	words := strings.Fields(p.pick.query.String())
	if len(words) == 0 {
		return 0, nil, false
	}
	for i, c := range p.all {
		if c.Name == words[0] {
			return i, words[1:], true
		}
	}
	return 0, nil, false
}

func (p *Palette) match() {
	p.all = p.rows()
	if i, _, ok := p.typed(); ok {
		p.shown = []int{i}
		p.pick.chosen = 0
		return
	}
	p.shown = matching(len(p.all), p.pick.query.String(), func(i int) string {
		return p.all[i].Title + " " + p.all[i].Name
	})
	p.pick.chosen = min(p.pick.chosen, max(len(p.shown)-1, 0))
}

// Key implements Overlay.
func (p *Palette) Key(k tea.Key) bool {
	p.match()
	s := stroke(k)
	if n, ok := listMoves[s]; ok && s != "home" && s != "end" {
		p.pick.move(n, len(p.shown))
		return false
	}
	switch s {
	case "esc", "ctrl+c", "ctrl+g":
		return true
	case "enter":
		return p.choose()
	case "tab":
		if p.pick.chosen < len(p.shown) {
			p.pick.query = newLine(p.all[p.shown[p.pick.chosen]].Name + " ")
			p.pick.chosen = 0
		}
		return false
	}
	if p.pick.query.key(k) {
		p.pick.chosen = 0
	}
	return false
}

// choose runs the chosen command; one that can't run says why and stays.
func (p *Palette) choose() bool {
	if p.pick.chosen >= len(p.shown) {
		return false
	}
	c := p.all[p.shown[p.pick.chosen]]
	_, args, _ := p.typed()
	if c.Why != "" {
		return false
	}
	if c.Args != "" && !strings.HasPrefix(c.Args, "[") && len(args) == 0 {
		p.pick.query = newLine(c.Name + " ")
		return false
	}
	p.run(c.Name, args)
	return true
}

// Paste implements Overlay.
func (p *Palette) Paste(text string) {
	p.pick.query.insert(text)
	p.pick.chosen = 0
}

// Click implements Clicker.
func (p *Palette) Click(x, y int) bool {
	i := p.pick.top + y - p.in.Y
	if !p.in.Contains(x, y) || i >= len(p.shown) {
		return false
	}
	p.pick.chosen = i
	return p.choose()
}

// Wheel implements Clicker.
func (p *Palette) Wheel(up bool) {
	n := 1
	if up {
		n = -1
	}
	p.pick.move(n, len(p.shown))
}

// Draw implements Overlay.
func (p *Palette) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	p.match()
	r := centred(area, min(76, area.W-2), min(18, area.H))
	in := box(c, r, "Commands", "enter run  tab complete  esc leave", l)
	if in.H < 2 {
		return paint.Cursor{}
	}
	c.Text(in.X+1, in.Y, in.W-2, ":", l.OverlayAccent)
	text, at := p.pick.query.view(in.W - 4)
	c.Text(in.X+3, in.Y, in.W-4, text, l.Overlay)
	p.in = paint.Rect{X: in.X, Y: in.Y + 1, W: in.W, H: in.H - 2}
	p.pick.scroll(p.in.H, len(p.shown))
	help := ""
	for i := range min(p.in.H, len(p.shown)-p.pick.top) {
		at := p.pick.top + i
		row := p.all[p.shown[at]]
		if at == p.pick.chosen {
			help = row.Help
		}
		p.row(c, paint.Rect{X: in.X, Y: p.in.Y + i, W: in.W, H: 1}, row, at == p.pick.chosen, l)
	}
	if len(p.shown) == 0 {
		c.Text(in.X+3, in.Y+1, in.W-4, "no command matches", l.OverlayMuted)
	}
	c.Text(in.X+1, in.Y+in.H-1, in.W-2, paint.Cut(help, in.W-2, l.Ellipsis), l.OverlayMuted)
	return paint.Cursor{X: in.X + 3 + at, Y: in.Y, Visible: true, Default: true}
}

func (p *Palette) row(c *paint.Canvas, r paint.Rect, row Command, chosen bool, l look.Look) {
	text, muted, keys := l.Overlay, l.OverlayMuted, l.OverlayAccent
	if row.Why != "" {
		text = l.OverlayMuted
	}
	if chosen {
		text, muted, keys = l.Selected, l.Selected, l.Selected
	}
	c.Fill(r, ' ', text)
	kw := min(16, r.W/4)
	x := r.X + 1
	x += c.Text(x, r.Y, r.W-kw-2, row.Title, text)
	if row.Args != "" {
		x += c.Text(x, r.Y, r.X+r.W-kw-x, " "+row.Args, muted)
	}
	if row.Why != "" {
		c.Text(x, r.Y, r.X+r.W-kw-x-1, paint.Cut("  "+row.Why, r.X+r.W-kw-x-1, l.Ellipsis), muted)
	}
	keysText := paint.Cut(row.Keys, kw-1, l.Ellipsis)
	c.Text(r.X+r.W-1-paint.Width(keysText), r.Y, kw, keysText, keys)
}
