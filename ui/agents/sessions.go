package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/internal/fileuri"
	"tandemux/ui/chat"
	"tandemux/ui/link"
	"tandemux/ui/loop"
	"tandemux/ui/words"
)

type sessions struct {
	byURI   map[ahp.URI]*session
	agents  []ahp.AgentInfo
	loading bool
	touched map[ahp.URI]bool // sessions with a notification since the list was asked for; nil while it is not
}

// session is what this client knows of a session.
type session struct {
	uri   ahp.URI
	row   ahp.SessionSummary
	state ahp.SessionState
	// ready says that state has arrived, asked that the session is subscribed.
	ready, asked bool
}

// sessionUsage is tandemux's addition to a session's summary.
type sessionUsage struct {
	Tokens int64 `json:"tokens"`
	Since  int64 `json:"since"` // start of the running turn in Unix ms; 0 for none
}

// usage returns what the session has used; zero if the host doesn't say.
func (s *session) usage() (u sessionUsage) {
	var m struct {
		Usage sessionUsage `json:"tandemux/usage"`
	}
	json.Unmarshal(s.row.Meta, &m) //nolint:errcheck // then it is unknown
	return m.Usage
}

func (s *session) title() string {
	return cmp.Or(words.Clean(s.row.Title), "new session")
}

// Load fetches the list of sessions.
func (as *Agents) Load() {
	h := as.Link.Host
	if as.sessions.loading {
		return
	}
	as.sessions.loading, as.sessions.touched = true, map[ahp.URI]bool{}
	as.Loop.Async("list the sessions", func(ctx context.Context) (func(), error) {
		rows, err := h.Sessions(ctx)
		if err != nil {
			as.Log.Info("the host lists no sessions", "err", err)
		}
		return func() {
			as.sessions.loading = false
			if err == nil {
				as.listed(rows)
			}
		}, nil
	})
}

func (as *Agents) listed(rows []ahp.SessionSummary) {
	ss := &as.sessions
	listed := map[ahp.URI]bool{}
	for _, row := range rows {
		listed[row.Resource] = true
		if !ss.touched[row.Resource] {
			ss.ensure(row.Resource).row = row
		}
	}
	for uri := range ss.byURI {
		if !listed[uri] && !ss.touched[uri] && as.Link.UpAt(uri) {
			as.lost(uri)
		}
	}
	ss.touched = nil
	as.Refresh()
}

func (ss *sessions) ensure(uri ahp.URI) *session {
	s := ss.byURI[uri]
	if s == nil {
		s = &session{uri: uri, row: ahp.SessionSummary{Resource: uri}}
		ss.byURI[uri] = s
	}
	return s
}

// Noted handles a notification about the list of sessions.
func (as *Agents) Noted(n link.Note) {
	var p struct {
		Summary *ahp.SessionSummary `json:"summary"`
		Session ahp.URI             `json:"session"`
		Changes json.RawMessage     `json:"changes"`
	}
	if err := ahp.Unmarshal(n.Params, &p); err != nil {
		as.Log.Warn("ignore a notification that can't be read", "method", n.Method, "err", err)
		return
	}
	ss := &as.sessions
	touch := func(uri ahp.URI) {
		if ss.touched != nil {
			ss.touched[uri] = true
		}
	}
	switch {
	case n.Method == ahp.NoteSessionAdded && p.Summary != nil:
		touch(p.Summary.Resource)
		ss.ensure(p.Summary.Resource).row = *p.Summary
	case n.Method == ahp.NoteSessionRemoved:
		touch(p.Session)
		as.lost(p.Session)
	case n.Method == ahp.NoteSessionSummaryChanged:
		touch(p.Session)
		s := ss.ensure(p.Session)
		if row, ok := ahp.Merged(s.row, p.Changes); ok {
			s.row = row
		}
	}
	as.Refresh()
}

// lost removes a session that has ended.
func (as *Agents) lost(uri ahp.URI) {
	s := as.sessions.byURI[uri]
	if s == nil {
		return
	}
	if s.asked {
		as.Link.Sink.Expect(uri, link.None)
		as.Link.Host.Unsubscribe(uri)
	}
	delete(as.sessions.byURI, uri)
	for _, e := range as.chats {
		if e.session == uri {
			e.Fail(errEnded)
		}
	}
}

// Refresh updates everything that depends on sessions.
func (as *Agents) Refresh() {
	if as.Tasks.Shown() {
		as.Tasks.Load()
	}
	as.followSessions()
	as.informReview()
	for _, e := range as.chats {
		as.inform(e)
	}
	as.Changed()
	as.Loop.Dirty |= loop.Chrome | loop.Panes
}

// sessionOf returns the session of a chat, nil while it is unknown.
func (as *Agents) sessionOf(uri ahp.URI) *session {
	for _, s := range as.sessions.byURI {
		if s.row.DefaultChat == uri || s.ready && slices.ContainsFunc(s.state.Chats, func(c ahp.ChatSummary) bool { return c.Resource == uri }) {
			return s
		}
	}
	return nil
}

