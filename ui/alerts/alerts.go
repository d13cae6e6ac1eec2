package alerts

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/ui/address"
	"tandemux/ui/agents"
	"tandemux/ui/attention"
	"tandemux/ui/layout"
	"tandemux/ui/link"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/outer"
	"tandemux/ui/paint"
	"tandemux/ui/panes"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/tty"
	"tandemux/ui/words"
)

// Settings configures the alerts.
type Settings struct {
	Marks, Notify attention.Set // kinds that are marked, and that the outer terminal shows as notifications
	Long          time.Duration // the shortest command whose end is an alert; 0 means none
	By            tty.Notifier  // how the outer terminal shows notifications
}

// Alerts is the alerts of terminals and chats, and what was done about them.
type Alerts struct {
	Settings
	Stale bool // Settle must look for changes

	loop   *loop.Loop
	link   *link.Link
	panes  *panes.Panes
	agents *agents.Agents
	outer  *outer.Terminal

	states map[ahp.URI]ahp.ActivityState // by activity channel, as far as they have arrived

	refused string // the text of a refusal, which is shown when no question waits

	told   map[ahp.URI]attention.Alert // the last notification of each terminal
	asked  map[string]bool             // ids of chats' questions that were notified
	seeing map[ahp.URI]int64           // time of the newest alert that was reported as seen to the host
}

// New makes Alerts without any alert.
func New(s Settings, l *loop.Loop, lk *link.Link, ps *panes.Panes, as *agents.Agents, o *outer.Terminal) *Alerts {
	return &Alerts{Settings: s, Stale: true, loop: l, link: lk, panes: ps, agents: as, outer: o, seeing: map[ahp.URI]int64{}, told: map[ahp.URI]attention.Alert{}, states: map[ahp.URI]ahp.ActivityState{}}
}

// channelOf returns the activity channel of a terminal's host.
func channelOf(uri ahp.URI) ahp.URI { return hosted.At(hosted.Host(uri), ahp.ActivityURI) }

// knows reports whether a terminal's host reports activity.
func (al *Alerts) knows(uri ahp.URI) bool {
	_, is := al.states[channelOf(uri)]
	return is
}

// row is a terminal's row in its host's activity.
func (al *Alerts) row(uri ahp.URI) ahp.Attention { return al.states[channelOf(uri)].Terminals[uri] }

// Follow subscribes to a host's activity channel. Terminals of a host without that channel have
// no alerts.
func (al *Alerts) Follow(log *slog.Logger, host string) {
	al.loop.Async("follow the host's activity", func(ctx context.Context) (func(), error) {
		if err := al.link.Host.Subscribe(ctx, hosted.At(host, ahp.ActivityURI)); err != nil {
			log.Info("the host does not tell of what goes on in it", "err", err)
		}
		return nil, nil
	})
}

// Act applies an action to a host's activity.
func (al *Alerts) Act(channel ahp.URI, a ahp.Action) {
	al.Take(channel, ahp.ReduceActivity(al.states[channel], a))
}

func (al *Alerts) Take(channel ahp.URI, next ahp.ActivityState) {
	last, known := al.states[channel]
	at := "the host"
	if name := hosted.Host(channel); name != "" {
		at = name
	}
	for uri, row := range next.Terminals {
		// Terminals with a feed ring by themselves.
		t := al.panes.Terms.Get(uri)
		if _, shown := al.panes.Doc.Shown.Showing(uri); known && row.Bell > last.Terminals[uri].Bell && shown && t != nil && t.Feed == nil {
			al.outer.Bell()
		}
	}
	if text := attention.Refused(last.Refusals, next.Refusals); text != "" && known {
		al.refused = text
	}
	switch was := last.Warning; {
	case next.Warning != "" && next.Warning != was:
		al.loop.Say(status.Warning, "%s warns: %s", at, next.Warning)
	case was != "" && next.Warning == "":
		al.loop.Say(status.Info, "all is well with %s again", at)
	}
	al.states[channel], al.Stale = next, true
	if !known {
		for uri := range next.Terminals {
			al.told[uri] = al.has(al.panes.Terms.Get(uri), al.Notify) // it happened before
		}
	}
	al.loop.Dirty |= loop.Chrome
}

// Unnamed forgets the activity of a host that has no name any more.
func (al *Alerts) Unnamed(host string) {
	delete(al.states, hosted.At(host, ahp.ActivityURI))
	al.Stale = true
}

// has returns a terminal's most important alert of some kinds.
func (al *Alerts) has(t *terminals.Terminal, of attention.Set) attention.Alert {
	if t == nil || t.Done || t.Exited() {
		return attention.Alert{}
	}
	f := attention.Facts{Row: al.row(t.URI), Long: al.Long, Ask: t.Ask()}
	if t.Info.Meta != nil && al.knows(t.URI) {
		f.Command = t.Info.Meta.LastCommand
	}
	return attention.Of(f, of)
}

// Of returns the alert that marks a terminal, none if the person sees the terminal.
func (al *Alerts) Of(t *terminals.Terminal) attention.Alert {
	if t == nil || al.panes.LooksAt(t.URI) {
		return attention.Alert{}
	}
	return al.has(t, al.Marks)
}

