package control

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

// openList opens the list of all terminals.
func (ct *Control) openList() {
	with := func(f func(*terminals.Terminal)) func(ahp.URI) {
		return func(uri ahp.URI) {
			if t := ct.panes.Terms.Get(uri); t != nil {
				f(t)
			} else {
				ct.loop.Say(status.Warning, "the terminal is gone")
			}
		}
	}
	current, _ := ct.panes.Arr.Focused()
	ct.loop.Open(overlay.NewTerminals(ct.rows, current.Terminal, overlay.Actions{
		Show:       with(func(t *terminals.Terminal) { ct.panes.Show(t.URI) }),
		Bring:      with(func(t *terminals.Terminal) { ct.panes.Bring(t.URI) }),
		Take:       with(ct.take),
		Background: with(ct.background),
		Kill: with(func(t *terminals.Terminal) {
			ct.askFirst(ct.question([]*terminals.Terminal{t}), func() {
				ct.panes.Dispose(t)
				ct.panes.Emptied()
			})
		}),
		Preview: ct.drawPreview,
	}))
}

// rows are the rows of the terminal list.
func (ct *Control) rows() []overlay.Terminal {
	var rows []overlay.Terminal
	for _, uri := range ct.panes.Terms.Order {
		t := ct.panes.Terms.Get(uri)
		if t == nil || t.Done {
			continue
		}
		row := overlay.Terminal{URI: uri, Title: t.FullTitle(), Cwd: words.Clean(words.Shorten(fileuri.Path(t.Cwd), ct.home))}
		row.Badge, row.BadgeStyle = ct.panes.Badge(t)
		if id, ok := ct.panes.Doc.Shown.Showing(uri); ok {
			i, _, _ := ct.panes.Doc.Shown.Find(id)
			row.Where = fmt.Sprintf("tab %d", i+1)
		} else if in := t.Layouts(); len(in) > 0 {
			row.Where = "layout " + words.Clean(address.LayoutName(in[0]))
		}
		if a := ct.alerts.Of(t); a.Kind != attention.None {
			row.Mark, row.MarkStyle = ct.alerts.Mark(a.Kind)
			row.Alert = words.Clean(a.Text)
		}
		ct.command(&row, t)
		rows = append(rows, row)
	}
	return rows
}

// command fills in how a terminal's newest command stands.
func (ct *Control) command(row *overlay.Terminal, t *terminals.Terminal) {
	l := &ct.outer.Look
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

// Settle follows the terminal that is chosen in the list, one at a time: who runs
// through a long list subscribes to those alone that they rest on.
func (ct *Control) Settle() {
	list, ok := ct.loop.Overlay.(*overlay.Terminals)
	if !ok {
		ct.preview.uri, ct.preview.view = "", nil
		return
	}
	p := &ct.preview
	t := ct.panes.Terms.Get(list.Chosen())
	if t == nil {
		p.uri, p.view = "", nil
		return
	}
	if t.Feed == nil && !p.busy && !t.Done && ct.link.Up() {
		p.busy = true
		ct.panes.Keep(t) // among those that are kept longest
		ct.panes.Subscribe(t, func() { ct.preview.busy = false })
		ct.loop.Dirty |= loop.Stale
	}
	if p.uri != t.URI || p.view == nil || p.view.Feed != t.Feed {
		p.uri, p.view = t.URI, nil
		if t.Feed != nil {
			p.view = pane.NewView(t.Feed)
		}
	}
}

// drawPreview draws the screen of the terminal that is chosen in the list.
func (ct *Control) drawPreview(c *paint.Canvas, r paint.Rect, uri ahp.URI) {
	p := &ct.preview
	if p.uri != uri || p.view == nil || !p.view.Feed.Ready() {
		c.Fill(r, ' ', ct.outer.Look.Overlay)
		return
	}
	p.view.Redraw()
	l := ct.outer.PaneLook(pane.StickyNever)
	l.Signs, l.Fill = nil, ' '
	l.Letterbox = look.Style{BG: ct.outer.Look.Overlay.BG}
	p.view.Draw(c, r, l)
}
