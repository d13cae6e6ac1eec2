package screen

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tandemux/emulator"
	"tandemux/ui/agents"
	"tandemux/ui/layout"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/outer"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
	"tandemux/ui/pane"
	"tandemux/ui/panes"
	"tandemux/ui/predict"
	"tandemux/ui/recording"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// Screen draws panes with their frames.
type Screen struct {
	Sticky pane.Sticky // when a command's line stays above its output

	loop       *loop.Loop
	panes      *panes.Panes
	agents     *agents.Agents
	outer      *outer.Terminal
	recordings *recording.Recordings
}

func New(l *loop.Loop, ps *panes.Panes, as *agents.Agents, o *outer.Terminal, rs *recording.Recordings) *Screen {
	return &Screen{loop: l, panes: ps, agents: as, outer: o, recordings: rs}
}

// Draw draws the changes of the panes, or everything, and returns the cursor. While a floating
// pane's program is in the middle of a frame, nothing is drawn and drawn is false.
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
		for _, p := range slices.Concat(sc.panes.Arr.Panes, sc.panes.Arr.Bars) {
			if !p.Header.Empty() && !p.Floating() {
				sc.header(p)
			}
		}
	}
	return sc.floats(now, cursor), true
}

// empty draws what shows if there are no panes.
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

// dividers draws the lines between panes side by side, joined with the headers at their sides.
func (sc *Screen) dividers() {
	draw := sc.dividerCell()
	for _, d := range sc.panes.Arr.Dividers {
		for y := d.Y; y < d.Y+d.H; y++ {
			draw(d.X, y)
		}
	}
}

// dividerCell returns what draws a cell of a divider.
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

// The smallest widths, in cells, of a pane's name beside a badge, and of that badge.
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
	if p.Body.Empty() { // a closed pane of a stack
		name = string(l.Folded) + " " + name
	}
	// The name comes first: it has half of the row, or all of it if the badge would be too short
	// to be useful.
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

// flags returns the flags in a pane's header.
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

// pane draws a pane's body and returns its cursor.
func (sc *Screen) pane(p layout.Placed, all bool, now time.Time) paint.Cursor {
	o := sc.outer
	if e := sc.agents.Chat(p.Terminal); e != nil {
		return sc.agents.Draw(p, e, all, now)
	}
	v, r := sc.panes.Views[p.Pane], paint.Rect(p.Body)
	absent := sc.panes.Absent(p.Terminal)
	if v == nil {
		o.Canvas.Fill(r, ' ', emulator.Style{})
		if text := paint.Cut(absent, r.W, o.Look.Ellipsis); text != "" && r.H > 0 {
			o.Canvas.Text(r.X+(r.W-paint.Width(text))/2, r.Y+r.H/2, r.W, text, o.Look.Warn)
		}
		return paint.Cursor{}
	}
	if absent != "" { // its last contents
		v.Redraw()
		v.Draw(&o.Canvas, r, o.PaneLook(sc.Sticky))
		o.Canvas.Restyle(r, func(s emulator.Style) emulator.Style {
			s.Attrs |= look.Faint
			return s
		})
		return paint.Cursor{}
	}
	if all {
		v.Redraw()
	} else if wait, hold := v.Feed.Hold(now); hold {
		o.Hold(wait)
		return v.Cursor()
	}
	v.Feed.Predict(false, func(p *predict.Predictor, s predict.Screen, off int) {
		if wait := p.Settle(now, s, off); wait > 0 {
			o.Hold(wait)
		}
	})
	v.Framed = p.Floating() || p.Body.X > sc.panes.Arr.Area.X
	return v.Draw(&o.Canvas, r, o.PaneLook(sc.Sticky))
}

// held reports whether a floating pane's program is in the middle of a frame. Nothing below it
// can be drawn then without tearing that frame.
func (sc *Screen) held(now time.Time) bool {
	if !sc.panes.Arr.Floats() {
		return false
	}
	for _, p := range sc.panes.Arr.Panes {
		if v := sc.panes.Views[p.Pane]; p.Floating() && v != nil {
			if wait, hold := v.Feed.Hold(now); hold {
				sc.outer.Hold(wait)
				return true
			}
		}
	}
	return false
}

