package host

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/words"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/files"
	"tandemux/host/params"
)

// createSession makes a session at once and opens its agent behind it: session/ready
// or session/creationFailed tells how that went (AHP, Session Channel).
func createSession(_ context.Context, c *conn, raw json.RawMessage) (any, error) {
	var p ahp.CreateSessionParams
	if err := params.Decode(raw, &p); err != nil {
		return nil, err
	}
	h := c.h
	if err := params.Allowed("create session", c.Principal.CannotDrive()); err != nil {
		return nil, err
	}
	if p.WorkingDirectory != "" && p.WorkingDirectories == nil {
		p.WorkingDirectories = []ahp.URI{p.WorkingDirectory}
	}
	roots, err := h.sessions.sessionRoots(p.WorkingDirectories)
	if err != nil {
		return nil, err
	}
	if p.Meta == nil {
		p.Meta = &ahp.SessionMeta{}
	}
	confined := h.confine(p.Channel, p.Meta.Sandbox)
	if confined != nil {
		if err := params.Allowed("create session", mayConfine(c.Principal)); err != nil {
			return nil, err
		}
		if _, err := confined.get(); err != nil {
			return nil, ahp.Conflict("create session: %v", err)
		}
	}
	h.core.Do(func(tx core.Tx) {
		var s *session
		if s, err = h.sessions.newSession(tx, c, p, roots); err == nil {
			s.confined = confined
			s.openSocket(tx)
			c.Out.Hold() // The reply precedes what follows, also for the root's subscribers.
			h.sessions.announceSession(tx, s)
			s.begin(tx, c, p.ProgressToken)
		}
	})
	if err != nil {
		return nil, err
	}
	h.audit.Did(c.by(), "create", p.Channel, "agent", params.Clip(p.Provider))
	return nil, nil
}

// sessionRoots are the directories of a new session; the user's home when there
// are none.
func (ss *sessions) sessionRoots(uris []ahp.URI) ([]string, error) {
	if len(uris) > maxRoots {
		return nil, ahp.InvalidParams("create session: workingDirectories: more than %d", maxRoots)
	}
	if len(uris) == 0 {
		return []string{ss.h.home}, nil
	}
	var roots []string
	for _, u := range uris {
		dir, err := ss.h.directory(u)
		if err != nil {
			e := ahp.FromRPC(err)
			return nil, ahp.Errorf(e.Code, "create session: workingDirectories: %s", strings.TrimPrefix(e.Message, "create terminal: cwd: "))
		}
		if u != "" && !slices.Contains(roots, dir) {
			roots = append(roots, dir)
		}
	}
	if len(roots) == 0 {
		roots = []string{ss.h.home}
	}
	return roots, nil
}

