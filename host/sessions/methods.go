package sessions

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/annotation"
	"tandemux/ahp/clienttool"
	"tandemux/host/agent/words"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/host/sessions/page"
	"tandemux/internal/fileuri"
)

func (ss *Sessions) Methods() map[string]requests.Method {
	return map[string]requests.Method{
		ahp.MethodListSessions:     {Do: requests.Of(ss.listSessions), Reach: requests.Anywhere, Bare: true}, // lists only what the caller may reach
		"resolveSessionConfig":     {Do: requests.Of(ss.resolveConfig), Reach: requests.Anywhere, Bare: true},
		"sessionConfigCompletions": {Do: configCompletions},
		ahp.MethodCreateSession:    {Do: requests.Of(ss.createSession), Drives: true},
		ahp.MethodDisposeSession:   {Do: requests.Of(ss.disposeSession), Drives: true},
		ahp.MethodCreateChat:       {Do: requests.Of(ss.createChat), Drives: true},
		ahp.MethodDisposeChat:      {Do: requests.Of(ss.disposeChat), Drives: true},
		ahp.MethodFetchTurns:       {Do: requests.Of(ss.fetchTurns), Scope: auth.ScopeRead, Large: true},
		ahp.MethodCompletions:      {Do: requests.Of(ss.completions), Scope: auth.ScopeRead},
		clienttool.MethodList:      {Do: requests.Of(ss.offerTools), Scope: auth.ScopeRead, Reach: requests.Inside},
		clienttool.MethodCall:      {Do: requests.Of(ss.callTool), Scope: auth.ScopeRead, Reach: requests.Inside},
	}
}

// createSession makes a session at once and then opens its agent. session/ready or
// session/creationFailed tells the result (AHP, Session Channel).
func (ss *Sessions) createSession(_ context.Context, c *requests.Conn, p ahp.CreateSessionParams) (any, error) {
	if p.WorkingDirectory != "" && p.WorkingDirectories == nil {
		p.WorkingDirectories = []ahp.URI{p.WorkingDirectory}
	}
	roots, err := ss.sessionRoots(p.WorkingDirectories)
	if err != nil {
		return nil, err
	}
	p.Meta = cmp.Or(p.Meta, &ahp.SessionMeta{})
	var sandbox Sandbox
	if p.Meta.Sandbox != "" {
		if err := params.Allowed("create session", ss.Confines(c.Principal)); err != nil {
			return nil, err
		}
		sandbox = ss.Confine(p.Channel, p.Meta.Sandbox)
		if err := sandbox.Ready(); err != nil {
			return nil, ahp.Conflict("create session: %v", err)
		}
	}
	ss.Core.Do(func(tx core.Tx) {
		var s *session
		if s, err = ss.newSession(tx, c, p, roots); err == nil {
			if s.sandbox = sandbox; sandbox != nil {
				sandbox.Open(tx)
			}
			c.Out.Hold() // the reply comes before what follows, also for the root's subscribers
			s.told = s.summary(tx)
			tx.Notify(tx.Channel(ahp.RootURI), ahp.NoteSessionAdded, ahp.SessionNotification{Channel: ahp.RootURI, Summary: &s.told})
			ss.countSessions(tx)
			s.begin(tx, c.Link, p.ProgressToken)
		}
	})
	if err != nil {
		return nil, err
	}
	ss.Audit.Did(c.Who(), "create", p.Channel, "agent", params.Clip(p.Provider))
	return nil, nil
}

// sessionRoots returns the directories of a new session, or the user's home if none are given.
func (ss *Sessions) sessionRoots(uris []ahp.URI) ([]string, error) {
	if len(uris) > maxRoots {
		return nil, ahp.InvalidParams("create session: workingDirectories: more than %d", maxRoots)
	}
	if len(uris) == 0 {
		return []string{ss.Home}, nil
	}
	var roots []string
	for _, u := range uris {
		dir, err := ss.Directory(u)
		if err != nil {
			e := ahp.FromRPC(err)
			return nil, ahp.Errorf(e.Code, "create session: workingDirectories: %s", strings.TrimPrefix(e.Message, "create terminal: cwd: "))
		}
		if u != "" && !slices.Contains(roots, dir) {
			roots = append(roots, dir)
		}
	}
	if len(roots) == 0 {
		roots = []string{ss.Home}
	}
	return roots, nil
}