// floats draws the floating panes over everything else. It draws them whole, as what is below may
// have been drawn. The cursor of a covered pane is hidden.
func (sc *Screen) floats(now time.Time, cursor paint.Cursor) paint.Cursor {
	if !sc.panes.Arr.Floats() {
		return cursor
	}
	focus, _ := sc.panes.Arr.Focused()
	if !focus.Floating() && sc.panes.Arr.At(cursor.X, cursor.Y).Pane != focus.Pane {
		cursor.Visible = false
	}
	for _, p := range sc.panes.Arr.Panes {
		if !p.Floating() {
			continue
		}
		style := sc.outer.Look.Border
		if p.Focused {
			style = sc.outer.Look.BorderFocused
		}
		sc.header(p)
		overlay.Frame(&sc.outer.Canvas, paint.Rect(p.Frame), &sc.outer.Look.Lines, style)
		if cur := sc.pane(p, true, now); p.Focused {
			cursor = cur
			top := sc.panes.Arr.At(cur.X, cur.Y)
			cursor.Visible = cursor.Visible && top.Pane == p.Pane
		}
		sc.signs(p, func(int, int) {}) // the frame was drawn whole
	}
	return cursor
}

// signs draws the marks of commands in the frame on the left of a pane. plain draws the frame
// again where a mark was removed.
func (sc *Screen) signs(p layout.Placed, plain func(x, y int)) {
	v := sc.panes.Views[p.Pane]
	if v == nil || !v.Framed || sc.outer.Signs == nil {
		return
	}
	x := p.Body.X - 1
	for _, row := range v.PreviousRows() {
		if row < p.Body.H {
			plain(x, p.Body.Y+row)
		}
	}
	s := sc.outer.Signs
	for _, at := range v.Signs() {
		glyph := s.Glyphs[at.State]
		if at.Folded {
			glyph = s.Fold
		}
		sc.outer.Canvas.Fill(paint.Rect{X: x, Y: p.Body.Y + at.Row, W: 1, H: 1}, glyph, s.Frame[at.State])
	}
}

// tiledSigns draws the marks of commands of the tiled panes.
func (sc *Screen) tiledSigns() {
	if sc.outer.Signs == nil || len(sc.panes.Arr.Dividers) == 0 {
		return
	}
	var cell func(x, y int)
	for i := range sc.panes.Arr.Panes {
		p := &sc.panes.Arr.Panes[i]
		v := sc.panes.Views[p.Pane]
		if p.Floating() || v == nil || !v.Framed || len(v.Signs()) == 0 && len(v.PreviousRows()) == 0 {
			continue
		}
		if cell == nil {
			cell = sc.dividerCell()
		}
		sc.signs(*p, cell)
	}
}

// LastCommand describes the result of a terminal's newest command, in full and in short, and
// returns the text's style; "" if there is none. Of a running command it says for how long,
// except on the alternate screen.
func (sc *Screen) LastCommand(t *terminals.Terminal) (text, short string, style look.Style) {
	l := &sc.outer.Look
	style = l.Exited
	if t == nil || t.Feed == nil || t.Exited() {
		return "", "", style
	}
	c, _, ok := t.Feed.LastCommand()
	switch {
	case !ok:
		return "", "", style
	case c.Running:
		text, style = "running", l.Background
		if !t.Feed.Modes().AltScreen {
			if d := running(sc.loop, c); d != "" {
				return text + " " + d, text, style
			}
		}
		return text, "", style
	}
	short = "done"
	if c.ExitCode != nil {
		if short = "ok"; *c.ExitCode != 0 {
			short, style = fmt.Sprintf("exit %d", *c.ExitCode), l.Fail
		}
	}
	if c.Duration < 0 {
		return short, "", style
	}
	return short + " " + words.Lasted(c.Duration), short, style
}

// coarseTime is the running time from which on only minutes are shown.
const coarseTime = 10 * time.Minute

// running is the time for which a command has been running, "" if it is unknown or short.
func running(l *loop.Loop, c pane.Command) string {
	if c.Started.IsZero() {
		return ""
	}
	d, unit := l.Since(c.Started), time.Second
	if d >= coarseTime {
		unit = time.Minute
	}
	l.Counts(d, unit)
	switch {
	case d < time.Second:
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d >= coarseTime && d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return words.Lasted(d)
}