// newSession checks what is asked and registers a session with its first chat.
func (ss *sessions) newSession(tx core.Tx, c *conn, p ahp.CreateSessionParams, roots []string) (*session, error) {
	provider, err := ss.provider(tx, p.Provider)
	if err != nil {
		return nil, err
	}
	chatURI := p.Meta.Chat
	if chatURI == "" {
		chatURI = ahp.ChatScheme + "/" + strings.ToLower(rand.Text())
	}
	if err := ss.checkNewSession(tx, c, p, chatURI); err != nil {
		return nil, err
	}
	info := provider.Info()
	values := map[string]any{configConfirm: ahp.ConfirmAsk}
	maps.Copy(values, p.Config)
	if p.Meta.Confirm != "" {
		values[configConfirm] = p.Meta.Confirm
	}
	policy, _ := values[configConfirm].(string)
	if why := checkConfirm(c.Principal, policy); why != "" {
		return nil, ahp.InvalidParams("create session: %s", why)
	}
	now := ahp.InstantOf(ss.h.now().UnixMilli())
	dirs := make([]ahp.URI, 0, len(roots))
	for _, r := range roots {
		dirs = append(dirs, files.URI(r))
	}
	s := &session{
		h: ss.h, provider: provider,
		facts: sessionFacts{Created: now, Modified: now, Owner: c.Principal.ID, Roots: roots, Confirm: policy, Named: p.Meta.Title != "", Config: p.Config, Sandbox: p.Meta.Sandbox},
		value: ahp.SessionState{
			SessionInfo: ahp.SessionInfo{Provider: info.ID, Title: p.Meta.Title, Status: ahp.ActivityIdle | ahp.FlagRead, WorkingDirectories: dirs},
			Lifecycle:   ahp.LifecycleCreating, ActiveClients: []ahp.ActiveClient{}, Chats: []ahp.ChatSummary{},
			Config: &ahp.SessionConfig{Schema: ss.configSchema(info.ID), Values: values},
		},
	}
	s.meta.Options = ss.options[info.ID]
	if p.ActiveClient != nil {
		s.value.ActiveClients = []ahp.ActiveClient{*p.ActiveClient}
	}
	s.ch = tx.NewChannel(p.Channel, s)
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

// checkNewSession says why there can't be such a session.
func (ss *sessions) checkNewSession(tx core.Tx, c *conn, p ahp.CreateSessionParams, chat ahp.URI) error {
	if s := checkSessionURI(p.Channel, ahp.SessionScheme); s != "" {
		return ahp.InvalidParams("create session: channel: %s", s)
	}
	if s := checkSessionURI(chat, ahp.ChatScheme); s != "" {
		return ahp.InvalidParams("create session: tandemux/chat: %s", s)
	}
	taken := tx.Channel(p.Channel) != nil || tx.Channel(chat) != nil
	_, reserved := ss.h.reserved[p.Channel]
	active := ahp.ActiveClient{}
	if p.ActiveClient != nil {
		active = *p.ActiveClient
	}
	size, _ := json.Marshal(p) //nolint:errcheck // it was JSON
	switch {
	case tx.Closing():
		return core.ErrClosing
	case taken || reserved || p.Channel == chat:
		return ahp.Errorf(ahp.CodeSessionAlreadyExists, "create session: %s exists already: choose another URI", params.Clip(p.Channel))
	case len(ss.list) >= ss.h.limits.Sessions:
		return ahp.Conflict("create session: there are %d sessions already, the most this host keeps: dispose of some", ss.h.limits.Sessions)
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

// checkSessionURI says what is wrong with a URI that a client chose for a session
// or chat. Schemes other than AHP's are taken for old clients (docs/protocol.md,
// What is served), but what has such a URI does not outlive the host.
func checkSessionURI(uri ahp.URI, own string) string {
	if rest, ok := strings.CutPrefix(uri, own); ok {
		uri = "x:" + rest
	}
	if err := params.CheckURI(uri); err != nil {
		return strings.TrimPrefix(err.Message, "channel: ")
	}
	return ""
}

// announceSession tells the root's subscribers of a new session.
func (ss *sessions) announceSession(tx core.Tx, s *session) {
	s.told = s.summary(tx)
	tx.Notify(ss.h.root.ch, ahp.NoteSessionAdded, ahp.SessionNotification{Channel: ahp.RootURI, Summary: &s.told})
	ss.countSessions(tx)
}

func (ss *sessions) countSessions(tx core.Tx) {
	n := len(ss.list)
	if had := ss.h.root.value.ActiveSessions; had == nil && n > 0 || had != nil && *had != n {
		tx.Apply(ss.h.root.ch, ahp.RootActiveSessionsChanged{ActiveSessions: n}, nil)
	}
}

// begin opens the agent of a new session and tells when it is ready.
func (s *session) begin(tx core.Tx, c *conn, progress string) {
	h := s.h
	s.beginning = true
	o := s.chats[0].open(tx)
	h.sessions.work.Add(1)
	go func() {
		defer h.sessions.work.Done()
		<-o.done
		h.core.Do(func(tx core.Tx) {
			s.beginning = false
			if tx.Channel(s.ch.URI) != s.ch || tx.Closing() {
				return
			}
			if o.err != nil {
				s.apply(tx, ahp.SessionCreationFailed{Error: words.Error(o.err)}, nil)
			} else {
				s.apply(tx, ahp.SessionReady{}, nil)
			}
			if c != nil && progress != "" && len(progress) <= params.MaxURI {
				if b, err := ahp.Encode(c.Profile, ahp.ProgressParams{Channel: ahp.RootURI, ProgressToken: progress, Progress: 1, Total: 1}); err == nil {
					tx.Send(c.Link, core.Notification(ahp.NoteProgress, b))
				}
			}
		})
	}()
}

// disposeSession ends a session with its chats, agents and the terminals that it
// still holds (AHP, Session Channel, G42).
func disposeSession(_ context.Context, c *conn, raw json.RawMessage) (any, error) {
	var p ahp.SubscribeParams
	if err := params.Decode(raw, &p); err != nil {
		return nil, err
	}
	h := c.h
	var err error
	h.core.Do(func(tx core.Tx) {
		s, ok := sessionAt(tx, p.Channel)
		if !ok {
			err = ahp.SessionNotFound("dispose session: there is no session %q", params.Clip(p.Channel))
			return
		}
		if err = params.Allowed("dispose session", s.mayDispose(c.Principal)); err == nil {
			h.sessions.removeSession(tx, s)
		}
	})
	if err != nil {
		return nil, err
	}
	h.audit.Did(c.by(), "dispose", p.Channel)
	return nil, nil
}

// mayDispose decides the end of a session or of one of its chats.
func (s *session) mayDispose(p *auth.Principal) string {
	if why := p.CannotDrive(); why != "" {
		return why
	}
	if s.facts.Owner == p.ID || p.Operates() {
		return ""
	}
	return "the session is somebody else's: only who made it or the host's operator may end it"
}

// removeSession forgets a session and all that is its.
func (ss *sessions) removeSession(tx core.Tx, s *session) {
	for _, c := range slices.Clone(s.chats) {
		c.remove(tx)
	}
	for _, timer := range s.absent {
		timer.Stop()
	}
	for _, t := range slices.Clone(ss.h.terms) {
		if claim := t.value.Claim; claim.Kind == ahp.ClaimSession && claim.Session == s.ch.URI {
			t.dispose(tx)
		}
	}
	s.closeSocket(tx)
	tx.RemoveChannel(s.ch)
	ss.list = slices.DeleteFunc(ss.list, func(o *session) bool { return o == s })
	tx.Notify(ss.h.root.ch, ahp.NoteSessionRemoved, ahp.SessionNotification{Channel: ahp.RootURI, Session: s.ch.URI})
	ss.countSessions(tx)
}

// listSessions gives a page of the sessions, the last modified first.
func listSessions(_ context.Context, c *conn, raw json.RawMessage) (any, error) {
	var p ahp.ListSessionsParams
	if err := params.Optional(raw, &p); err != nil {
		return nil, err
	}
	if p.Limit < 0 {
		return nil, ahp.InvalidParams("list sessions: limit: it must be 1 or more")
	}
	if p.Limit == 0 || p.Limit > maxPage {
		p.Limit = maxPage
	}
	after, err := readCursor(p.Cursor)
	if err != nil {
		return nil, err
	}
	h := c.h
	tx := h.core.Lock()
	rows := make([]ahp.SessionSummary, 0, len(h.sessions.list))
	if !c.Principal.Bounded() && c.Principal.May(auth.ScopeRead) {
		for _, s := range h.sessions.list {
			rows = append(rows, s.summary(tx))
		}
	}
	tx.Unlock()
	slices.SortFunc(rows, func(a, b ahp.SessionSummary) int { return rankOf(a).compare(rankOf(b)) })
	if p.Cursor != "" {
		rows = slices.DeleteFunc(rows, func(r ahp.SessionSummary) bool { return rankOf(r).compare(after) <= 0 })
	}
	r := ahp.ListSessionsResult{Items: rows}
	if len(rows) > p.Limit {
		r.Items = rows[:p.Limit]
		r.NextCursor = rankOf(rows[p.Limit-1]).cursor()
	}
	return ahp.Encode(c.Profile, r)
}

// rank is where a session stands in the list; a cursor names one, so that a page
// goes on where the one before ended, whatever has changed since.
type rank struct {
	modified ahp.Instant
	uri      ahp.URI
}

func rankOf(s ahp.SessionSummary) rank { return rank{s.ModifiedAt, s.Resource} }

func (p rank) compare(q rank) int {
	if c := strings.Compare(string(q.modified), string(p.modified)); c != 0 {
		return c
	}
	return strings.Compare(p.uri, q.uri)
}

func (p rank) cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(string(p.modified) + " " + p.uri))
}

func readCursor(cursor string) (p rank, err error) {
	if cursor == "" {
		return p, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	at, uri, ok := strings.Cut(string(b), " ")
	p = rank{ahp.Instant(at), uri}
	if _, date := p.modified.Ms(); err != nil || !ok || !date || len(cursor) > 2*params.MaxURI {
		return p, ahp.InvalidParams("list sessions: the cursor %q is not one of this host's", params.Clip(cursor))
	}
	return p, nil
}

// resolveSessionConfig gives all that can be set for a session, and the values:
// the input's, and defaults (AHP, Root Channel).
func resolveSessionConfig(_ context.Context, c *conn, raw json.RawMessage) (any, error) {
	var p struct {
		Provider string                     `json:"provider"`
		Config   map[string]json.RawMessage `json:"config"`
	}
	if err := params.Optional(raw, &p); err != nil {
		return nil, err
	}
	h := c.h
	tx := h.core.Lock()
	defer tx.Unlock()
	values := map[string]any{}
	for k, v := range p.Config { // as they were written
		values[k] = v
	}
	if len(h.sessions.providers) == 0 {
		return ahp.ResolveSessionConfigResult{Values: values, Schema: json.RawMessage(`{"type":"object","properties":{}}`)}, nil
	}
	provider, err := h.sessions.provider(tx, p.Provider)
	if err != nil {
		return nil, err
	}
	if _, ok := values[configConfirm]; !ok {
		values[configConfirm] = ahp.ConfirmAsk
	}
	return ahp.ResolveSessionConfigResult{Schema: h.sessions.configSchema(provider.Info().ID), Values: values}, nil
}

// configSchema describes what can be set: tandemux's policy, and what the provider's
// agent offered when it was last asked.
func (ss *sessions) configSchema(provider string) json.RawMessage {
	properties := map[string]any{configConfirm: map[string]any{
		"type": "string", "title": "Confirm tool calls", "default": ahp.ConfirmAsk, "enum": confirmPolicies, "sessionMutable": true,
		"enumLabels":  []string{"Ask about all", "Approve what only reads", "Approve all"},
		"description": "Which of the tool calls that the agent asks about wait for a person",
	}}
	for _, o := range ss.options[provider] {
		p := map[string]any{"type": "string", "title": o.Name, "description": o.Description, "sessionMutable": true}
		if o.Boolean {
			p["type"] = "boolean"
		} else {
			var ids, labels []string
			for _, ch := range o.Choices {
				ids, labels = append(ids, ch.ID), append(labels, ch.Name)
			}
			p["enum"], p["enumLabels"] = ids, labels
		}
		properties[o.ID] = p
	}
	b, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	if err != nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return b
}

// sessionConfigCompletions has nothing to add: all values are in the schema.
func sessionConfigCompletions(context.Context, *conn, json.RawMessage) (any, error) {
	return map[string]any{"items": []any{}}, nil
}

// authenticate logs in to an agent by a method of its own: the resource is
// "x-tandemux-agent:/PROVIDER/METHOD". This host knows no others.
func authenticate(ctx context.Context, c *conn, raw json.RawMessage) (any, error) {
	var p struct {
		Resource string `json:"resource"`
	}
	if err := params.Decode(raw, &p); err != nil {
		return nil, err
	}
	rest, ours := strings.CutPrefix(p.Resource, "x-tandemux-agent:/")
	id, method, ok := strings.Cut(rest, "/")
	h := c.h
	tx := h.core.Lock()
	provider, err := h.sessions.provider(tx, id)
	tx.Unlock()
	if !ours || !ok || id == "" || err != nil {
		return nil, ahp.InvalidParams("authenticate: this host asks for no token for the resource %q", params.Clip(p.Resource))
	}
	if err := params.Allowed("authenticate", c.Principal.CannotDrive()); err != nil {
		return nil, err
	}
	return c.aside(ctx, func(ctx context.Context) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, h.limits.AgentStart)
		defer cancel()
		if err := authGuarded(ctx, provider, method); err != nil {
			return nil, ahp.Errorf(ahp.CodeInternal, "authenticate: %s", words.Error(err).Message)
		}
		return struct{}{}, nil
	})
}

func authGuarded(ctx context.Context, p agent.Provider, method string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the agent's provider failed: %v", r)
		}
	}()
	return p.Authenticate(ctx, method)
}