// newSession checks a request and makes a session with its first chat.
func (ss *Sessions) newSession(tx core.Tx, c *requests.Conn, p ahp.CreateSessionParams, roots []string) (*session, error) {
	provider, err := ss.Provider(tx, p.Provider)
	if err != nil {
		return nil, err
	}
	chatURI := cmp.Or(p.Meta.Chat, ahp.ChatScheme+"/"+strings.ToLower(rand.Text()))
	if err := ss.checkNewSession(tx, c, p, chatURI); err != nil {
		return nil, err
	}
	info := provider.Info()
	if _, ok := ss.Credentials.Env(c.Principal.ID, info.Resource); !ok && p.Meta.Sandbox == "" {
		return nil, &ahp.Error{
			Code: ahp.CodeAuthRequired, Message: "create session: " + words.WantsToken(info).Message,
			Data: map[string]any{"resources": []any{info.Resource}},
		}
	}
	values := map[string]any{words.ConfigConfirm: ahp.ConfirmAsk}
	maps.Copy(values, p.Config)
	if p.Meta.Confirm != "" {
		values[words.ConfigConfirm] = p.Meta.Confirm
	}
	policy, _ := values[words.ConfigConfirm].(string)
	if why := checkConfirm(c.Principal, policy); why != "" {
		return nil, ahp.InvalidParams("create session: %s", why)
	}
	now := ahp.InstantOf(ss.Now().UnixMilli())
	dirs := make([]ahp.URI, 0, len(roots))
	for _, r := range roots {
		dirs = append(dirs, fileuri.Of(r))
	}
	s := &session{
		all: ss, provider: provider,
		facts: sessionFacts{Created: now, Modified: now, Owner: c.Principal.ID, Roots: roots, Confirm: policy, Named: p.Meta.Title != "", Config: p.Config, Sandbox: p.Meta.Sandbox},
		value: ahp.SessionState{
			SessionInfo: ahp.SessionInfo{Provider: info.ID, Title: p.Meta.Title, Status: ahp.ActivityIdle | ahp.FlagRead, WorkingDirectories: dirs},
			Lifecycle:   ahp.LifecycleCreating, ActiveClients: []ahp.ActiveClient{}, Chats: []ahp.ChatSummary{},
			Config: &ahp.SessionConfig{Schema: words.ConfigSchema(ss.options[info.ID]), Values: values},
		},
	}
	s.meta.Options = ss.options[info.ID]
	if p.ActiveClient != nil {
		s.value.ActiveClients = []ahp.ActiveClient{*p.ActiveClient}
	}
	s.ch = tx.NewChannel(p.Channel, s)
	ss.Annotations.Open(tx, p.Channel)
	ss.list = append(ss.list, s)
	chat := ss.newChat(tx, s, chatURI, "", now)
	s.value.Chats, s.value.DefaultChat = []ahp.ChatSummary{chat.value.ChatSummary}, chatURI
	if len(s.meta.Options) > 0 {
		if b, err := json.Marshal(s.meta); err == nil && len(b) <= maxSessionMeta {
			s.value.Meta = b
		}
	}
	tx.Keep(s.ch)
	return s, nil
}

