package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tandemux/emulator"
	"tandemux/internal/fileuri"
	"tandemux/keymap"
	"tandemux/ui/command"
	"tandemux/ui/layout"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// drawEmpty draws what shows instead of panes.
func (m *Model) drawEmpty() {
	o := m.outer
	if len(m.panes.Arr.Panes) > 0 {
		return
	}
	area := paint.Rect(m.panes.Arr.Area)
	o.Canvas.Fill(area, ' ', emulator.Style{})
	lines := []string{}
	switch {
	case m.panes.Arr.TooSmall:
		lines = append(lines, "too small")
	case m.panes.Begun && m.panes.Holding == 0:
		lines = append(lines, "no pane here",
			m.keysOf("new-tab")+"  new terminal", m.keysOf("terminals")+"  all terminals", m.keysOf("detach")+"  detach")
	}
	for i, s := range lines {
		s = paint.Cut(s, area.W, "")
		y := area.Y + (area.H-len(lines))/2 + i
		if y >= area.Y && y < area.Y+area.H {
			o.Canvas.Text(area.X+(area.W-paint.Width(s))/2, y, area.W, s, o.Look.Title)
		}
	}
}

// keysOf gives the keys that a command is bound to, for people.
func (m *Model) keysOf(name string, args ...string) string {
	if b := m.keys.For(name, args...); len(b) > 0 {
		return b[0].Keys
	}
	return ":" + name
}

// drawDividers draws the lines between panes side by side, joined with the
// headers that meet them.
func (m *Model) drawDividers() {
	draw := m.dividerCell()
	for _, d := range m.panes.Arr.Dividers {
		for y := d.Y; y < d.Y+d.H; y++ {
			draw(d.X, y)
		}
	}
}

