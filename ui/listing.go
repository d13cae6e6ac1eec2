package ui

import (
	"fmt"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/internal/fileuri"
	"tandemux/ui/address"
	"tandemux/ui/attention"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// openTerminals opens the list of all terminals.
func (m *Model) openTerminals() {
	with := func(f func(*terminals.Terminal)) func(ahp.URI) {
		return func(uri ahp.URI) {
			if t := m.panes.Terms.Get(uri); t != nil {
				f(t)
			} else {
				m.loop.Say(status.Warning, "%v", errGone)
			}
		}
	}
	current, _ := m.panes.Arr.Focused()
	m.loop.Open(overlay.NewTerminals(m.terminalRows, current.Terminal, overlay.Actions{
		Show:       with(m.panes.Show),
		Bring:      with(m.panes.Bring),
		Take:       with(m.take),
		Background: with(m.background),
		Kill: with(func(t *terminals.Terminal) {
			m.askFirst(m.question([]*terminals.Terminal{t}), func() {
				m.panes.Dispose(t)
				m.panes.Emptied()
			})
		}),
		Preview: m.drawPreview,
	}))
}

// terminalRows are the rows of the terminal list.
func (m *Model) terminalRows() []overlay.Terminal {
	var rows []overlay.Terminal
	for _, uri := range m.panes.Terms.Order {
		t := m.panes.Terms.Get(uri)
		if t == nil || t.Done {
			continue
		}
		row := overlay.Terminal{URI: uri, Title: t.FullTitle(), Cwd: words.Clean(words.Shorten(fileuri.Path(t.Cwd), m.cfg.home()))}
		row.Badge, row.BadgeStyle = m.panes.Badge(t)
		if id, ok := m.panes.Doc.Shown.Showing(uri); ok {
			i, _, _ := m.panes.Doc.Shown.Find(id)
			row.Where = fmt.Sprintf("tab %d", i+1)
		} else if in := t.Layouts(); len(in) > 0 {
			row.Where = "layout " + words.Clean(address.LayoutName(in[0]))
		}
		if a := m.alerts.Of(t); a.Kind != attention.None {
			row.Mark, row.MarkStyle = m.alerts.Mark(a.Kind)
			row.Alert = words.Clean(a.Text)
		}
		m.listCommand(&row, t)
		rows = append(rows, row)
	}
	return rows
}

// listCommand fills in how a terminal's newest command stands.
func (m *Model) listCommand(row *overlay.Terminal, t *terminals.Terminal) {
	l := &m.outer.Look
	row.Command = words.Clean(strings.Join(t.Command(), " "))
	if t.Info.Meta == nil || t.Info.Meta.LastCommand == nil {
		return
	}
	c := t.Info.Meta.LastCommand
	if line, _, _ := strings.Cut(c.CommandLine, "\n"); row.Command == "" {
		row.Command = words.Clean(line)
	}
	code, ok := 0, c.ExitCode != nil
	if ok {
		code = *c.ExitCode
	}
	switch {
	case c.Running:
		row.State, row.StateStyle, row.Facts = string(l.Running), l.Agent, "running"
	case !ok:
		row.State, row.StateStyle, row.Facts = string(l.Ended), l.Exited, "done"
	case code == 0:
		row.State, row.StateStyle, row.Facts = string(l.Passed), l.Mine, "ok"
	default:
		row.State, row.StateStyle, row.Facts = string(l.Failed), l.Fail, fmt.Sprintf("exit %d", code)
	}
	if !c.Running && c.DurationMs != nil {
		row.Facts += " after " + words.Lasted(time.Duration(*c.DurationMs)*time.Millisecond)
	}
}

// preview is the screen that the terminal list shows.
type preview struct {
	uri  ahp.URI
	view *pane.View // nil while there is no screen yet
	busy bool       // a subscription is under way
}

// peek follows the terminal that is chosen in the list, one at a time: who runs
// through a long list subscribes to those alone that they rest on.
func (m *Model) peek() {
	list, ok := m.loop.Overlay.(*overlay.Terminals)
	if !ok {
		m.preview.uri, m.preview.view = "", nil
		return
	}
	p := &m.preview
	t := m.panes.Terms.Get(list.Chosen())
	if t == nil {
		p.uri, p.view = "", nil
		return
	}
	if t.Feed == nil && !p.busy && !t.Done && m.link.Up() {
		p.busy = true
		m.panes.Keep(t) // among those that are kept longest
		m.panes.Subscribe(t, func() { m.preview.busy = false })
		m.loop.Dirty |= loop.Stale
	}
	if p.uri != t.URI || p.view == nil || p.view.Feed != t.Feed {
		p.uri, p.view = t.URI, nil
		if t.Feed != nil {
			p.view = pane.NewView(t.Feed)
		}
	}
}

// drawPreview draws the screen of the terminal that is chosen in the list.
func (m *Model) drawPreview(c *paint.Canvas, r paint.Rect, uri ahp.URI) {
	p := &m.preview
	if p.uri != uri || p.view == nil || !p.view.Feed.Ready() {
		c.Fill(r, ' ', m.outer.Look.Overlay)
		return
	}
	p.view.Redraw()
	l := m.outer.PaneLook(stickies[m.cfg.StickyCommand])
	l.Signs, l.Sticky, l.Fill = nil, pane.StickyNever, ' '
	l.Letterbox = look.Style{BG: m.outer.Look.Overlay.BG}
	p.view.Draw(c, r, l)
}
