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

// With is what Agents needs.
type With struct {
	Loop  *loop.Loop
	Link  *link.Link
	Panes *panes.Panes
	Outer *outer.Terminal
	Clip  *clipboard.Clipboard
	Tasks *tasks.List
	Log   *slog.Logger
	// Composer has texts edited; nil if there is no editor.
	Composer Composer
	// Changed says that the chats' alerts may have changed.
	Changed func()
	// OpenLink opens an address.
	OpenLink func(uri string)
	// Keys returns the keys of a command in the focused chat, "" for none.
	Keys func(command string) string
	// Dir is the directory of new sessions if nothing else gives one.
	Dir string
}

// Agents is the hosts' sessions with agents, and the chats in the layout.
type Agents struct {
	With
	sessions sessions
	chats    map[ahp.URI]*Chat
	fetching bool           // older messages were asked for
	review   *review.Review // the open review of changes, nil if none is open
}

// New makes Agents without sessions. Load fetches them.
func New(w With) *Agents {
	return &Agents{With: w, chats: map[ahp.URI]*Chat{}, sessions: sessions{byURI: map[ahp.URI]*session{}}}
}

// Chat returns a chat in the layout, nil if it is not there.
func (as *Agents) Chat(uri ahp.URI) *Chat { return as.chats[uri] }

// Offered sets the agents that the host has.
func (as *Agents) Offered(agents []ahp.AgentInfo) { as.sessions.agents = agents }

// SessionState handles the state of a session.
func (as *Agents) SessionState(uri ahp.URI, st ahp.SessionState) {
	if s := as.sessions.byURI[uri]; s != nil {
		s.state, s.ready = st, true
		as.Refresh()
	}
}

// ChatState handles the state of a chat.
func (as *Agents) ChatState(uri ahp.URI, st ahp.ChatState) {
	if e := as.chats[uri]; e != nil {
		e.Reset(st)
		as.Changed()
		as.Loop.Dirty |= loop.Panes | loop.Chrome
	}
}

// ChangesState handles the state of changes or of comments on them.
func (as *Agents) ChangesState(uri ahp.URI, state any) {
	if as.review != nil {
		as.review.Take(uri, state)
	}
}

// Refused handles the refusal of an action on a chat.
func (as *Agents) Refused(uri ahp.URI) {
	if e := as.chats[uri]; e != nil {
		e.Sent("")
		as.Loop.Dirty |= loop.Panes
	}
}

// Gone handles the end of a channel. It reports whether it was a chat's or a session's.
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

// Cwd is the directory of a chat's session, shortened for people.
func (as *Agents) Cwd(e *Chat) string {
	if s := as.sessions.byURI[e.session]; s != nil {
		return s.cwd(as.Loop.Home)
	}
	return ""
}

// cwd is the session's directory, shortened for people, "" for none.
func (s *session) cwd(home string) string {
	if len(s.row.WorkingDirectories) == 0 {
		return ""
	}
	return directory(s.row.WorkingDirectories[0], home)
}

func directory(uri ahp.URI, home string) string {
	return words.Clean(words.Shorten(fileuri.Path(uri), home))
}
