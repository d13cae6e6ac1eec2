package agents

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/internal/fileuri"
	"tandemux/ui/command"
	"tandemux/ui/link"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
	"tandemux/ui/tasks"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// Commands returns the commands about sessions and chats, by name.
func (as *Agents) Commands() map[string]command.Do {
	return map[string]command.Do{
		"agents":       func([]string) { as.openList() },
		"new-session":  func(args []string) { as.newSession(strings.Join(args, " ")) },
		"open-chat":    func([]string) { as.crossOver() },
		"answer-agent": func([]string) { as.answerAny() },
		"review":       func([]string) { as.reviewHere() },
	}
}

// Do runs a command in the focused chat. It reports whether there is a chat that has the command.
func (as *Agents) Do(name string) bool {
	c := as.Focused()
	if c == nil || !c.Do(name, as.Loop.Now()) {
		return false
	}
	as.Loop.Dirty |= loop.Panes | loop.Chrome
	return true
}

func (as *Agents) openList() {
	archived := false
	with := func(f func(*session)) func(ahp.URI) {
		return func(uri ahp.URI) {
			if s := as.sessions.byURI[uri]; s != nil {
				f(s)
			} else if t := as.Tasks.At(uri); t != nil {
				as.Loop.Say(status.Info, "%s has no chat: `tandemux task watch` follows it", t.Name)
			} else {
				as.Loop.Say(status.Info, "the session has ended")
			}
		}
	}
	task := func(uri string) bool { return as.Tasks.At(uri) != nil }
	bring := with(func(s *session) { as.Panes.Bring(s.row.DefaultChat) })
	as.Tasks.Overlay = &overlay.List{Source: overlay.Source{
		Title: "Agents", None: "no session yet: enter begins one", Width: 150, Columns: tasks.Columns,
		Rows: func() []overlay.Row { return as.rows(archived) }, Current: as.current(),
		Enter: func(uri string) bool {
			if uri == "" {
				as.newSession("")
				return false
			}
			with(as.openSession)(uri)
			return true
		},
		EnterKeys: "enter open",
		Actions: []overlay.Action{
			{Letter: "n", Label: "new", NoRow: true, Do: func(string) { as.newSession("") }},
			{Letter: "y", Label: "answer", Do: with(as.answerSession)},
			{Letter: "s", Label: "steer", For: task, Do: as.Tasks.Steer},
			{Letter: "p", Label: "changes", Do: as.openReview},
			{Letter: "x", Label: "discard", For: task, Do: as.Tasks.Discard},
			{Letter: "r", Label: "rename", Do: with(as.renameSession)},
			{Letter: "a", Label: "archive", Do: with(func(s *session) {
				as.Link.Dispatch(s.uri, ahp.SessionIsArchivedChanged{IsArchived: s.row.Status&ahp.FlagArchived == 0})
			})},
			{Letter: "t", Label: "to this tab", Close: true, Do: bring},
			{Letter: "x", Label: "end", For: func(uri string) bool { return !task(uri) }, Do: with(as.endSession)},
			{Letter: "v", Label: "archived", NoRow: true, Do: func(string) { archived = !archived; as.Loop.Dirty |= loop.Panes }},
		},
	}}
	as.Loop.Open(as.Tasks.Overlay)
	as.Tasks.Load()
}

// current is the session of the focused chat or terminal, "" for none.
func (as *Agents) current() ahp.URI {
	p, ok := as.Panes.Arr.Focused()
	if !ok {
		return ""
	}
	chat := p.Terminal
	if t := as.Panes.Terms.Get(p.Terminal); t != nil {
		chat = as.ChatOf(t)
	}
	if s := as.sessionOf(chat); s != nil {
		return s.uri
	}
	return ""
}

func (as *Agents) rows(archived bool) []overlay.Row {
	var rows []overlay.Row
	l, listed := &as.Outer.Look, map[ahp.URI]bool{}
	for uri := range as.sessions.byURI {
		listed[uri] = true // archived ones too
	}
	for _, s := range as.sessionList(archived) {
		st := s.row.Status
		r := tasks.Session{URI: s.uri, Title: s.title(), Agent: as.agentTitle(s.row.Provider), Unread: st&ahp.FlagRead == 0}
		r.State.Text, r.Mark = stateWord(st, l)
		if st&ahp.FlagArchived != 0 {
			r.State.Text += ", archived"
		}
		r.Cwd = s.cwd(as.Loop.Home)
		u := s.usage()
		if u.Tokens > 0 {
			r.Tokens = words.Count(u.Tokens)
		}
		r.Time = as.sessionTime(s, u)
		r.Doing = words.Clean(s.row.Activity)
		if list := s.needs(); len(list) > 0 {
			r.Doing = list[0].text
		}
		r.Where = as.Panes.Where(s.row.DefaultChat)
		if t := as.Tasks.At(s.uri); t != nil {
			as.Tasks.Fill(&r, *t, l)
		}
		rows = append(rows, r.Row(l))
	}
	return append(rows, as.Tasks.Rows(listed, archived, l)...)
}

// sessionTime is how long a session has been working, or how long ago it changed.
func (as *Agents) sessionTime(s *session, u sessionUsage) string {
	now := as.Loop.Now()
	if u.Since > 0 && s.row.Status.Activity()&ahp.ActivityInProgress != 0 {
		d := as.Loop.Since(time.UnixMilli(u.Since))
		as.Loop.Counts(d, time.Second)
		return words.Lasting(d)
	}
	at, err := time.Parse(time.RFC3339, string(s.row.ModifiedAt))
	if err != nil {
		return ""
	}
	return words.Rested(now.Sub(at))
}

