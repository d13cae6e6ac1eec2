package ui

import (
	"strings"

	"cotty/ahp"
	"cotty/ui/chat"
	"cotty/ui/status"
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
		return clean(chat.Question(n.ToolCall))
	case n.Kind == ahp.NeedChatInput && n.Request != nil:
		if p := n.Request.Message; p != nil && p.Text != "" {
			return clean(strings.Join(strings.Fields(p.Text), " "))
		}
		return "a question"
	case n.Kind == ahp.NeedToolAuthentication:
		return "a tool wants a login"
	}
	return ""
}

// unseen are the questions of chats that the person does not look at.
func (m *Model) unseen() []needed {
	var out []needed
	for _, n := range m.waitings() {
		if !m.looksAt(n.what.Chat) {
			out = append(out, n)
		}
	}
	return out
}

// answerSession answers what a session waits for, from wherever the person is.
func (m *Model) answerSession(s *session) {
	if n := m.neededOf(s); n != nil {
		m.answerNeeded(*n)
		return
	}
	m.say(status.Info, "%s waits for nothing", s.title())
}

// answerNeeded asks the person for the answer to a tool's question, in the agent's
// own words, or goes to the chat where other questions are answered.
func (m *Model) answerNeeded(n needed) {
	t := n.what.ToolCall
	if n.what.Kind != ahp.NeedToolConfirmation || t == nil {
		m.close()
		m.openChat(n.what.Chat)
		return
	}
	var rows []string
	options := chat.Options(t)
	for _, o := range options {
		rows = append(rows, o.Label)
	}
	rows = append(rows, "Show the chat")
	uri, turn := n.what.Chat, n.what.TurnID
	title := m.agentTitle(n.session.row.Provider) + ": " + n.text
	if detail := commandOf(t); detail != "" {
		title += "  " + detail
	}
	m.chooseRow(title, rows, 0, func(i int) {
		if i >= len(options) {
			m.openChat(uri)
			return
		}
		if _, ok := m.dispatch(uri, chat.Confirmation(turn, t, options[i].ToolOption, nil)); ok {
			m.brief("%s: %s", n.session.title(), options[i].Label)
		}
	})
}

// commandOf is the command that a tool asks to run, "" for none.
func commandOf(t *ahp.ToolCall) string {
	in, ok := ahp.InputText(t.ToolInput)
	if !ok {
		return ""
	}
	var p struct {
		Command string `json:"command"`
	}
	if ahp.Unmarshal([]byte(in), &p) != nil || p.Command == "" {
		return ""
	}
	return "$ " + clean(strings.Join(strings.Fields(p.Command), " "))
}

// answerAny answers what waits: in the focused terminal or chat first, else the
// question that has waited longest.
func (m *Model) answerAny() {
	if _, t, _ := m.focused(); askOf(t) != nil {
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
