package ui

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/keymap"
	"tandemux/ui/address"
	"tandemux/ui/attention"
	"tandemux/ui/chat"
	"tandemux/ui/clipboard"
	"tandemux/ui/layout"
	"tandemux/ui/link"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// draftTime is how long after the last key a draft is told to the host.
const draftTime = time.Second

// chatEntry is a chat that panes of the layout show.
type chatEntry struct {
	*chat.Chat
	uri     ahp.URI
	session ahp.URI // "" while it is not known
	asked   bool    // it is subscribed to
	drafts  bool    // a timer runs that tells the draft
	ticks   bool    // a timer runs that draws times again
	follows []ahp.URI
	cursor  paint.Cursor
	rect    paint.Rect
}

// focusedChat is the focused pane's chat, nil where it shows none.
func (m *Model) focusedChat() *chatEntry {
	if p, ok := m.panes.Arr.Focused(); ok {
		return m.chats[p.Terminal]
	}
	return nil
}

// chatMode is the table of bindings that a chat is used with.
func (m *Model) chatMode() (keymap.Mode, bool) {
	switch c := m.focusedChat(); {
	case c == nil:
		return keymap.Normal, false
	case c.Reading():
		return keymap.Reading, true
	}
	return keymap.Chat, true
}

// arranged follows what shows besides terminals.
func (m *Model) arranged() {
	m.attending.stale = true
	m.followChats()
}

// followChats subscribes to the chats that the layout shows and drops the others.
func (m *Model) followChats() {
	shown := map[ahp.URI]bool{}
	for _, tab := range m.panes.Doc.Shown.Tabs {
		for _, leaf := range tab.Panes() {
			if address.IsChat(leaf.Terminal) {
				shown[leaf.Terminal] = true
			}
		}
	}
	changed := false
	for uri := range shown {
		e := m.chats[uri]
		if e == nil {
			e = m.newChatEntry(uri)
			changed = true
		}
		if !e.asked && m.link.Up() && e.Err() == nil {
			m.followChat(e)
		}
	}
	for uri, e := range m.chats {
		if !shown[uri] {
			m.tellDraft(e)
			m.link.Sink.Expect(uri, link.None)
			m.link.Host.Unsubscribe(uri)
			delete(m.chats, uri)
			changed = true
		}
	}
	if changed {
		m.followSessions()
	}
	for _, p := range m.panes.Arr.Panes {
		if e := m.chats[p.Terminal]; e != nil {
			e.follows = e.Terminals()
			for _, uri := range e.follows {
				if t := m.panes.Terms.Get(uri); t != nil {
					m.panes.Keep(t)
				}
			}
		}
	}
}

func (m *Model) newChatEntry(uri ahp.URI) *chatEntry {
	if m.chats == nil {
		m.chats = map[ahp.URI]*chatEntry{}
	}
	e := &chatEntry{uri: uri}
	e.Chat = chat.New(uri, m.chatActions(e))
	m.chats[uri] = e
	m.informChat(e)
	return e
}

func (m *Model) followChat(e *chatEntry) {
	uri := e.uri
	e.asked = true
	m.link.Sink.Expect(uri, link.Chat)
	m.loop.Async("show a chat", func(ctx context.Context) (func(), error) {
		err := m.link.Host.Subscribe(ctx, uri)
		return func() {
			e := m.chats[uri]
			if e == nil || err == nil {
				return
			}
			if e.asked = false; m.link.Up() {
				e.Fail(err)
				m.loop.Dirty |= loop.Panes | loop.Chrome
			}
		}, nil
	})
}

// settleChats follows what came into sight, and sets the timers of chats.
func (m *Model) settleChats() {
	for _, p := range m.panes.Arr.Panes {
		e := m.chats[p.Terminal]
		if e == nil {
			continue
		}
		if !slices.Equal(e.Terminals(), e.follows) {
			m.loop.Dirty |= loop.Stale
		}
		if d := e.Due(); d > 0 && !e.ticks {
			e.ticks = true
			uri := e.uri
			m.loop.After(d, func() {
				if e := m.chats[uri]; e != nil {
					e.ticks = false
					e.Tick()
					m.loop.Dirty |= loop.Panes | loop.Chrome
				}
			})
		}
	}
	for uri, e := range m.chats {
		if e.Unsent() && !e.drafts {
			e.drafts = true
			m.loop.After(draftTime, func() {
				if e := m.chats[uri]; e != nil {
					e.drafts = false
					m.tellDraft(e)
				}
			})
		}
	}
	m.panes.Freshen()
}

