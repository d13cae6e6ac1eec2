package ui

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/ui/address"
	"tandemux/ui/chat"
	"tandemux/ui/link"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// agentActions are the commands about sessions and chats.
var agentActions = func() map[string]action {
	all := map[string]action{
		"agents":      func(m *Model, _ []string) { m.openAgents() },
		"new-session": func(m *Model, args []string) { m.newSession(strings.Join(args, " ")) },
		"open-chat":   func(m *Model, _ []string) { m.crossOver() },
	}
	for _, name := range chat.Commands() {
		all[name] = chatCommand(name)
	}
	return all
}()

// openAgents opens the list of sessions.
func (m *Model) openAgents() {
	archived := false
	with := func(f func(*session)) func(ahp.URI) {
		return func(uri ahp.URI) {
			if s := m.sessions.byURI[uri]; s != nil {
				f(s)
			} else if t := m.tasks.At(uri); t != nil {
				m.loop.Say(status.Info, "%s has no chat: `tandemux task watch` follows it", t.Name)
			} else {
				m.loop.Say(status.Info, "the session has ended")
			}
		}
	}
	m.loop.Open(overlay.NewAgents(func() []overlay.Session { return m.sessionRows(archived) }, m.currentSession(), overlay.SessionActions{
		Open:   with(m.openSession),
		Bring:  with(func(s *session) { m.panes.BringChat(s.row.DefaultChat) }),
		Answer: with(m.answerSession),
		Rename: with(m.renameSession),
		Archive: with(func(s *session) {
			m.link.Dispatch(s.uri, ahp.SessionIsArchivedChanged{IsArchived: s.row.Status&ahp.FlagArchived == 0})
		}),
		End: func(uri ahp.URI) {
			if !m.tasks.Discard(uri) {
				with(m.endSession)(uri)
			}
		},
		Steer: m.tasks.Steer, Pull: m.tasks.Pull,
		New: func() { m.newSession("") },
		All: func() { archived = !archived; m.loop.Dirty |= loop.Panes },
	}))
	m.tasks.Load()
}

// currentSession is the session of the focused chat or terminal, "" for none.
func (m *Model) currentSession() ahp.URI {
	p, ok := m.panes.Arr.Focused()
	if !ok {
		return ""
	}
	chat := p.Terminal
	if t := m.panes.Terms.Get(p.Terminal); t != nil {
		chat = m.chatOf(t)
	}
	if s := m.sessionOf(chat); s != nil {
		return s.uri
	}
	return ""
}

// previewed is the session that is chosen in the list, "" for none.
func (m *Model) previewed() ahp.URI {
	if list, ok := m.loop.Overlay.(*overlay.Agents); ok {
		return list.Chosen()
	}
	return ""
}

// sessionRows are the rows of the list.
func (m *Model) sessionRows(archived bool) []overlay.Session {
	var rows []overlay.Session
	l, listed := &m.outer.Look, map[ahp.URI]bool{}
	for uri := range m.sessions.byURI {
		listed[uri] = true // Archived ones, too.
	}
	for _, s := range m.sessionList(archived) {
		st := s.row.Status
		r := overlay.Session{URI: s.uri, Title: s.title(), Agent: m.agentTitle(s.row.Provider), Unread: st&ahp.FlagRead == 0}
		r.State, r.StateStyle = stateWord(st, l)
		switch {
		case st.NeedsInput():
			r.Mark, r.State = "?", "waiting for you"
		case st.Activity() == ahp.ActivityInProgress:
			r.Mark = string(l.Running)
		case st.Activity() == ahp.ActivityError:
			r.Mark = string(l.Failed)
		default:
			r.Mark = string(l.Ended)
		}
		if st&ahp.FlagArchived != 0 {
			r.State += ", archived"
		}
		if len(s.row.WorkingDirectories) > 0 {
			r.Cwd = words.Clean(words.Shorten(address.Path(s.row.WorkingDirectories[0]), m.cfg.home()))
		}
		u := s.usage()
		if u.Tokens > 0 {
			r.Tokens = chat.Count(u.Tokens)
		}
		r.Time = m.sessionTime(s, u)
		r.Doing = words.Clean(s.row.Activity)
		if n := m.neededOf(s); n != nil {
			r.Doing = n.text
		}
		if id, ok := m.panes.Doc.Shown.Showing(s.row.DefaultChat); ok && s.row.DefaultChat != "" {
			i, _, _ := m.panes.Doc.Shown.Find(id)
			r.Where = fmt.Sprintf("tab %d", i+1)
		}
		if t := m.tasks.At(s.uri); t != nil {
			r = m.tasks.Row(r, *t, l)
		}
		rows = append(rows, r)
	}
	return append(rows, m.tasks.Rows(listed, archived, l)...)
}

// sessionTime is for how long a session works, or how long ago it changed.
func (m *Model) sessionTime(s *session, u sessionUsage) string {
	now := m.env.Now()
	if u.Since > 0 && s.row.Status.Activity()&ahp.ActivityInProgress != 0 {
		d := max(now.Sub(time.UnixMilli(u.Since))-m.elapsed.skew, 0)
		if wait := time.Second - d%time.Second; m.elapsed.due == 0 || wait < m.elapsed.due {
			m.elapsed.due = wait
		}
		if d < 10*time.Second {
			return fmt.Sprintf("%ds", int(d.Seconds()))
		}
		return pane.Lasted(d)
	}
	at, err := time.Parse(time.RFC3339, string(s.row.ModifiedAt))
	if err != nil {
		return ""
	}
	return words.Rested(now.Sub(at))
}