// maxFollowed is how many sessions may be subscribed for other reasons than a visible chat.
const maxFollowed = 64

// followSessions subscribes to the sessions that must be followed (see the package) and
// unsubscribes from the others.
func (as *Agents) followSessions() {
	if !as.Link.Up() {
		return
	}
	want := map[ahp.URI]bool{}
	unknown := false
	for uri := range as.chats {
		if s := as.sessionOf(uri); s != nil {
			want[s.uri] = true
		} else {
			unknown = true
		}
	}
	for _, s := range as.sessionList(false) {
		// A chat of unknown session may be a further chat of any session.
		if (s.row.Status.NeedsInput() || unknown) && len(want) < maxFollowed {
			want[s.uri] = true
		}
	}
	if as.Tasks.Shown() {
		want[as.Tasks.Overlay.Chosen()] = true
	}
	if as.review != nil {
		want[as.review.URI] = true
	}
	for uri, s := range as.sessions.byURI {
		switch {
		case want[uri] && !s.asked:
			s.asked = true
			as.Link.Sink.Expect(uri, link.Session)
			as.Loop.Async("follow a session", func(ctx context.Context) (func(), error) {
				err := as.Link.Host.Subscribe(ctx, uri)
				return func() {
					if s := as.sessions.byURI[uri]; s != nil && err != nil {
						s.asked = false
					}
				}, nil
			})
		case !want[uri] && s.asked && s.ready:
			s.asked, s.ready = false, false
			as.Link.Sink.Expect(uri, link.None)
			as.Link.Host.Unsubscribe(uri)
		}
	}
}

// sessionList returns the sessions: those that wait for the person first, then those that work,
// each by the last change. all includes archived ones.
func (as *Agents) sessionList(all bool) []*session {
	var list []*session
	for s := range maps.Values(as.sessions.byURI) {
		if all || s.row.Status&ahp.FlagArchived == 0 {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *session) int {
		return cmp.Or(cmp.Compare(rank(a.row.Status), rank(b.row.Status)), cmp.Compare(b.row.ModifiedAt, a.row.ModifiedAt), cmp.Compare(a.uri, b.uri))
	})
	return list
}

// rank orders sessions; those with a lower rank come first.
func rank(s ahp.Status) int {
	switch {
	case s.NeedsInput():
		return 0
	case s.Activity() == ahp.ActivityInProgress:
		return 1
	case s&ahp.FlagArchived != 0:
		return 3
	}
	return 2
}

// inform passes to a chat what concerns it of its session.
func (as *Agents) inform(e *Chat) {
	s := as.sessionOf(e.uri)
	if s == nil {
		return
	}
	e.session = s.uri
	info := chat.Session{Title: s.title(), Agent: as.agentTitle(s.row.Provider)}
	for _, d := range s.row.WorkingDirectories {
		info.Roots = append(info.Roots, fileuri.Path(d))
	}
	if s.ready {
		var meta struct {
			Options  []ahp.AgentOption                `json:"tandemux/options"`
			Commands []ahp.AgentCommand               `json:"tandemux/commands"`
			Plans    map[ahp.URI][]ahp.AgentPlanEntry `json:"tandemux/plans"`
			Can      ahp.AgentCan                     `json:"tandemux/can"`
		}
		json.Unmarshal(s.state.Meta, &meta) //nolint:errcheck // then there is nothing to choose
		info.Lifecycle, info.Error = s.state.Lifecycle, s.state.CreationError
		info.Options, info.Commands, info.Plan = meta.Options, meta.Commands, meta.Plans[e.uri]
		if s.state.Config != nil {
			info.Values = s.state.Config.Values
		}
		info.Fork, info.Steer = meta.Can.Fork || as.canFork(s.row.Provider), meta.Can.Steer
	}
	e.SetSession(info)
}

// agentTitle is an agent's name for people.
func (as *Agents) agentTitle(provider string) string {
	for _, a := range as.sessions.agents {
		if a.Provider == provider && a.DisplayName != "" {
			return words.Clean(a.DisplayName)
		}
	}
	return words.Clean(strings.TrimPrefix(provider, "task-")) // an agent of tasks, which clients are not told of
}

// canFork reports whether an agent's chats can be forked.
func (as *Agents) canFork(provider string) bool {
	for _, a := range as.sessions.agents {
		var can struct {
			MultipleChats struct {
				Fork json.RawMessage `json:"fork"`
			} `json:"multipleChats"`
		}
		if a.Provider == provider && json.Unmarshal(a.Capabilities, &can) == nil {
			return len(can.MultipleChats.Fork) > 0 && string(can.MultipleChats.Fork) != "false" && string(can.MultipleChats.Fork) != "null"
		}
	}
	return false
}