// checkNewSession returns an error if the session can't be created.
func (ss *Sessions) checkNewSession(tx core.Tx, c *requests.Conn, p ahp.CreateSessionParams, chat ahp.URI) error {
	if s := params.CheckOwnURI(p.Channel, ahp.SessionScheme); s != "" {
		return ahp.InvalidParams("create session: channel: %s", s)
	}
	if s := params.CheckOwnURI(chat, ahp.ChatScheme); s != "" {
		return ahp.InvalidParams("create session: tandemux/chat: %s", s)
	}
	taken := tx.Channel(p.Channel) != nil || tx.Channel(chat) != nil
	notes := p.Channel + annotation.Suffix
	active := ahp.ActiveClient{}
	if p.ActiveClient != nil {
		active = *p.ActiveClient
	}
	size, _ := json.Marshal(p) //nolint:errcheck // it came as JSON
	switch {
	case tx.Closing():
		return core.ErrClosing
	case taken || ss.Reserved(tx, p.Channel) || p.Channel == chat || tx.Channel(notes) != nil || ss.Reserved(tx, notes) || notes == chat:
		return ahp.Errorf(ahp.CodeSessionAlreadyExists, "create session: %s exists already: choose another URI", params.Clip(p.Channel))
	case len(ss.list) >= ss.Limits.Sessions:
		return ahp.Conflict("create session: there are %d sessions already, the most this host keeps: dispose of some", ss.Limits.Sessions)
	case p.ActiveClient != nil && active.ClientID != c.Client.ID:
		return ahp.InvalidParams("create session: activeClient: a client takes part for itself only")
	case len(active.Tools) > maxClientTools:
		return ahp.InvalidParams("create session: activeClient: more than %d tools", maxClientTools)
	case len(size) > maxMessage:
		return ahp.InvalidParams("create session: the params are larger than %d bytes", maxMessage)
	case params.CheckTitle(p.Meta.Title) != "":
		return ahp.InvalidParams("create session: tandemux/title: %s", params.CheckTitle(p.Meta.Title))
	}
	return nil
}

func (ss *Sessions) countSessions(tx core.Tx) {
	root, n := tx.Channel(ahp.RootURI), len(ss.list)
	if had := root.Body.State(tx).(ahp.RootState).ActiveSessions; had == nil && n > 0 || had != nil && *had != n {
		tx.Apply(root, ahp.RootActiveSessionsChanged{ActiveSessions: n}, nil)
	}
}

// beginning is the opening of a new session's first agent.
type beginning struct {
	start    *agentStart
	asked    *core.Link // gets progress notifications; may be nil
	progress string
}

// begin opens the agent of a new session.
func (s *session) begin(tx core.Tx, l *core.Link, progress string) {
	o := s.chats[0].open(tx)
	s.beginning = &beginning{o, l, progress}
	select {
	case <-o.done:
		s.begun(tx, o)
	default:
	}
}

// begun applies the result of opening a session's first agent, before any other action about it.
func (s *session) begun(tx core.Tx, o *agentStart) {
	b := s.beginning
	if b == nil || b.start != o {
		return
	}
	s.beginning = nil
	if tx.Channel(s.ch.URI) != s.ch || tx.Closing() {
		return
	}
	if o.err != nil {
		s.apply(tx, ahp.SessionCreationFailed{Error: words.Error(o.err)}, nil)
	} else {
		s.apply(tx, ahp.SessionReady{}, nil)
	}
	if l := b.asked; l != nil && b.progress != "" && len(b.progress) <= params.MaxURI {
		if text, err := ahp.Encode(l.Profile, ahp.ProgressParams{Channel: ahp.RootURI, ProgressToken: b.progress, Progress: 1, Total: 1}); err == nil {
			tx.Send(l, core.Notification(ahp.NoteProgress, text))
		}
	}
}

// disposeSession ends a session with its chats, agents and the terminals that it still holds (AHP,
// Session Channel, G42).
func (ss *Sessions) disposeSession(_ context.Context, c *requests.Conn, p ahp.SubscribeParams) (any, error) {
	return ss.dispose(c, p.Channel, func(tx core.Tx) error {
		s, ok := core.At[*session](tx, p.Channel)
		if !ok {
			return ahp.SessionNotFound("dispose session: there is no session %q", params.Clip(p.Channel))
		}
		err := params.Allowed("dispose session", s.mayDispose(c.Principal))
		if err == nil {
			ss.removeSession(tx, s)
		}
		return err
	})
}

// dispose calls do under the lock, and audits its success.
func (ss *Sessions) dispose(c *requests.Conn, uri ahp.URI, do func(tx core.Tx) error) (_ any, err error) {
	ss.Core.Do(func(tx core.Tx) { err = do(tx) })
	if err == nil {
		ss.Audit.Did(c.Who(), "dispose", uri)
	}
	return nil, err
}

