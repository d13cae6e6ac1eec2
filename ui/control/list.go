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
	"tandemux/ui/panes"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// openList opens the list of all terminals.
func (ct *Control) openList() {
	with := func(f func(*terminals.Terminal)) func(string) {
		return func(uri string) {
			if t := ct.panes.Terms.Get(uri); t != nil {
				f(t)
			} else {
				ct.loop.Say(status.Warning, "the terminal is gone")
			}
		}
	}
	current, _ := ct.panes.Arr.Focused()
	show := with(func(t *terminals.Terminal) { ct.panes.Show(t.URI) })
	list := &overlay.List{Source: overlay.Source{
		Title: "Terminals", Width: 170, Rows: ct.rows, Current: current.Terminal,
		Columns: []overlay.Column{{Most: 1}, {Most: 24, Least: 12}, {Least: 10}, {Most: 1}, {Fills: true, Least: 6, Muted: true}, {Most: 20, Muted: true}},
		Enter:   func(uri string) bool { show(uri); return true }, EnterKeys: "enter show",
		Actions: []overlay.Action{
			{Letter: "t", Label: "to this tab", Close: true, Do: with(func(t *terminals.Terminal) { ct.panes.Bring(t.URI) })},
			{Letter: "r", Label: "take", Do: with(ct.take)},
			{Letter: "b", Label: "background", Do: with(ct.background)},
			{Letter: "x", Label: "kill", Do: with(func(t *terminals.Terminal) {
				ct.askFirst(ct.question([]*terminals.Terminal{t}), func() {
					ct.panes.Dispose(t)
					ct.panes.Emptied()
				})
			})},
		},
	}}
	list.Preview = ct.Preview(list, func(uri string) ahp.URI { return uri })
	ct.loop.Open(list)
}

// rows returns the rows of the list of terminals.
func (ct *Control) rows() []overlay.Row {
	var rows []overlay.Row
	for _, uri := range ct.panes.Terms.Order {
		t := ct.panes.Terms.Get(uri)
		if t == nil || t.Done {
			continue
		}
		title, cwd, where := t.FullTitle(), words.Clean(words.Shorten(fileuri.Path(t.Cwd), ct.loop.Home)), ct.panes.Where(uri)
		badge, badgeStyle := ct.panes.Badge(t)
		if in := t.Layouts(); where == "" && len(in) > 0 {
			where = "layout " + words.Clean(address.LayoutName(in[0]))
		}
		var mark overlay.Cell
		alert := ct.alerts.Of(t)
		if alert.Kind != attention.None {
			mark.Text, mark.Style = ct.alerts.Mark(alert.Kind)
		}
		state, command, facts := ct.command(t)
		rows = append(rows, overlay.Row{
			Key: uri, Filter: strings.Join([]string{title, cwd, badge, command, where}, " "),
			Cells: []overlay.Cell{mark, {Text: title}, {Text: badge, Style: badgeStyle}, state, {Text: command}, {Text: where}},
			Facts: []string{words.Clean(alert.Text), cwd, facts, where},
		})
	}
	return rows
}

// command returns the state of a terminal's newest command, its line, and its result.
func (ct *Control) command(t *terminals.Terminal) (state overlay.Cell, line, facts string) {
	l := &ct.outer.Look
	line = words.Clean(strings.Join(t.Command(), " "))
	if t.Info.Meta == nil || t.Info.Meta.LastCommand == nil {
		return state, line, ""
	}
	c := t.Info.Meta.LastCommand
	if first, _, more := strings.Cut(c.CommandLine, "\n"); line == "" {
		if line = words.Clean(first); more {
			line += l.Ellipsis
		}
	}
	glyph := l.Running
	switch {
	case c.Running:
		state.Style, facts = l.Agent, "running"
	case c.ExitCode == nil:
		glyph, state.Style, facts = l.Ended, l.Exited, "done"
	case *c.ExitCode == 0:
		glyph, state.Style, facts = l.Passed, l.Mine, "ok"
	default:
		glyph, state.Style, facts = l.Failed, l.Fail, fmt.Sprintf("exit %d", *c.ExitCode)
	}
	if !c.Running && c.DurationMs != nil {
		facts += " after " + words.Lasted(time.Duration(*c.DurationMs)*time.Millisecond)
	}
	state.Text = string(glyph)
	return state, line, facts
}

// preview is the screen that the list shows.
type preview struct {
	uri  ahp.URI
	view *pane.View // nil if there is no screen yet
	busy bool       // a subscription is awaited
}

// Preview returns what draws the screen of a row's terminal. The terminal is subscribed while the
// list is open.
func (ct *Control) Preview(list *overlay.List, of func(key string) ahp.URI) panes.Preview {
	ct.list, ct.of = list, of
	return func(c *paint.Canvas, r paint.Rect, key string, _ look.Look) { ct.drawPreview(c, r, of(key)) }
}

// Settle subscribes to the terminal that is chosen in the list, one at a time: moving fast
// through a long list subscribes only to those on which the choice rests.
func (ct *Control) Settle() {
	p := &ct.preview
	var t *terminals.Terminal
	if ct.list != nil && ct.loop.Overlay == ct.list {
		t = ct.panes.Terms.Get(ct.of(ct.list.Chosen()))
	}
	if t == nil {
		p.uri, p.view = "", nil
		return
	}
	if t.Feed == nil && !p.busy && !t.Done && ct.link.UpAt(t.URI) {
		p.busy = true
		ct.panes.Keep(t) // as the last one to be unsubscribed
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
