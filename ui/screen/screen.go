package screen

import (
	"strings"
	"time"

	"tandemux/emulator"
	"tandemux/ui/agents"
	"tandemux/ui/layout"
	"tandemux/ui/loop"
	"tandemux/ui/outer"
	"tandemux/ui/paint"
	"tandemux/ui/pane"
	"tandemux/ui/panes"
	"tandemux/ui/recording"
)

// Screen draws panes with their frames.
type Screen struct {
	loop       *loop.Loop
	panes      *panes.Panes
	agents     *agents.Agents
	outer      *outer.Terminal
	recordings *recording.Recordings
	sticky     func() pane.Sticky
}

// New makes a screen. sticky is when the line of a command stays on top of its
// output.
func New(l *loop.Loop, ps *panes.Panes, as *agents.Agents, o *outer.Terminal, rs *recording.Recordings, sticky func() pane.Sticky) *Screen {
	return &Screen{loop: l, panes: ps, agents: as, outer: o, recordings: rs, sticky: sticky}
}

// Draw draws what has changed of the panes, or everything, and gives the place of the
// cursor. Nothing is drawn, and drawn is false, while a floating pane is in the middle
// of a frame of its program's.
func (sc *Screen) Draw(all bool, now time.Time, cursor paint.Cursor) (at paint.Cursor, drawn bool) {
	if !all && sc.held(now) {
		return cursor, false
	}
	for _, p := range sc.panes.Arr.Panes {
		if p.Floating() {
			break
		}
		if cur := sc.pane(p, all, now); p.Focused {
			cursor = cur
		}
	}
	if all {
		sc.empty()
		sc.dividers()
	}
	sc.tiledSigns()
	if all || sc.loop.Dirty&loop.Chrome != 0 {
		sc.headers()
	}
	return sc.floats(now, cursor), true
}

// empty draws what shows instead of panes.
func (sc *Screen) empty() {
	o := sc.outer
	if len(sc.panes.Arr.Panes) > 0 {
		return
	}
	area := paint.Rect(sc.panes.Arr.Area)
	o.Canvas.Fill(area, ' ', emulator.Style{})
	lines := []string{}
	switch {
	case sc.panes.Arr.TooSmall:
		lines = append(lines, "too small")
	case sc.panes.Begun && sc.panes.Holding == 0:
		lines = append(lines, "no pane here",
			sc.loop.Keys("new-tab")+"  new terminal", sc.loop.Keys("terminals")+"  all terminals", sc.loop.Keys("detach")+"  detach")
	}
	for i, s := range lines {
		s = paint.Cut(s, area.W, "")
		y := area.Y + (area.H-len(lines))/2 + i
		if y >= area.Y && y < area.Y+area.H {
			o.Canvas.Text(area.X+(area.W-paint.Width(s))/2, y, area.W, s, o.Look.Title)
		}
	}
}

// dividers draws the lines between panes side by side, joined with the
// headers that meet them.
func (sc *Screen) dividers() {
	draw := sc.dividerCell()
	for _, d := range sc.panes.Arr.Dividers {
		for y := d.Y; y < d.Y+d.H; y++ {
			draw(d.X, y)
		}
	}
}

// dividerCell gives what draws a cell of the lines between panes.
func (sc *Screen) dividerCell() func(x, y int) {
	o := sc.outer
	l := &o.Look
	tiled := sc.panes.Arr.Tiled()
	focus, _ := tiled.Focused()
	near := focus.Rect()
	kind := func(x, y int) layout.HitKind { return tiled.At(x, y).Kind }
	return func(x, y int) {
		glyph := l.Junction(
			kind(x, y-1) == layout.HitDivider, kind(x, y+1) == layout.HitDivider,
			kind(x-1, y) == layout.HitHeader, kind(x+1, y) == layout.HitHeader)
		style := l.Border
		if (x == near.X-1 || x == near.X+near.W) && y >= near.Y && y < near.Y+near.H {
			style = l.BorderFocused
		}
		o.Canvas.Fill(paint.Rect{X: x, Y: y, W: 1, H: 1}, glyph, style)
	}
}