// tellDraft tells the host what is being written.
func (m *Model) tellDraft(e *chatEntry) {
	if !m.link.Up() {
		return
	}
	if a, changed := e.Draft(); changed {
		m.link.Dispatch(e.uri, a)
	}
}

// tellDrafts is tellDraft for all, before leaving.
func (m *Model) tellDrafts() {
	for _, e := range m.chats {
		m.tellDraft(e)
	}
}

// terminalReady tells chats that a terminal can be seen.
func (m *Model) terminalReady() {
	for _, e := range m.chats {
		e.TerminalReady()
	}
}

// chatActions are what a chat has done for it.
func (m *Model) chatActions(e *chatEntry) chat.Actions {
	return chat.Actions{
		Dispatch: func(a ahp.Action) bool {
			_, ok := m.link.Dispatch(e.uri, a)
			return ok
		},
		Configure: func(id string, value any) {
			if e.session != "" {
				m.link.Dispatch(e.session, ahp.SessionConfigChanged{Config: map[string]any{id: value}})
			}
		},
		Complete: func(text string, offset int) { m.complete(e, text, offset) },
		Copy: func(text, what string) {
			m.clip.Copy(clipboard.Copied{Text: text, What: what + " (" + words.Counted(text) + ")"})
		},
		Open: func(uri ahp.URI) {
			if t := m.panes.Terms.Get(uri); t != nil {
				m.panes.Show(t)
			} else {
				m.loop.Say(status.Info, "this terminal is gone")
			}
		},
		Link:   m.openLink,
		Edit:   m.composeText,
		Choose: m.chooseRow,
		Say: func(warn bool, text string) {
			kind := status.Info
			if warn {
				kind = status.Warning
			}
			m.loop.Say(kind, "%s", text)
		},
		Fork:   func(turn string) { m.forkChat(e, turn) },
		More:   func() { m.moreTurns(e) },
		Login:  func(way ahp.AgentAuth) { m.logIn(e, way) },
		Search: func(back bool) { m.searchChat(e, back) },
		Keys:   m.chatKeysOf,
		Screen: func(uri ahp.URI) chat.Screen {
			if t := m.panes.Terms.Get(uri); t != nil && t.Feed != nil && t.Feed.Ready() {
				return t.Feed
			}
			return nil
		},
		NewID: func(kind string) string { return kind + "-" + strings.ToLower(rand.Text()) },
	}
}

// chatKeysOf gives the keys of a command in chats, "" for none.
func (m *Model) chatKeysOf(name string) string {
	for _, b := range m.keys.For(name) {
		if mode, _ := m.chatMode(); b.Mode == mode {
			return b.Keys
		}
	}
	if b := m.keys.For(name); len(b) > 0 {
		return b[0].Keys
	}
	return ""
}

// complete asks the host what may follow.
func (m *Model) complete(e *chatEntry, text string, offset int) {
	h := m.link.Host
	if !m.link.Can(link.CanChats) {
		return
	}
	uri := e.uri
	m.loop.Async("complete", func(ctx context.Context) (func(), error) {
		got, err := h.Complete(ctx, ahp.CompletionsParams{Channel: uri, Kind: "userMessage", Text: text, Offset: offset})
		if err != nil {
			m.log.Debug("no completions", "err", err)
		}
		return func() {
			if e := m.chats[uri]; e != nil {
				e.Offer(got.Items, text, offset)
				m.loop.Dirty |= loop.Panes
			}
		}, nil
	})
}

// chooseRow asks which of some rows.
func (m *Model) chooseRow(title string, rows []string, at int, accept func(int)) {
	for i := range rows {
		rows[i] = words.Clean(rows[i])
	}
	var o *overlay.Choice
	o = overlay.NewChoice(overlay.Choosing{
		Title: words.Clean(title), Rows: rows, Chosen: at, Moved: func(int) {},
		Accept: func(row int) {
			if m.loop.Overlay == o {
				m.loop.Close()
			}
			accept(row)
		},
	})
	m.loop.Open(o)
}

// forkChat begins a chat with the turns of another one.
func (m *Model) forkChat(e *chatEntry, turn string) {
	h := m.link.Host
	if !m.link.Can(link.CanChats) || e.session == "" {
		m.loop.Say(status.Info, "this connection can't fork chats")
		return
	}
	uri := ahp.ChatScheme + "/" + strings.ToLower(rand.Text()[:12])
	p := ahp.CreateChatParams{Channel: e.session, Chat: uri, Source: &ahp.ChatSource{Kind: "fork", Chat: e.uri, TurnID: turn}}
	m.loop.Async("fork the chat", func(ctx context.Context) (func(), error) {
		err := h.CreateChat(ctx, p)
		return func() {
			if err == nil {
				m.panes.OpenChat(uri)
			}
		}, err
	})
}

