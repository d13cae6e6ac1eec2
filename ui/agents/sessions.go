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
	touched map[ahp.URI]bool // by notifications since the list was asked for
}

// session is what this client knows of one.
type session struct {
	uri   ahp.URI
	row   ahp.SessionSummary
	state ahp.SessionState
	// ready says that state has come; asked that it is subscribed to.
	ready, asked bool
}

// sessionUsage is tandemux's addition to a session's summary.
type sessionUsage struct {
	Tokens int64 `json:"tokens"`
	Since  int64 `json:"since"` // of the turn that runs, Unix ms; 0 for none
}

// usage is what the session has used, as far as the host tells.
func (s *session) usage() (u sessionUsage) {
	var m struct {
		Usage sessionUsage `json:"tandemux/usage"`
	}
	json.Unmarshal(s.row.Meta, &m) //nolint:errcheck // then nothing is told
	return m.Usage
}

func (s *session) title() string {
	return cmp.Or(words.Clean(s.row.Title), "new session")
}

// Load asks for the list.
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

// Noted takes a notification about the list.
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

// lost forgets a session that has ended.
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

// Refresh brings up to date what depends on sessions.
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

// sessionOf finds the session that a chat belongs to, nil while it is not known.
func (as *Agents) sessionOf(uri ahp.URI) *session {
	for _, s := range as.sessions.byURI {
		if s.row.DefaultChat == uri || s.ready && slices.ContainsFunc(s.state.Chats, func(c ahp.ChatSummary) bool { return c.Resource == uri }) {
			return s
		}
	}
	return nil
}

// maxFollowed bounds the sessions that are followed at once.
const maxFollowed = 64

// followSessions subscribes to the sessions of the chats that show and to those
// that wait for a person, and drops the others.
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
		// A chat whose session is not known is one of some session's others.
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

// sessionList gives the sessions, those that were modified last first; with all,
// archived ones too.
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

// rank orders sessions: those that wait for the person first.
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

// inform tells a chat what concerns it of its session.
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

// agentTitle names an agent for people.
func (as *Agents) agentTitle(provider string) string {
	for _, a := range as.sessions.agents {
		if a.Provider == provider && a.DisplayName != "" {
			return words.Clean(a.DisplayName)
		}
	}
	return words.Clean(strings.TrimPrefix(provider, "task-")) // of a task, which clients are not told of
}

// canFork reports whether an agent's chats can begin from others.
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