// mayDispose returns why p may not end the session or one of its chats, or "".
func (s *session) mayDispose(p *auth.Principal) string {
	if s.facts.Owner == p.ID || p.Operates() {
		return ""
	}
	return "the session is somebody else's: only who made it or the host's operator may end it"
}

// removeSession removes a session with everything that belongs to it.
func (ss *Sessions) removeSession(tx core.Tx, s *session) {
	for _, c := range slices.Clone(s.chats) {
		c.remove(tx)
	}
	for _, timer := range s.absent {
		timer.Stop()
	}
	ss.Terminals.SessionEnded(tx, s.ch.URI)
	if s.sandbox != nil {
		s.sandbox.Close(tx)
	}
	ss.Annotations.Close(tx, s.ch.URI)
	tx.RemoveChannel(s.ch)
	ss.list = slices.DeleteFunc(ss.list, func(o *session) bool { return o == s })
	tx.Notify(tx.Channel(ahp.RootURI), ahp.NoteSessionRemoved, ahp.SessionNotification{Channel: ahp.RootURI, Session: s.ch.URI})
	ss.countSessions(tx)
}

// listSessions returns a page of sessions, the last modified ones first.
func (ss *Sessions) listSessions(_ context.Context, c *requests.Conn, p ahp.ListSessionsParams) (any, error) {
	if p.Limit < 0 {
		return nil, ahp.InvalidParams("list sessions: limit: it must be 1 or more")
	}
	if p.Limit == 0 || p.Limit > maxPage {
		p.Limit = maxPage
	}
	after, err := page.Read(p.Cursor)
	if err != nil {
		return nil, err
	}
	tx := ss.Core.Lock()
	rows := make([]ahp.SessionSummary, 0, len(ss.list))
	if !c.Principal.Bounded() && c.Principal.May(auth.ScopeRead) {
		for _, s := range ss.list {
			rows = append(rows, s.summary(tx))
		}
	}
	tx.Unlock()
	slices.SortFunc(rows, func(a, b ahp.SessionSummary) int { return page.Of(a).Compare(page.Of(b)) })
	if p.Cursor != "" {
		rows = slices.DeleteFunc(rows, func(r ahp.SessionSummary) bool { return page.Of(r).Compare(after) <= 0 })
	}
	r := ahp.ListSessionsResult{Items: rows}
	if len(rows) > p.Limit {
		r.Items = rows[:p.Limit]
		r.NextCursor = page.Of(rows[p.Limit-1]).Cursor()
	}
	return ahp.Encode(c.Profile, r)
}

type configParams struct {
	Provider string                     `json:"provider"`
	Config   map[string]json.RawMessage `json:"config"`
}

// resolveConfig returns all settings of a session, and their values: those given, and defaults (AHP,
// Root Channel).
func (ss *Sessions) resolveConfig(_ context.Context, c *requests.Conn, p configParams) (any, error) {
	tx := ss.Core.Lock()
	defer tx.Unlock()
	values := map[string]any{}
	for k, v := range p.Config { // kept as JSON
		values[k] = v
	}
	provider, err := ss.Provider(tx, p.Provider)
	if err != nil && (p.Provider == "" || len(ss.Providers) == 0) {
		return ahp.ResolveSessionConfigResult{Values: values, Schema: json.RawMessage(`{"type":"object","properties":{}}`)}, nil
	}
	if err != nil {
		return nil, err
	}
	if _, ok := values[words.ConfigConfirm]; !ok {
		values[words.ConfigConfirm] = ahp.ConfirmAsk
	}
	return ahp.ResolveSessionConfigResult{Schema: words.ConfigSchema(ss.options[provider.Info().ID]), Values: values}, nil
}

// configCompletions returns nothing, because the schema has all values.
func configCompletions(context.Context, *requests.Conn, json.RawMessage) (any, error) {
	return map[string]any{"items": []any{}}, nil
}