// moreTurns loads older turns.
func (m *Model) moreTurns(e *chatEntry) {
	h := m.link.Host
	if !m.link.Can(link.CanChats) || m.fetching {
		return
	}
	m.fetching = true
	p := ahp.FetchTurnsParams{Channel: e.uri, Cursor: e.State().TurnsNextCursor}
	m.loop.Async("load older messages", func(ctx context.Context) (func(), error) {
		err := h.FetchTurns(ctx, p)
		return func() { m.fetching = false }, err
	})
}

// logIn runs a way to log in to a chat's agent: in a pane, where it is one for a
// terminal.
func (m *Model) logIn(e *chatEntry, way ahp.AgentAuth) {
	h := m.link.Host
	switch {
	case way.Kind == "env":
		m.loop.Say(status.Info, "set %s in the agent's env, in the configuration", strings.Join(way.Variables, " and "))
		return
	case !m.link.Can(link.CanLogin) || e.session == "":
		m.loop.Say(status.Info, "this connection can't log in")
		return
	}
	uri, put := address.New(ahp.TerminalScheme), m.panes.Beside(m.panes.Area(), m.panes.FocusID())
	s := m.sessions.byURI[e.session]
	p := ahp.LoginParams{Channel: ahp.RootURI, Method: way.ID, Terminal: uri, Cols: max(m.panes.Arr.Area.W, 1), Rows: max(m.panes.Arr.Area.H-1, 1)}
	if s != nil && s.ready && s.state.Lifecycle == ahp.LifecycleFailed {
		p.Session = e.session
	} else if s != nil {
		p.Provider = s.row.Provider
	}
	m.loop.Async("log in", func(ctx context.Context) (func(), error) {
		got, err := h.Login(ctx, p)
		if err == nil && got.Terminal != "" {
			err = m.link.Host.Subscribe(ctx, got.Terminal)
		}
		return func() {
			switch {
			case err != nil:
			case got.Terminal != "":
				m.panes.Created(got.Terminal, put)
			default:
				m.loop.Say(status.Info, "logged in; %s tries again", m.keysOf("chat-retry"))
			}
		}, err
	})
}

// searchChat asks what to look for in a transcript, and looks as it is typed.
func (m *Model) searchChat(e *chatEntry, back bool) {
	top, follow := e.Position()
	m.loop.Open(overlay.NewSearch("search the chat", m.searches, overlay.SearchDo{
		Changed: func(text string) string {
			e.Restore(top, follow)
			return e.Find(text, back)
		},
		Step: func(reverse bool) string { return e.FindNext(reverse) },
		Done: func(text string, ok bool) {
			m.loop.Dirty |= loop.Panes | loop.Chrome
			if !ok {
				e.Find("", false)
				e.Restore(top, follow)
				return
			}
			if text == "" && len(m.searches) > 0 {
				text = m.searches[len(m.searches)-1]
			}
			if text != "" {
				m.remember(text)
				if e.Finding() != text {
					e.Find(text, back)
				}
				e.Read()
			}
		},
	}))
}

// drawChat draws a chat's pane and gives the place of its cursor.
func (m *Model) drawChat(p layout.Placed, e *chatEntry, all bool, now time.Time) paint.Cursor {
	r := paint.Rect(p.Body)
	if !all && e.rect == r && !e.Stale() {
		return e.cursor
	}
	e.rect = r
	e.cursor = e.Draw(&m.outer.Canvas, r, &m.outer.Look, p.Focused, now)
	return e.cursor
}

// typeChat gives a key to the focused chat.
func (m *Model) typeChat(e *chatEntry, k tea.Key) {
	m.loop.Unsay()
	e.Type(k, m.env.Now())
	m.loop.Dirty |= loop.Panes
}

// chatInstead are the commands of chats that take the place of those about
// terminals.
var chatInstead = map[string]string{
	"copy-mode": "chat-read", "search": "chat-search", "search-back": "chat-search",
	"scroll-up": "chat-line-up", "scroll-down": "chat-line-down", "scroll-half-up": "chat-half-up", "scroll-half-down": "chat-half-down",
	"scroll-page-up": "chat-page-up", "scroll-page-down": "chat-page-down", "scroll-top": "chat-top", "scroll-bottom": "chat-bottom",
	"copy-output": "chat-answer", "copy-selection": "chat-copy", "fold-output": "chat-details",
	"search-next": "chat-find-next", "search-previous": "chat-find-back",
}

