package overlay

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/paint"
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

func (c Command) key() string    { return c.Name }
func (c Command) filter() string { return c.Title + " " + c.Name }

// Palette finds a command by its name and runs it.
type Palette struct {
	list[Command]
	run func(name string, args []string)
}

// NewPalette gives a palette of what rows gives at the time; run runs what was
// chosen, with the words typed behind its name.
func NewPalette(rows func() []Command, run func(name string, args []string)) *Palette {
	p := &Palette{run: run}
	p.list = list[Command]{rows: rows, find: findCommand, enterKeys: "enter run  tab complete", enter: p.enterCommand, clickEnters: true}
	return p
}

// findCommand gives the command whose name is typed, whatever arguments follow, or
// those that match.
func findCommand(rows []Command, query string) []int {
	if words := strings.Fields(query); len(words) > 0 {
		if i := slices.IndexFunc(rows, func(c Command) bool { return c.Name == words[0] }); i >= 0 {
			return []int{i}
		}
	}
	return matching(len(rows), query, func(i int) string { return rows[i].filter() })
}

// Key implements Overlay: Tab completes the chosen command's name, Home and End
// are for what is typed.
func (p *Palette) Key(k tea.Key) bool {
	switch editor.Stroke(k) {
	case "tab":
		p.match()
		if row, ok := p.row(); ok {
			p.complete(row)
		}
		return false
	case "home", "end":
		p.query.Key(k)
		return false
	}
	return p.list.Key(k)
}

func (p *Palette) complete(c Command) {
	p.query = editor.Line(c.Name + " ")
	p.edited()
}

// enterCommand runs a command; one that can't run says why and stays.
func (p *Palette) enterCommand(c Command) bool {
	var args []string
	if words := strings.Fields(p.typed()); len(words) > 0 && words[0] == c.Name {
		args = words[1:]
	}
	if c.Why != "" {
		return false
	}
	if c.Args != "" && !strings.HasPrefix(c.Args, "[") && len(args) == 0 {
		p.complete(c)
		return false
	}
	p.run(c.Name, args)
	return true
}

// Draw implements Overlay.
func (p *Palette) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	p.match()
	in, cursor := p.frame(c, area, 76, 18, "Commands", ":", l)
	if in.Empty() {
		return cursor
	}
	rows := paint.Rect{X: in.X, Y: in.Y, W: in.W, H: in.H - 1}
	p.draw(c, rows, "no command matches", l, func(r paint.Rect, row Command, on func(look.Style) look.Style) {
		row.draw(c, r, on, l)
	})
	if row, ok := p.row(); ok {
		c.Text(in.X+1, in.Y+in.H-1, in.W-2, paint.Cut(row.Help, in.W-2, l.Ellipsis), l.OverlayMuted)
	}
	return cursor
}

func (row Command) draw(c *paint.Canvas, r paint.Rect, on func(look.Style) look.Style, l look.Look) {
	text := l.Overlay
	if row.Why != "" {
		text = l.OverlayMuted
	}
	kw := min(16, r.W/4)
	x := r.X + 1
	x += c.Text(x, r.Y, r.W-kw-2, row.Title, on(text))
	if row.Args != "" {
		x += c.Text(x, r.Y, r.X+r.W-kw-x, " "+row.Args, on(l.OverlayMuted))
	}
	if row.Why != "" {
		c.Text(x, r.Y, r.X+r.W-kw-x-1, paint.Cut("  "+row.Why, r.X+r.W-kw-x-1, l.Ellipsis), on(l.OverlayMuted))
	}
	keysText := paint.Cut(row.Keys, kw-1, l.Ellipsis)
	c.Text(r.X+r.W-1-paint.Width(keysText), r.Y, kw, keysText, on(l.OverlayAccent))
}