// openSession shows a session's chat; of several, it asks which.
func (m *Model) openSession(s *session) {
	if s.ready && len(s.state.Chats) > 1 {
		var rows []string
		var uris []ahp.URI
		for _, c := range s.state.Chats {
			if c.Interactivity == ahp.InteractivityHidden {
				continue
			}
			title := words.Clean(c.Title)
			if title == "" {
				title = s.title()
			}
			word, _ := stateWord(c.Status, &m.outer.Look)
			rows, uris = append(rows, title+"  "+word), append(uris, c.Resource)
		}
		m.chooseRow("Chats of "+s.title(), rows, 0, func(i int) { m.panes.OpenChat(uris[i]) })
		return
	}
	if s.row.DefaultChat == "" {
		m.loop.Say(status.Info, "the session has no chat")
		return
	}
	m.panes.OpenChat(s.row.DefaultChat)
}

// newSession begins a session; without a name it asks which agent, where there are
// several.
func (m *Model) newSession(name string) {
	h := m.link.Host
	if !m.link.Can(link.CanSessions) {
		return
	}
	cwd := m.panes.Cwd()
	if e := m.focusedChat(); e != nil {
		if s := m.sessions.byURI[e.session]; s != nil && len(s.row.WorkingDirectories) > 0 {
			cwd = s.row.WorkingDirectories[0]
		}
	}
	if cwd == "" {
		cwd = address.File(m.cfg.Cwd)
	}
	if name != "" {
		m.beginSession(name, cwd)
		return
	}
	m.loop.Async("list the agents", func(ctx context.Context) (func(), error) {
		agents, err := h.Agents(ctx)
		return func() {
			if err == nil {
				m.chooseAgent(agents, cwd)
			}
		}, err
	})
}

// chooseAgent asks which agent to begin a session with.
func (m *Model) chooseAgent(agents []link.Agent, cwd ahp.URI) {
	var rows []string
	able := 0
	for _, a := range agents {
		row := words.Clean(a.Title)
		if a.Why != "" {
			row += "  (" + words.Clean(a.Why) + ")"
		} else {
			able++
		}
		rows = append(rows, row)
	}
	switch {
	case len(agents) == 0:
		m.loop.Say(status.Info, "there is no agent: tandemux agents says how to get one")
	case able == 1 && agents[0].Why == "" && len(agents) == 1:
		m.beginSession(agents[0].Name, cwd)
	default:
		title := "New session in " + words.Clean(words.Shorten(address.Path(cwd), m.cfg.home()))
		m.chooseRow(title, rows, 0, func(i int) {
			if agents[i].Why != "" {
				m.loop.Say(status.Info, "%s: %s", agents[i].Title, agents[i].Why)
				return
			}
			m.beginSession(agents[i].Name, cwd)
		})
	}
}

// beginSession begins a session and shows its chat.
func (m *Model) beginSession(agent string, cwd ahp.URI) {
	h := m.link.Host
	id := strings.ToLower(rand.Text()[:12])
	p := ahp.CreateSessionParams{
		Channel: ahp.SessionScheme + "/" + id, Provider: agent,
		Meta: &ahp.SessionMeta{Chat: ahp.ChatScheme + "/" + id},
	}
	if cwd != "" {
		p.WorkingDirectories = []ahp.URI{cwd}
	}
	if _, ok := m.loop.Overlay.(*overlay.Agents); ok {
		m.loop.Close()
	}
	m.loop.Async("begin a session", func(ctx context.Context) (func(), error) {
		err := h.CreateSession(ctx, p)
		return func() {
			if err == nil {
				m.panes.OpenChat(p.Meta.Chat)
			}
		}, err
	})
}

// renameSession asks for a session's title.
func (m *Model) renameSession(s *session) {
	uri, before := s.uri, m.loop.Overlay
	m.loop.Open(overlay.NewPrompt("rename session", s.title(), func(title string) {
		m.link.Dispatch(uri, ahp.SessionTitleChanged{Title: words.Clean(title)})
		m.loop.Open(before)
	}))
}

// endSession disposes of a session, asking first.
func (m *Model) endSession(s *session) {
	h, uri := m.link.Host, s.uri
	question := fmt.Sprintf("end the session %q and forget what was said?", s.title())
	if _, word := s.row.Status.Activity(), s.row.Status; word.Activity()&ahp.ActivityInProgress != 0 {
		question = fmt.Sprintf("%s works: end the session %q and forget what was said?", m.agentTitle(s.row.Provider), s.title())
	}
	m.loop.Confirm(question, func() {
		m.loop.Async("end the session", func(ctx context.Context) (func(), error) {
			err := h.DisposeSession(ctx, uri)
			return func() {
				if err == nil {
					m.lostSession(uri)
					m.sessionsChanged()
				}
			}, err
		})
	})
}

// crossOver goes from a terminal to the chat that it belongs to, and from a chat to
// the terminal of its last tool call.
func (m *Model) crossOver() {
	if e := m.focusedChat(); e != nil {
		e.Do("chat-terminal", m.env.Now())
		m.loop.Dirty |= loop.Panes
		return
	}
	if _, t, _ := m.panes.Focused(); t != nil {
		if uri := m.chatOf(t); uri != "" {
			m.panes.OpenChat(uri)
		}
	}
}

// chatOf is the chat that a terminal belongs to, "" for none: of the session that
// holds it, or that it was taken from.
func (m *Model) chatOf(t *terminals.Terminal) ahp.URI {
	claim := t.Info.Claim
	if claim.Kind != ahp.ClaimSession {
		if t.Info.Meta == nil || t.Info.Meta.HandBack == nil {
			return ""
		}
		claim = *t.Info.Meta.HandBack
	}
	if claim.Chat != "" {
		return claim.Chat
	}
	if s := m.sessions.byURI[claim.Session]; s != nil {
		return s.row.DefaultChat
	}
	return ""
}
