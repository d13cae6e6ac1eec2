package ui

import (
	"reflect"
	"slices"
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

// waitings are the questions that wait in chats, in the order of the sessions.
func (m *Model) waitings() []needed {
	var out []needed
	for _, s := range m.sessionList(true) {
		if !s.ready {
			continue
		}
		for _, n := range s.state.InputNeeded {
			if text := neededText(n); text != "" {
				out = append(out, needed{s, n, text})
			}
		}
	}
	return out
}

// neededOf is the first question of a session, nil for none that is known.
func (m *Model) neededOf(s *session) *needed {
	if !s.ready {
		return nil
	}
	for _, n := range s.state.InputNeeded {
		if text := neededText(n); text != "" {
			return &needed{s, n, text}
		}
	}
	return nil
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

// unseen are the questions of chats that the person does not look at.
func (m *Model) unseen() []needed {
	return slices.DeleteFunc(m.waitings(), func(n needed) bool { return m.panes.LooksAt(n.what.Chat) })
}

// answerSession answers what a session waits for, from wherever the person is.
func (m *Model) answerSession(s *session) {
	if n := m.neededOf(s); n != nil {
		m.answerNeeded(*n)
		return
	}
	m.loop.Say(status.Info, "%s waits for nothing", s.title())
}

// answerNeeded asks the person for the answer to a tool's question, in the agent's
// own words, or goes to the chat where other questions are answered.
func (m *Model) answerNeeded(n needed) {
	t := n.what.ToolCall
	if n.what.Kind != ahp.NeedToolConfirmation || t == nil {
		m.loop.Close()
		m.panes.OpenChat(n.what.Chat)
		return
	}
	view := approval.Of(t, nil)
	var o *overlay.Approval
	o = overlay.NewApproval(overlay.Asked{
		Title: m.agentTitle(n.session.row.Provider) + " in " + n.session.title(), View: view,
		Chat: func() { m.loop.Close(); m.panes.OpenChat(n.what.Chat) },
		Say:  func(why string) { m.loop.Say(status.Info, "%s", why) },
		Answer: func(a approval.Option) {
			if m.loop.Overlay == o {
				m.loop.Close()
			}
			now := m.neededNow(n)
			switch {
			case now == nil:
				m.loop.Say(status.Info, "not answered: it does not ask that any more")
			case !reflect.DeepEqual(approval.Of(now.what.ToolCall, nil), view):
				m.loop.Say(status.Warning, "not answered: what it asks has changed meanwhile")
				m.answerNeeded(*now)
			default:
				if _, ok := m.link.Dispatch(n.what.Chat, chat.Confirmation(n.what.TurnID, t, a.ToolOption, nil)); ok {
					if c := m.chats[n.what.Chat]; c != nil {
						c.Sent(t.ToolCallID)
					}
					m.loop.Brief("%s: %s", n.session.title(), a.Label)
				}
			}
		},
	})
	m.loop.Open(o)
}

// neededNow is a tool's question as it stands now, nil if it is no longer asked.
func (m *Model) neededNow(n needed) *needed {
	for _, k := range m.waitings() {
		if k.what.Chat == n.what.Chat && k.what.TurnID == n.what.TurnID && k.what.ToolCall != nil && k.what.ToolCall.ToolCallID == n.what.ToolCall.ToolCallID {
			return &k
		}
	}
	return nil
}

// answerAny answers what waits: in the focused terminal or chat first, else the
// question that has waited longest.
func (m *Model) answerAny() {
	if _, t, _ := m.panes.Focused(); t.Ask() != nil {
		m.answerAgent()
		return
	}
	list := m.waitings()
	if e := m.focusedChat(); e != nil {
		for _, n := range list {
			if n.what.Chat == e.uri {
				m.answerNeeded(n)
				return
			}
		}
	}
	switch {
	case len(list) == 1 && m.asking() == nil:
		m.answerNeeded(list[0])
	case len(list) > 0:
		m.chooseWaiting(list)
	default:
		m.answerAgent()
	}
}

// chooseWaiting asks which question to answer.
func (m *Model) chooseWaiting(list []needed) {
	var rows []string
	for _, n := range list {
		rows = append(rows, n.session.title()+": "+n.text)
	}
	t := m.asking()
	if t != nil {
		rows = append(rows, m.askText(t))
	}
	m.chooseRow("What waits for you", rows, 0, func(i int) {
		if i < len(list) {
			m.answerNeeded(list[i])
			return
		}
		m.answerAgent()
	})
}
