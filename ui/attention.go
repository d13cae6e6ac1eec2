package ui

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"tandemux/ahp"
	"tandemux/ui/address"
	"tandemux/ui/agents"
	"tandemux/ui/attention"
	"tandemux/ui/layout"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/paint"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/tty"
	"tandemux/ui/words"
)

// attending is what terminals want a person to know, and what became of it.
type attending struct {
	state ahp.ActivityState
	known bool // the state has come
	stale bool // it has to be looked through

	marks, notify attention.Set
	long          time.Duration
	by            tty.Notifier // how the outer terminal is told, when not as it says itself

	told   map[ahp.URI]attention.Alert // what was forwarded last
	asked  map[string]bool             // questions of chats that were forwarded, by id
	seeing map[ahp.URI]int64           // the newest alert that the host was told of as seen
}

// heed takes the part of the configuration that is about attention.
func (a *attending) heed(l Look) (err error) {
	marks, notify := l.Attention, l.Notify
	if marks == nil {
		marks = attention.Names()
	}
	if a.marks, err = attention.Choose(marks); err != nil {
		return err
	}
	if a.notify, err = attention.Choose(notify); err != nil {
		return err
	}
	a.long, a.by = l.LongCommand, tty.Notifier(l.Notifications)
	a.stale = true
	return nil
}

// followActivity follows the host's channel of what goes on; a host without one
// leaves marks to what this client sees itself.
func (m *Model) followActivity() {
	m.loop.Async("follow the host's activity", func(ctx context.Context) (func(), error) {
		if err := m.link.Host.Subscribe(ctx, ahp.ActivityURI); err != nil {
			m.log.Info("the host does not tell of what goes on in it", "err", err)
		}
		return nil, nil
	})
}

// activity takes a change of the host's activity.
func (m *Model) activity(next ahp.ActivityState) {
	a := &m.attending
	for uri, row := range next.Terminals {
		// Those that are followed ring by themselves.
		t := m.panes.Terms.Get(uri)
		if _, shown := m.panes.Doc.Shown.Showing(uri); a.known && row.Bell > a.state.Terminals[uri].Bell && shown && t != nil && t.Feed == nil {
			m.outer.Bell()
		}
	}
	first := !a.known
	if text := attention.Refused(a.state.Refusals, next.Refusals); text != "" && !first {
		m.loop.Say(status.Warning, "%s", text)
	}
	switch was := a.state.Warning; {
	case next.Warning != "" && next.Warning != was:
		m.loop.Say(status.Warning, "the host warns: %s", next.Warning)
	case was != "" && next.Warning == "":
		m.loop.Say(status.Info, "all is well with the host again")
	}
	a.state, a.known, a.stale = next, true, true
	if first {
		a.told = map[ahp.URI]attention.Alert{}
		for uri := range next.Terminals {
			a.told[uri] = m.alertOf(m.panes.Terms.Get(uri), a.notify) // nobody waited for it
		}
	}
	m.loop.Dirty |= loop.Chrome
}

// alertOf is the weightiest of some kinds that a terminal has to tell.
func (m *Model) alertOf(t *terminals.Terminal, of attention.Set) attention.Alert {
	if t == nil || t.Done || t.Exited() {
		return attention.Alert{}
	}
	f := attention.Facts{Row: m.attending.state.Terminals[t.URI], Long: m.attending.long}
	if t.Info.Meta != nil && m.attending.known {
		f.Command = t.Info.Meta.LastCommand
	}
	f.Ask = t.Ask()
	return attention.Of(f, of)
}

// alert is what marks a terminal that the person does not look at.
func (m *Model) alert(t *terminals.Terminal) attention.Alert {
	if t == nil || m.panes.LooksAt(t.URI) {
		return attention.Alert{}
	}
	return m.alertOf(t, m.attending.marks)
}

// attend tells the host what the person sees, and the outer terminal what they
// don't.
func (m *Model) attend() {
	a := &m.attending
	if !a.stale || !a.known || !m.link.Up() {
		return
	}
	a.stale = false
	m.agents.MarkRead()
	asked := map[string]bool{}
	for _, n := range m.agents.Unseen() {
		asked[n.ID] = true
		if !a.asked[n.ID] && a.notify.Has(attention.Waiting) {
			m.outer.Send(m.outer.Caps.Notify(a.by, "tandemux: "+n.Title, n.Text))
		}
	}
	a.asked = asked
	all, _ := attention.Choose(attention.Names())
	for _, uri := range m.panes.Terms.Order {
		t := m.panes.Terms.Get(uri)
		if m.panes.LooksAt(uri) {
			if now := m.alertOf(t, all); now.At > max(a.seeing[uri], a.state.Terminals[uri].Seen) {
				if a.seeing == nil {
					a.seeing = map[ahp.URI]int64{}
				}
				a.seeing[uri] = now.At
				m.link.Dispatch(ahp.ActivityURI, ahp.TerminalSeen{Terminal: uri})
			}
			continue
		}
		if now := m.alertOf(t, a.notify); now.Kind != attention.None && now != a.told[uri] {
			a.told[uri] = now
			m.notify(t, now)
		}
	}
	for uri := range a.told {
		if m.panes.Terms.Get(uri) == nil {
			delete(a.told, uri)
			delete(a.seeing, uri)
		}
	}
}

