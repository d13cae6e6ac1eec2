package agents

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/internal/approval"
	"tandemux/ui/attention"
	"tandemux/ui/chat"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// needed is a question of a chat that waits for the person.
type needed struct {
	session *session
	what    ahp.InputNeeded
	text    string // on one line
}

// needs returns the questions of a subscribed session.
func (s *session) needs() []needed {
	var out []needed
	for _, n := range s.state.InputNeeded {
		if text := neededText(n); s.ready && text != "" {
			out = append(out, needed{s, n, text})
		}
	}
	return out
}

// waitings returns the questions that wait in chats, in the order of the sessions.
func (as *Agents) waitings() []needed {
	var out []needed
	for _, s := range as.sessionList(true) {
		out = append(out, s.needs()...)
	}
	return out
}

// neededText is the text of a question, "" if it is not for a person.
func neededText(n ahp.InputNeeded) string {
	switch {
	case n.Kind == ahp.NeedToolConfirmation && n.ToolCall != nil:
		return words.Clean(approval.Question(n.ToolCall))
	case n.Kind == ahp.NeedChatInput && n.Request != nil:
		if p := n.Request.Message; p != nil && p.Text != "" {
			return words.Clean(strings.Join(strings.Fields(p.Text), " "))
		}
		return "a question"
	case n.Kind == ahp.NeedToolAuthentication:
		return "a tool wants a login"
	}
	return ""
}

// Question is a question of a chat, on one line, with its session's title.
type Question struct {
	ID, Title, Text string
	Chat            ahp.URI
}

// Unseen returns the questions of chats that the person doesn't see.
func (as *Agents) Unseen() []Question {
	var list []Question
	for _, n := range as.waitings() {
		if !as.Panes.LooksAt(n.what.Chat) {
			list = append(list, Question{n.what.ID, n.session.title(), n.text, n.what.Chat})
		}
	}
	return list
}

// Asked reports whether anything waits for an answer.
func (as *Agents) Asked() bool { return as.asking() != nil || len(as.waitings()) > 0 }

// answerSession lets the person answer a session's first question, wherever the focus is.
func (as *Agents) answerSession(s *session) {
	if list := s.needs(); len(list) > 0 {
		as.answerNeeded(list[0])
		return
	}
	as.Loop.Say(status.Info, "%s waits for nothing", s.title())
}

// answerNeeded shows a tool's question, in the agent's words, with its answers. For other
// questions it shows the chat.
func (as *Agents) answerNeeded(n needed) {
	t := n.what.ToolCall
	if n.what.Kind != ahp.NeedToolConfirmation || t == nil {
		as.Loop.Close()
		as.Panes.Show(n.what.Chat)
		return
	}
	view := approval.Of(t, nil)
	var o *overlay.Approval
	o = overlay.NewApproval(overlay.Asked{
		Title: as.agentTitle(n.session.row.Provider) + " in " + n.session.title(), View: view,
		Chat: func() { as.Loop.Close(); as.Panes.Show(n.what.Chat) },
		Say:  func(why string) { as.Loop.Say(status.Info, "%s", why) },
		Answer: func(a approval.Option) {
			if as.Loop.Overlay == o {
				as.Loop.Close()
			}
			now := as.neededNow(n)
			switch {
			case now == nil:
				as.Loop.Say(status.Info, "not answered: it does not ask that any more")
			case !reflect.DeepEqual(approval.Of(now.what.ToolCall, nil), view):
				as.Loop.Say(status.Warning, "not answered: what it asks has changed meanwhile")
				as.answerNeeded(*now)
			default:
				if _, ok := as.Link.Dispatch(n.what.Chat, chat.Confirmation(n.what.TurnID, t, a.ToolOption, nil)); ok {
					if c := as.chats[n.what.Chat]; c != nil {
						c.Sent(t.ToolCallID)
					}
					as.Loop.Brief("%s: %s", n.session.title(), a.Label)
				}
			}
		},
	})
	as.Loop.Open(o)
}

