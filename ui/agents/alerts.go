package agents

import (
	"cmp"
	"slices"

	"tandemux/ahp"
	"tandemux/ui/attention"
)

// Alarm is what a chat has to tell a person who does not look at it.
type Alarm struct {
	attention.Alert
	URI ahp.URI
}

// Alerts are the chats with an alert, the weightiest first: questions of all
// chats, and what became of those that the layout shows.
func (as *Agents) Alerts(marks attention.Set) []Alarm {
	var list []Alarm
	if marks.Has(attention.Waiting) {
		for _, n := range as.Unseen() {
			list = append(list, Alarm{attention.Alert{Kind: attention.Waiting, Text: n.Text}, n.Chat})
		}
	}
	for uri := range as.chats {
		known := func(o Alarm) bool { return o.URI == uri }
		if a := as.Alert(uri, marks); a.Kind != attention.None && !slices.ContainsFunc(list, known) {
			list = append(list, Alarm{a, uri})
		}
	}
	slices.SortStableFunc(list, func(a, b Alarm) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.URI, b.URI))
	})
	return list
}

// MarkRead tells the host which chats the person has read.
func (as *Agents) MarkRead() {
	for uri, e := range as.chats {
		if e.Ready() && as.Panes.LooksAt(uri) && e.State().Status&ahp.FlagRead == 0 && e.State().ActiveTurn == nil {
			as.Link.Dispatch(uri, ahp.ChatIsReadChanged{IsRead: true})
			if s := as.sessions.byURI[e.session]; s != nil && s.row.Status&ahp.FlagRead == 0 {
				as.Link.Dispatch(s.uri, ahp.SessionIsReadChanged{IsRead: true})
			}
		}
	}
}

// Alert is what a chat of a pane that the person does not look at tells them.
func (as *Agents) Alert(uri ahp.URI, marks attention.Set) attention.Alert {
	e := as.chats[uri]
	if e == nil || !e.Ready() || as.Panes.LooksAt(uri) {
		return attention.Alert{}
	}
	s := e.State()
	kind := attention.None
	switch unread := s.Status&ahp.FlagRead == 0; {
	case s.Status.NeedsInput():
		kind = attention.Waiting
	case unread && s.Status.Activity() == ahp.ActivityError:
		kind = attention.Failed
	case unread && s.ActiveTurn == nil && len(s.Turns) > 0:
		kind = attention.Noted
	}
	if !marks.Has(kind) {
		return attention.Alert{}
	}
	text := map[attention.Kind]string{attention.Waiting: "waits for you", attention.Failed: "the turn failed", attention.Noted: "has answered"}[kind]
	return attention.Alert{Kind: kind, Text: text}
}
