package ui

import (
	"cmp"
	"slices"
	"strconv"

	"tandemux/ahp"
	"tandemux/ui/attention"
	"tandemux/ui/look"
	"tandemux/ui/paint"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// chatAlarm is what a chat has to tell a person who does not look at it.
type chatAlarm struct {
	attention.Alert
	uri ahp.URI
}

// chatAlerts are the chats with an alert, the weightiest first: questions of all
// chats, and what became of those that the layout shows.
func (m *Model) chatAlerts() []chatAlarm {
	var list []chatAlarm
	if m.attending.marks.Has(attention.Waiting) {
		for _, n := range m.unseen() {
			list = append(list, chatAlarm{attention.Alert{Kind: attention.Waiting, Text: n.text}, n.what.Chat})
		}
	}
	for uri := range m.chats {
		known := func(o chatAlarm) bool { return o.uri == uri }
		if a := m.chatAlert(uri); a.Kind != attention.None && !slices.ContainsFunc(list, known) {
			list = append(list, chatAlarm{a, uri})
		}
	}
	slices.SortStableFunc(list, func(a, b chatAlarm) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.uri, b.uri))
	})
	return list
}

// chatAlertText words the first alert of chats, if it weighs as much as the first
// of terminals.
func (m *Model) chatAlertText(terminals []*terminals.Terminal) (text string, style look.Style, ok bool) {
	list := m.chatAlerts()
	if len(list) == 0 || len(terminals) > 0 && m.alert(terminals[0]).Kind < list[0].Kind {
		return "", style, false
	}
	a := list[0]
	mark, style := m.alertMark(a.Kind)
	text = mark + " " + m.chatTitle(a.uri) + ": " + words.Clean(a.Text)
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

// attendChats tells the host what the person has read, and the outer terminal what
// waits for them.
func (m *Model) attendChats() {
	a := &m.attending
	for uri, e := range m.chats {
		if e.Ready() && m.panes.LooksAt(uri) && e.State().Status&ahp.FlagRead == 0 && e.State().ActiveTurn == nil {
			m.link.Dispatch(uri, ahp.ChatIsReadChanged{IsRead: true})
			if s := m.sessions.byURI[e.session]; s != nil && s.row.Status&ahp.FlagRead == 0 {
				m.link.Dispatch(s.uri, ahp.SessionIsReadChanged{IsRead: true})
			}
		}
	}
	asked := map[string]bool{}
	for _, n := range m.unseen() {
		asked[n.what.ID] = true
		if !a.asked[n.what.ID] && a.notify.Has(attention.Waiting) {
			m.outer.Send(m.outer.Caps.Notify(a.by, "tandemux: "+n.session.title(), n.text))
		}
	}
	a.asked = asked
}