// openSession shows a session's chat. If it has several, the person chooses one.
func (as *Agents) openSession(s *session) {
	if s.ready && len(s.state.Chats) > 1 {
		var rows []string
		var uris []ahp.URI
		for _, c := range s.state.Chats {
			if c.Interactivity == ahp.InteractivityHidden {
				continue
			}
			title := cmp.Or(words.Clean(c.Title), s.title())
			word, _ := stateWord(c.Status, &as.Outer.Look)
			rows, uris = append(rows, title+"  "+word), append(uris, c.Resource)
		}
		as.chooseRow("Chats of "+s.title(), rows, 0, func(i int) { as.Panes.Show(uris[i]) })
		return
	}
	if s.row.DefaultChat == "" {
		as.Loop.Say(status.Info, "the session has no chat")
		return
	}
	as.Panes.Show(s.row.DefaultChat)
}

// newSession starts a session with the named agent. Without a name the person chooses an agent if
// there are several.
func (as *Agents) newSession(name string) {
	h := as.Link.At(hosted.At(as.Panes.FocusedHost(), ahp.RootURI))
	cwd := as.Panes.Cwd()
	if e := as.Focused(); e != nil {
		if s := as.sessions.byURI[e.session]; s != nil && len(s.row.WorkingDirectories) > 0 {
			cwd = s.row.WorkingDirectories[0]
		}
	}
	cwd = cmp.Or(cwd, fileuri.Of(as.Dir))
	if name != "" {
		as.beginSession(name, cwd)
		return
	}
	loop.Get(as.Loop, "list the agents", h.Agents, func(agents []link.Agent) { as.chooseAgent(agents, cwd) })
}

// chooseAgent lets the person choose the agent of a new session.
func (as *Agents) chooseAgent(agents []link.Agent, cwd ahp.URI) {
	var rows []string
	for _, a := range agents {
		row := words.Clean(a.Title)
		if a.Why != "" {
			row += "  (" + words.Clean(a.Why) + ")"
		}
		rows = append(rows, row)
	}
	switch {
	case len(agents) == 0:
		as.Loop.Say(status.Info, "there is no agent: tandemux agent ls says how to get one")
	case len(agents) == 1 && agents[0].Why == "":
		as.beginSession(agents[0].Name, cwd)
	default:
		title := "New session in " + directory(cwd, as.Loop.Home)
		as.chooseRow(title, rows, 0, func(i int) {
			if agents[i].Why != "" {
				as.Loop.Say(status.Info, "%s: %s", agents[i].Title, agents[i].Why)
				return
			}
			as.beginSession(agents[i].Name, cwd)
		})
	}
}

// beginSession starts a session and shows its chat.
func (as *Agents) beginSession(agent string, cwd ahp.URI) {
	h, at := as.Link.Host, as.Panes.FocusedHost() // the host that has the directory
	id := strings.ToLower(rand.Text()[:12])
	p := ahp.CreateSessionParams{
		Channel: hosted.At(at, ahp.SessionScheme+"/"+id), Provider: agent,
		Meta: &ahp.SessionMeta{Chat: hosted.At(at, ahp.ChatScheme+"/"+id)},
	}
	if cwd != "" {
		p.WorkingDirectories = []ahp.URI{cwd}
	}
	if as.Tasks.Shown() {
		as.Loop.Close()
	}
	as.Loop.Call("begin a session", func(ctx context.Context) error { return h.CreateSession(ctx, p) }, func() { as.Panes.Show(p.Meta.Chat) })
}

// renameSession asks for a session's title.
func (as *Agents) renameSession(s *session) {
	uri, before := s.uri, as.Loop.Overlay
	as.Loop.Open(overlay.NewPrompt("rename session", s.title(), func(title string) {
		as.Link.Dispatch(uri, ahp.SessionTitleChanged{Title: words.Clean(title)})
		as.Loop.Open(before)
	}))
}

// endSession ends a session after a question.
func (as *Agents) endSession(s *session) {
	h, uri := as.Link.Host, s.uri
	question := fmt.Sprintf("end the session %q and forget what was said?", s.title())
	if s.row.Status.Activity()&ahp.ActivityInProgress != 0 {
		question = fmt.Sprintf("%s works: end the session %q and forget what was said?", as.agentTitle(s.row.Provider), s.title())
	}
	as.Loop.Confirm(question, func() {
		as.Loop.Call("end the session", func(ctx context.Context) error {
			return h.Call(ctx, ahp.MethodDisposeSession, ahp.SubscribeParams{Channel: uri}, nil)
		}, func() {
			as.lost(uri)
			as.Refresh()
		})
	})
}

// crossOver goes from a terminal to its chat, and from a chat to the terminal of its last tool
// call.
func (as *Agents) crossOver() {
	if e := as.Focused(); e != nil {
		e.Do("chat-terminal", as.Loop.Now())
		as.Loop.Dirty |= loop.Panes
		return
	}
	if _, t, _ := as.Panes.Focused(); t != nil {
		if uri := as.ChatOf(t); uri != "" {
			as.Panes.Show(uri)
		}
	}
}

// ChatOf returns the chat of the session that holds a terminal, or held it before this person
// took it; "" for none.
func (as *Agents) ChatOf(t *terminals.Terminal) ahp.URI {
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
	if s := as.sessions.byURI[claim.Session]; s != nil {
		return s.row.DefaultChat
	}
	return ""
}