// notify shows a notification in the outer terminal.
func (m *Model) notify(t *terminals.Terminal, now attention.Alert) {
	m.outer.Send(m.outer.Caps.Notify(m.attending.by, "tandemux: "+t.Title(), words.Clean(now.Text)))
}

// alerts are the terminals with an alert, the weightiest first, of those the
// oldest.
func (m *Model) alerts() []*terminals.Terminal {
	var list []*terminals.Terminal
	for _, uri := range m.panes.Terms.Order {
		if t := m.panes.Terms.Get(uri); m.alert(t).Kind != attention.None {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b *terminals.Terminal) int {
		x, y := m.alert(a), m.alert(b)
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.At, y.At))
	})
	return list
}

// nextAlert goes to the terminal whose alert weighs most.
func (m *Model) nextAlert() {
	chats := m.agents.Alerts(m.attending.marks)
	list := m.alerts()
	if len(chats) > 0 && (len(list) == 0 || chats[0].Kind <= m.alert(list[0]).Kind) {
		m.panes.OpenChat(chats[0].URI)
		return
	}
	if len(list) > 0 {
		m.panes.Show(list[0])
	}
}

// alertMark is how an alert is marked, in one cell.
func (m *Model) alertMark(k attention.Kind) (string, look.Style) {
	l := &m.outer.Look
	switch k {
	case attention.Waiting:
		return "?", l.Warn
	case attention.Failed:
		return string(l.Failed), l.Error
	case attention.Noted:
		return "*", l.Warn
	case attention.Rang:
		return "!", l.Warn
	case attention.Passed:
		return string(l.Passed), l.Message
	case attention.Printed:
		return "#", l.Message
	}
	return "", l.Tab
}

// tabAlert is the weightiest alert of a tab's terminals.
func (m *Model) tabAlert(tab layout.Tab) attention.Alert {
	best := attention.Alert{}
	for _, leaf := range tab.Panes() {
		a := m.alert(m.panes.Terms.Get(leaf.Terminal))
		if address.IsChat(leaf.Terminal) {
			a = m.agents.Alert(leaf.Terminal, m.attending.marks)
		}
		if a.Kind != attention.None && (best.Kind == attention.None || a.Kind < best.Kind) {
			best = a
		}
	}
	return best
}

// alertText words the first alert for the status line, and how many more there
// are.
func (m *Model) alertText() (text string, style look.Style) {
	list := m.alerts()
	if text, style, ok := m.chatAlertText(m.agents.Alerts(m.attending.marks), list); ok {
		return text, style
	}
	if len(list) == 0 {
		return "", style
	}
	t := list[0]
	a := m.alert(t)
	mark, style := m.alertMark(a.Kind)
	where := t.Title()
	if id, ok := m.panes.Doc.Shown.Showing(t.URI); ok {
		i, _, _ := m.panes.Doc.Shown.Find(id)
		where = strconv.Itoa(i + 1)
	}
	text = mark + " " + where + ": " + words.Clean(a.Text)
	text = paint.Cut(text, max(m.outer.W/2, 20), m.outer.Look.Ellipsis)
	if len(list) > 1 {
		text += " +" + strconv.Itoa(len(list)-1)
	}
	return text, style
}

// chatAlertText words the first alert of chats, if it weighs as much as the first
// of terminals.
func (m *Model) chatAlertText(list []agents.Alarm, terminals []*terminals.Terminal) (text string, style look.Style, ok bool) {
	if len(list) == 0 || len(terminals) > 0 && m.alert(terminals[0]).Kind < list[0].Kind {
		return "", style, false
	}
	a := list[0]
	mark, style := m.alertMark(a.Kind)
	text = mark + " " + m.agents.Title(a.URI) + ": " + words.Clean(a.Text)
	if a.Kind == attention.Waiting {
		text = mark + " " + words.Clean(a.Text)
	}
	text = paint.Cut(text, max(m.outer.W/2, 20), m.outer.Look.Ellipsis)
	if a.Kind == attention.Waiting {
		text += " (" + m.keysOf("answer-agent") + ")"
	}
	if n := len(list) + len(terminals); n > 1 {
		text += " +" + strconv.Itoa(n-1)
	}
	return text, style, true
}