// Settle reports to the host what the person sees, and notifies of what they don't see.
func (al *Alerts) Settle() {
	if al.refused != "" && !al.agents.Asked() { // a question needs the status line
		al.loop.Say(status.Warning, "%s", al.refused)
		al.refused = ""
	}
	if !al.Stale || !al.knows("") || !al.link.Up() {
		return
	}
	al.Stale = false
	al.agents.MarkRead()
	asked := map[string]bool{}
	for _, n := range al.agents.Unseen() {
		asked[n.ID] = true
		if !al.asked[n.ID] && al.Notify.Has(attention.Waiting) {
			al.notify(n.Title, n.Text)
		}
	}
	al.asked = asked
	all, _ := attention.Choose(attention.Names())
	for _, uri := range al.panes.Terms.Order {
		t := al.panes.Terms.Get(uri)
		if !al.knows(uri) || !al.link.UpAt(uri) {
			continue
		}
		if al.panes.LooksAt(uri) {
			if now := al.has(t, all); now.At > max(al.seeing[uri], al.row(uri).Seen) {
				al.seeing[uri] = now.At
				al.link.Dispatch(channelOf(uri), ahp.TerminalSeen{Terminal: uri})
			}
			continue
		}
		if now := al.has(t, al.Notify); now.Kind != attention.None && now != al.told[uri] {
			al.told[uri] = now
			al.notify(t.Title(), words.Clean(now.Text))
		}
	}
	for uri := range al.told {
		if al.panes.Terms.Get(uri) == nil {
			delete(al.told, uri)
			delete(al.seeing, uri)
		}
	}
}

// notify shows a notification in the outer terminal.
func (al *Alerts) notify(title, text string) {
	al.outer.Send(al.outer.Caps.Notify(al.By, "tandemux: "+title, text))
}

// list returns all alerts, the most important first, and of equal ones chats first, then the
// oldest.
func (al *Alerts) list() []agents.Alarm {
	list := al.agents.Alerts(al.Marks)
	for _, uri := range al.panes.Terms.Order {
		if a := al.Of(al.panes.Terms.Get(uri)); a.Kind != attention.None {
			list = append(list, agents.Alarm{Alert: a, URI: uri})
		}
	}
	slices.SortStableFunc(list, func(a, b agents.Alarm) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.At, b.At))
	})
	return list
}

func (al *Alerts) Any() bool { return len(al.list()) > 0 }

// Next shows the terminal or chat with the most important alert.
func (al *Alerts) Next() {
	if list := al.list(); len(list) > 0 {
		al.panes.Show(list[0].URI)
	}
}

// Mark returns the mark of a kind of alert, in one cell.
func (al *Alerts) Mark(k attention.Kind) (string, look.Style) {
	l := &al.outer.Look
	marks := [...]struct {
		text  string
		style look.Style
	}{
		attention.Waiting: {"?", l.Warn}, attention.Failed: {string(l.Failed), l.Error}, attention.Noted: {"*", l.Warn},
		attention.Rang: {"!", l.Warn}, attention.Passed: {string(l.Passed), l.Message}, attention.Printed: {"#", l.Message},
	}
	return marks[k].text, marks[k].style
}

// Tab returns the most important alert of a tab's terminals and chats.
func (al *Alerts) Tab(tab layout.Tab) attention.Alert {
	best := attention.Alert{}
	for _, leaf := range tab.Panes() {
		a := al.Of(al.panes.Terms.Get(leaf.Terminal))
		if address.IsChat(leaf.Terminal) {
			a = al.agents.Alert(leaf.Terminal, al.Marks)
		}
		if a.Kind != attention.None && (best.Kind == attention.None || a.Kind < best.Kind) {
			best = a
		}
	}
	return best
}

// Text returns the status line's text about the first alert and the number of others. A host's
// warning comes first. keys are the keys that answer a question.
func (al *Alerts) Text(keys string) (text string, style look.Style) {
	most := max(al.outer.W/2, 20)
	cut := func(text string) string { return paint.Cut(text, most, al.outer.Look.Ellipsis) }
	for _, channel := range slices.Sorted(maps.Keys(al.states)) {
		if w := al.states[channel].Warning; w != "" {
			return cmp.Or(hosted.Host(channel), "host") + ": " + cut(words.Clean(w)), al.outer.Look.Warn
		}
	}
	list := al.list()
	if len(list) == 0 {
		return "", style
	}
	a := list[0]
	mark, style := al.Mark(a.Kind)
	if a.Kind == attention.Waiting && address.IsChat(a.URI) {
		text = cut(mark+" "+words.Clean(a.Text)) + " (" + keys + ")"
	} else {
		text = cut(mark + " " + al.where(a.URI) + ": " + words.Clean(a.Text))
	}
	if len(list) > 1 {
		text += " +" + strconv.Itoa(len(list)-1)
	}
	return text, style
}

// where names the place of an alert: the chat, tab or terminal.
func (al *Alerts) where(uri ahp.URI) string {
	if address.IsChat(uri) {
		return al.agents.Title(uri)
	}
	if id, ok := al.panes.Doc.Shown.Showing(uri); ok {
		i, _, _ := al.panes.Doc.Shown.Find(id)
		return strconv.Itoa(i + 1)
	}
	return al.panes.Terms.Get(uri).Title()
}

// Clients returns the number of clients that show the layout.
func (al *Alerts) Clients() int { return al.states[ahp.ActivityURI].Layouts[al.panes.Doc.URI] }