// headers draws the title rows of tiled panes.
func (sc *Screen) headers() {
	for _, p := range sc.panes.Arr.Panes {
		if !p.Header.Empty() && !p.Floating() {
			sc.header(p)
		}
	}
}

// The least room for a pane's name with a badge beside it, and for that, in cells.
const leastName, leastBadge = 10, 5

// header draws the title row of a pane.
func (sc *Screen) header(p layout.Placed) {
	o := sc.outer
	l := &o.Look
	r := paint.Rect(p.Header)
	line, title := l.Border, l.Title
	if p.Focused {
		line, title = l.BorderFocused, l.TitleFocused
	}
	o.Canvas.Fill(r, l.Horizontal, line)
	t := sc.panes.Terms.Get(p.Terminal)
	badge, style := sc.panes.Badge(t)
	if e := sc.agents.Chat(p.Terminal); e != nil {
		badge, style = sc.agents.Badge(e)
	}
	room := r.W - 2
	if flags := paint.Cut(sc.flags(p), room-2, l.Ellipsis); flags != "" {
		w := paint.Width(flags) + 2
		o.Canvas.Text(r.X+1+room-w, r.Y, w, " "+flags+" ", l.Warn)
		room -= w + 1
	}
	name := sc.panes.NameOf(p.Name, p.Terminal)
	if t != nil && p.Name == "" {
		name = t.FullTitle()
	}
	// The name goes first: it has half of the row, and all of it where the badge
	// would be too short to tell anything.
	least := min(paint.Width(name)+2, max(room/2, leastName))
	if most := room - least - 3; badge != "" && most >= min(paint.Width(badge), leastBadge) {
		badge = " " + paint.Cut(badge, most, l.Ellipsis) + " "
		w := paint.Width(badge)
		o.Canvas.Text(r.X+1+room-w, r.Y, w, badge, style)
		room -= w + 1
	}
	command, short, style := sc.LastCommand(t)
	for _, s := range [...]string{command, short} {
		if w := paint.Width(s) + 2; s != "" && room-w-1 >= min(paint.Width(name)+2, room/2) {
			o.Canvas.Text(r.X+1+room-w, r.Y, w, " "+s+" ", style)
			room -= w + 1
			break
		}
	}
	if name != "" && room >= 4 {
		o.Canvas.Text(r.X+1, r.Y, room, " "+paint.Cut(name, room-2, l.Ellipsis)+" ", title)
	}
}

// flags are the words that stand in a pane's header besides its name.
func (sc *Screen) flags(p layout.Placed) string {
	var flags []string
	for _, f := range [...]struct {
		text string
		on   bool
	}{{"marked", sc.panes.Marked(p.Pane)}, {"typing", sc.panes.Gets(p)}, {"recording", sc.recordings.Of(p.Terminal)}} {
		if f.on {
			flags = append(flags, f.text)
		}
	}
	return strings.Join(flags, ", ")
}

// pane draws a pane's body and gives the place of its cursor.
func (sc *Screen) pane(p layout.Placed, all bool, now time.Time) paint.Cursor {
	o := sc.outer
	if e := sc.agents.Chat(p.Terminal); e != nil {
		return sc.agents.Draw(p, e, all, now)
	}
	v := sc.panes.Views[p.Pane]
	if v == nil {
		o.Canvas.Fill(paint.Rect(p.Body), ' ', emulator.Style{})
		return paint.Cursor{}
	}
	if all {
		v.Redraw()
	} else if wait, hold := v.Feed.Hold(now); hold {
		o.Hold(wait)
		return v.Cursor()
	}
	v.Framed = sc.framed(p)
	return v.Draw(&o.Canvas, paint.Rect(p.Body), o.PaneLook(sc.sticky()))
}