// neededNow returns the present form of a tool's question, nil if it is no longer asked.
func (as *Agents) neededNow(n needed) *needed {
	for _, k := range as.waitings() {
		if k.what.Chat == n.what.Chat && k.what.TurnID == n.what.TurnID && k.what.ToolCall != nil && k.what.ToolCall.ToolCallID == n.what.ToolCall.ToolCallID {
			return &k
		}
	}
	return nil
}

// answerAny lets the person answer a question: of the focused terminal or chat if it has one;
// else the only one; else it asks which.
func (as *Agents) answerAny() {
	if _, t, _ := as.Panes.Focused(); t.Ask() != nil {
		as.answerAgent()
		return
	}
	list := as.waitings()
	if e := as.Focused(); e != nil {
		for _, n := range list {
			if n.what.Chat == e.uri {
				as.answerNeeded(n)
				return
			}
		}
	}
	switch {
	case len(list) == 1 && as.asking() == nil:
		as.answerNeeded(list[0])
	case len(list) > 0:
		as.chooseWaiting(list)
	default:
		as.answerAgent()
	}
}

// chooseWaiting asks which question to answer.
func (as *Agents) chooseWaiting(list []needed) {
	var rows []string
	for _, n := range list {
		rows = append(rows, n.session.title()+": "+n.text)
	}
	t := as.asking()
	if t != nil {
		rows = append(rows, as.AskText(t))
	}
	as.chooseRow("What waits for you", rows, 0, func(i int) {
		if i < len(list) {
			as.answerNeeded(list[i])
			return
		}
		as.answerAgent()
	})
}

// asking returns the terminal whose question is answered next: the focused one, else the first
// with a question; nil if there is none.
func (as *Agents) asking() *terminals.Terminal {
	if _, t, _ := as.Panes.Focused(); t.Ask() != nil {
		return t
	}
	for _, uri := range as.Panes.Terms.Order {
		if t := as.Panes.Terms.Get(uri); t.Ask() != nil {
			return t
		}
	}
	return nil
}

// AskText is the text of a terminal's question.
func (as *Agents) AskText(t *terminals.Terminal) string {
	a := t.Ask()
	text := words.Clean(a.Who) + " asks for " + t.Quoted()
	if a.Panes {
		return words.Clean(a.Who) + " asks for panes for its teammates"
	}
	if a.Command != "" {
		return words.Clean(a.Who + " asks to run " + strings.Join(strings.Fields(a.Command), " "))
	}
	if reason := words.Clean(a.Reason); reason != "" {
		text += " (" + reason + ")"
	}
	return text
}

// answerAgent lets the person answer a terminal's question.
func (as *Agents) answerAgent() {
	t := as.asking()
	host := as.Link.Host
	if t == nil {
		return
	}
	uri, id, who, given := t.URI, t.Ask().ID, words.Clean(t.Ask().Who), "allowed to run it"
	switch {
	case t.Ask().Panes:
		given = "allowed panes"
	case t.Ask().Command == "":
		given = ""
	}
	as.Loop.Open(overlay.NewApproval(overlay.Asked{
		Title: who, View: approval.Claim(*t.Ask(), t.Info),
		Say: func(why string) { as.Loop.Say(status.Info, "%s", why) },
		Answer: func(a approval.Option) {
			p := ahp.AnswerParams{Channel: uri, ID: id, Grant: a.Allows}
			as.Loop.Call("answer "+who, func(ctx context.Context) error { return host.Call(ctx, ahp.MethodAnswer, p, nil) }, func() {
				if a.Allows && given == "" {
					as.Loop.Say(status.Info, "%s has the terminal; %s takes it back", who, as.Loop.Keys("reclaim"))
					return
				}
				as.Loop.Say(status.Info, "%s was %s", who, map[bool]string{true: given, false: "refused"}[a.Allows])
			})
		},
	}))
}

// Alarm is an alert of a chat that the person doesn't see.
type Alarm struct {
	attention.Alert
	URI ahp.URI
}

// Alerts returns the chats with an alert, the most important first: questions of all chats, and
// results of those in the layout.
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

// Alert returns the alert of a chat in the layout that the person doesn't see.
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