// dividerCell gives what draws a cell of the lines between panes.
func (m *Model) dividerCell() func(x, y int) {
	o := m.outer
	l := &o.Look
	tiled := m.panes.Arr.Tiled()
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

// drawHeaders draws the title rows of tiled panes.
func (m *Model) drawHeaders() {
	for _, p := range m.panes.Arr.Panes {
		if !p.Header.Empty() && !p.Floating() {
			m.drawHeader(p)
		}
	}
}

// The least room for a pane's name with a badge beside it, and for that, in cells.
const leastName, leastBadge = 10, 5

// drawHeader draws the title row of a pane.
func (m *Model) drawHeader(p layout.Placed) {
	o := m.outer
	l := &o.Look
	r := paint.Rect(p.Header)
	line, title := l.Border, l.Title
	if p.Focused {
		line, title = l.BorderFocused, l.TitleFocused
	}
	o.Canvas.Fill(r, l.Horizontal, line)
	t := m.panes.Terms.Get(p.Terminal)
	badge, style := m.panes.Badge(t)
	if e := m.agents.Chat(p.Terminal); e != nil {
		badge, style = m.agents.Badge(e)
	}
	room := r.W - 2
	if flags := paint.Cut(m.paneFlags(p), room-2, l.Ellipsis); flags != "" {
		w := paint.Width(flags) + 2
		o.Canvas.Text(r.X+1+room-w, r.Y, w, " "+flags+" ", l.Warn)
		room -= w + 1
	}
	name := m.panes.NameOf(p.Name, p.Terminal)
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
	command, short, style := m.lastCommand(t)
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

// statusData says what the status line shows.
func (m *Model) statusData() status.Data {
	d := status.Data{
		Line: m.line.line, Layout: m.panes.Name, Active: m.panes.Doc.Shown.Active,
		Host: m.cfg.Machine, Hints: m.hints(), Alarm: m.line.misread != "",
	}
	d.Message, d.Kind = m.loop.Note()
	d.Alert, d.AlertStyle = m.alerts.Text(m.keysOf("answer-agent"))
	d.Clients = m.alerts.Clients()
	m.clock(&d)
	for _, t := range m.panes.Doc.Shown.Tabs {
		tab := status.Tab{Name: m.panes.TabName(t), Panes: len(t.Panes()), Zoom: t.Zoom}
		tab.Mark, tab.MarkStyle = m.alerts.Mark(m.alerts.Tab(t).Kind)
		d.Tabs = append(d.Tabs, tab)
	}
	if len(m.kb.pending) > 0 {
		d.Pending = keymap.Chord(m.kb.pending).String()
	}
	p, t, v := m.panes.Focused()
	if v != nil {
		if d.Scroll = v.Back(); d.Scroll > 0 {
			d.History = v.Feed.History()
		}
		if v.Copying() {
			d.Mode = m.copying.State()
		}
	}
	if n := m.panes.Receiving(); n > 0 && d.Mode == "" {
		d.Mode = "typing into " + words.Plural(n, "pane")
	}
	if t != nil && m.recordings.Of(t.URI) && d.Mode == "" {
		d.Mode = "recording"
	}
	m.focusData(&d, p, t)
	if t != nil {
		d.Badge, d.BadgeStyle = m.panes.Badge(t)
		d.Command, _, d.CommandStyle = m.lastCommand(t)
		d.Cwd = words.Clean(words.Shorten(fileuri.Path(t.Cwd), m.cfg.home()))
	}
	if e := m.agents.Focused(); e != nil {
		d.Badge, d.BadgeStyle = m.agents.Badge(e)
		if d.Scroll, d.History = e.Back(); d.Scroll == 0 {
			d.History = 0
		}
		if e.Reading() && d.Mode == "" {
			d.Mode = "reading"
		}
		if cwd := m.agents.Cwd(e); cwd != "" {
			d.Cwd = cwd
		}
	}
	trouble, how := m.typing.Trouble()
	switch {
	case (d.Message == "" || d.Kind == status.Info) && m.mouse.Link() != "":
		d.Message, d.Kind = words.Clean(m.mouse.Link()), status.Info
	case d.Message == "" && trouble != "":
		d.Message, d.Kind = trouble, how
	case d.Message == "" && t.Ask() != nil:
		d.Message, d.Kind = m.agents.AskText(t)+": "+m.keysOf("answer-agent")+" answers", status.Warning
	case d.Message == "" && t != nil && t.Exited():
		d.Message, d.Kind, d.Badge = t.ExitText()+": enter or x closes the pane", status.Info, ""
	case d.Message == "" && m.panes.Arr.TooSmall:
		d.Message, d.Kind = "too small for all panes", status.Warning
	}
	return d
}

// focusData says what the status line shows of the focused pane's place.
func (m *Model) focusData(d *status.Data, p layout.Placed, t *terminals.Terminal) {
	d.Title = m.panes.NameOf(p.Name, p.Terminal)
	if t != nil {
		d.Cols, d.Rows = t.Cols, t.Rows
	}
	tab, ok := m.panes.Doc.Shown.Tab()
	if !ok {
		return
	}
	for i, leaf := range tab.Panes() {
		d.Panes = i + 1
		if leaf.Pane == tab.Focus {
			d.Pane = i + 1
		}
	}
}

// drawHint draws what can follow the keys pressed so far.
func (m *Model) drawHint() {
	ctx := m.context()
	sections := m.following()
	rows := overlay.HintRows(sections, func(name string, args []string) string { return command.Why(name, args, ctx) })
	area := paint.Rect(m.panes.Area())
	overlay.Hint(&m.outer.Canvas, area, rows, m.kb.page, m.outer.Look)
}

// following gives the help rows of the bindings that can follow the pending
// keys.
func (m *Model) following() []keymap.Section {
	after := m.keys.Following(m.mode(), m.kb.pending...)
	sections := m.keys.Help(keymap.Normal, func(name string, args []string) (string, string, bool) {
		bound := slices.ContainsFunc(after, func(b keymap.Binding) bool { return b.Command == name })
		_, text, ok := command.Describe(name, args)
		return "", text, ok && bound
	})
	for i := range sections {
		sections[i].Rows = slices.DeleteFunc(sections[i].Rows, func(r keymap.Row) bool { return !r.Prefixed })
	}
	return sections
}

// paneFlags are the words that stand in a pane's header besides its name.
func (m *Model) paneFlags(p layout.Placed) string {
	var flags []string
	for _, f := range [...]struct {
		text string
		on   bool
	}{{"marked", m.panes.Marked(p.Pane)}, {"typing", m.panes.Gets(p)}, {"recording", m.recordings.Of(p.Terminal)}} {
		if f.on {
			flags = append(flags, f.text)
		}
	}
	return strings.Join(flags, ", ")
}

// lastCommand says how the newest command of a terminal did, in full and in
// short, and how that is drawn; "" where none is known. Of one that runs it says
// for how long, unless it shows a screen of its own.
func (m *Model) lastCommand(t *terminals.Terminal) (text, short string, style look.Style) {
	l := &m.outer.Look
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
			if d := running(m.loop, c); d != "" {
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

// coarseTime is from when on a running time is told in minutes.
const coarseTime = 10 * time.Minute

// running says for how long a command has run, "" where that is not known or not
// worth a word.
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