// chatCommand runs a command of the focused chat.
func chatCommand(name string) action {
	return func(m *Model, _ []string) {
		if e := m.focusedChat(); e != nil {
			e.Do(name, m.env.Now())
			m.loop.Dirty |= loop.Panes | loop.Chrome
		}
	}
}

// chatTitle is what a chat's pane is called.
func (m *Model) chatTitle(uri ahp.URI) string {
	if s := m.sessionOf(uri); s != nil {
		if s.ready {
			for _, c := range s.state.Chats {
				if t := words.Clean(c.Title); c.Resource == uri && t != "" {
					return t
				}
			}
		}
		return s.title()
	}
	if e := m.chats[uri]; e != nil && e.Session().Title != "" {
		return e.Session().Title
	}
	return terminals.ShortName(uri)
}

// chatBadge says how a chat stands.
func (m *Model) chatBadge(e *chatEntry) (string, look.Style) {
	l := &m.outer.Look
	s := m.sessions.byURI[e.session]
	switch {
	case e.Err() != nil:
		return "gone", l.Exited
	case !e.Ready():
		return "", l.Other
	}
	name := "agent"
	if s != nil {
		name = m.agentTitle(s.row.Provider)
	}
	word, style := stateWord(e.State().Status, l)
	if s != nil && s.ready && s.state.Lifecycle == ahp.LifecycleFailed {
		word, style = "not started", l.Fail
	}
	return name + ": " + word, style
}

// stateWord is a status in a word, and how it is drawn.
func stateWord(s ahp.Status, l *look.Look) (string, look.Style) {
	switch {
	case s.NeedsInput():
		return "waiting for you", l.Agent
	case s.Activity() == ahp.ActivityInProgress:
		return "working", l.Agent
	case s.Activity() == ahp.ActivityError:
		return "failed", l.Fail
	}
	return "idle", l.Background
}

// chatAlert is what a chat of a pane that the person does not look at tells them.
func (m *Model) chatAlert(uri ahp.URI) attention.Alert {
	e := m.chats[uri]
	if e == nil || !e.Ready() || m.panes.LooksAt(uri) {
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
	if !m.attending.marks.Has(kind) {
		return attention.Alert{}
	}
	text := map[attention.Kind]string{attention.Waiting: "waits for you", attention.Failed: "the turn failed", attention.Noted: "has answered"}[kind]
	return attention.Alert{Kind: kind, Text: text}
}

// errEnded is what a chat says whose session has ended.
var errEnded = errors.New("the session has ended")

// agentAction takes an action of a chat or session; it reports whether it was one.
func (m *Model) agentAction(e ahp.Envelope) bool {
	if c := m.chats[e.Channel]; c != nil {
		c.Apply(e.Action, m.env.Now())
		m.attending.stale = true
		m.loop.Dirty |= loop.Panes | loop.Chrome
		return true
	}
	if s := m.sessions.byURI[e.Channel]; s != nil {
		if s.ready {
			m.sessionAction(s, e.Action)
		}
		return true
	}
	return false
}

// Composer is a Desk that has a text edited and gives it back.
type Composer interface {
	// Compose puts a text into a file that only this user can read and gives the
	// command that edits it, and what reads it when that has ended and removes the
	// file.
	Compose(text string) (argv []string, read func() (string, error), err error)
}

// composeText has a text edited in a pane; done gets it once the editor has ended.
func (m *Model) composeText(text string, done func(string)) {
	desk, ok := m.cfg.Desk.(Composer)
	if !ok {
		m.loop.Say(status.Info, "there is no editor to open it in")
		return
	}
	at, area := m.panes.FocusID(), m.panes.Area()
	m.loop.Async("edit the message", func(context.Context) (func(), error) {
		argv, read, err := desk.Compose(text)
		if err != nil {
			return nil, err
		}
		return func() {
			put := m.panes.Beside(area, at)
			m.panes.Create(func(l layout.Layout, uri string) (layout.Layout, layout.PaneID, error) {
				m.panes.Then(uri, func() { m.composed(at, read, done) })
				return put(l, uri)
			}, argv, "")
		}, nil
	})
}

// composed takes a text back from the editor, and the focus back to the chat.
func (m *Model) composed(at layout.PaneID, read func() (string, error), done func(string)) {
	m.loop.Async("read the message", func(context.Context) (func(), error) {
		text, err := read()
		return func() {
			if err == nil {
				done(strings.TrimRight(text, "\n"))
			}
			m.panes.Change(func(l layout.Layout) layout.Layout { return l.FocusPane(at) })
			m.loop.Dirty |= loop.Panes
		}, err
	})
}
