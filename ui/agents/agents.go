package agents

import (
	"log/slog"

	"tandemux/ahp"
	"tandemux/internal/fileuri"
	"tandemux/ui/clipboard"
	"tandemux/ui/link"
	"tandemux/ui/loop"
	"tandemux/ui/outer"
	"tandemux/ui/panes"
	"tandemux/ui/review"
	"tandemux/ui/tasks"
	"tandemux/ui/words"
)

// With is what the agents work with.
type With struct {
	Loop  *loop.Loop
	Link  *link.Link
	Panes *panes.Panes
	Outer *outer.Terminal
	Clip  *clipboard.Clipboard
	Tasks *tasks.List
	Log   *slog.Logger
	// Composer has texts edited; nil for none.
	Composer Composer
	// Changed says that what chats have to tell may be other than before.
	Changed func()
	// OpenLink opens an address.
	OpenLink func(uri string)
	// Keys are those of a command in the chat that has the focus, "" for none.
	Keys func(command string) string
	// Dir is where sessions are begun whose directory nothing says.
	Dir string
}

// Agents are the host's sessions with agents, and the chats that the layout shows.
type Agents struct {
	With
	sessions sessions
	chats    map[ahp.URI]*Chat
	fetching bool           // older messages are under way
	review   *review.Review // of changes, nil while none shows
}

// New makes agents of which nothing is known yet; Load asks for the sessions.
func New(w With) *Agents {
	return &Agents{With: w, chats: map[ahp.URI]*Chat{}, sessions: sessions{byURI: map[ahp.URI]*session{}}}
}

// Chat finds a chat that the layout shows, nil for none.
func (as *Agents) Chat(uri ahp.URI) *Chat { return as.chats[uri] }

// Offered takes which agents the host has.
func (as *Agents) Offered(agents []ahp.AgentInfo) { as.sessions.agents = agents }

// SessionState takes the state of a session.
func (as *Agents) SessionState(uri ahp.URI, st ahp.SessionState) {
	if s := as.sessions.byURI[uri]; s != nil {
		s.state, s.ready = st, true
		as.Refresh()
	}
}

// ChatState takes the state of a chat.
func (as *Agents) ChatState(uri ahp.URI, st ahp.ChatState) {
	if e := as.chats[uri]; e != nil {
		e.Reset(st)
		as.Changed()
		as.Loop.Dirty |= loop.Panes | loop.Chrome
	}
}

// ChangesState takes the state of changes or of comments on them.
func (as *Agents) ChangesState(uri ahp.URI, state any) {
	if as.review != nil {
		as.review.Take(uri, state)
	}
}

// Refused takes the refusal of an action of a chat's.
func (as *Agents) Refused(uri ahp.URI) {
	if e := as.chats[uri]; e != nil {
		e.Sent("")
		as.Loop.Dirty |= loop.Panes
	}
}

// Gone takes the news that a channel is gone; it reports whether it was a chat's or
// a session's.
func (as *Agents) Gone(channel ahp.URI) bool {
	if e := as.chats[channel]; e != nil {
		e.Fail(errEnded)
		as.Loop.Dirty |= loop.Panes | loop.Chrome
		return true
	}
	if as.sessions.byURI[channel] != nil {
		as.lost(channel)
		as.Refresh()
		return true
	}
	return false
}

// Cwd is the directory that a chat's session works in, for people.
func (as *Agents) Cwd(e *Chat) string {
	if s := as.sessions.byURI[e.session]; s != nil {
		return s.cwd(as.Loop.Home)
	}
	return ""
}

// cwd is the session's directory, for people, "" for none.
func (s *session) cwd(home string) string {
	if len(s.row.WorkingDirectories) == 0 {
		return ""
	}
	return directory(s.row.WorkingDirectories[0], home)
}

func directory(uri ahp.URI, home string) string {
	return words.Clean(words.Shorten(fileuri.Path(uri), home))
}
