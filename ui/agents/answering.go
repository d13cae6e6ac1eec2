package agents

import (
	"reflect"
	"strings"

	"tandemux/ahp"
	"tandemux/internal/approval"
	"tandemux/ui/chat"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// needed is what waits for the person in a chat.
type needed struct {
	session *session
	what    ahp.InputNeeded
	text    string // on one line
}

// needs are the questions of a session that is followed.
func (s *session) needs() []needed {
	var out []needed
	for _, n := range s.state.InputNeeded {
		if text := neededText(n); s.ready && text != "" {
			out = append(out, needed{s, n, text})
		}
	}
	return out
}

// waitings are the questions that wait in chats, in the order of the sessions.
func (as *Agents) waitings() []needed {
	var out []needed
	for _, s := range as.sessionList(true) {
		out = append(out, s.needs()...)
	}
	return out
}

// neededText words what a person is asked, "" for what is no person's.
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

// Question is what a chat asks a person, on one line, and what its session is called.
type Question struct {
	ID, Title, Text string
	Chat            ahp.URI
}

// Unseen are the questions of chats that the person does not look at.
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

// answerSession answers what a session waits for, from wherever the person is.
func (as *Agents) answerSession(s *session) {
	if list := s.needs(); len(list) > 0 {
		as.answerNeeded(list[0])
		return
	}
	as.Loop.Say(status.Info, "%s waits for nothing", s.title())
}

// answerNeeded asks the person for the answer to a tool's question, in the agent's
// own words, or goes to the chat where other questions are answered.
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

// neededNow is a tool's question as it stands now, nil if it is no longer asked.
func (as *Agents) neededNow(n needed) *needed {
	for _, k := range as.waitings() {
		if k.what.Chat == n.what.Chat && k.what.TurnID == n.what.TurnID && k.what.ToolCall != nil && k.what.ToolCall.ToolCallID == n.what.ToolCall.ToolCallID {
			return &k
		}
	}
	return nil
}

// answerAny answers what waits: in the focused terminal or chat first, else the
// question that has waited longest.
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
