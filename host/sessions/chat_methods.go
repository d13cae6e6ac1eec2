package sessions

import (
	"context"
	"fmt"
	"slices"

	"tandemux/ahp"
	"tandemux/host/agent/commandline"
	"tandemux/host/agent/words"
	"tandemux/host/auth"
	"tandemux/host/completion"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
)

// newChat adds a chat to a session.
func (ss *Sessions) newChat(tx core.Tx, s *session, uri ahp.URI, title string, now ahp.Instant) *Chat {
	c := &Chat{all: ss, s: s, facts: chatFacts{Session: s.ch.URI}, value: ahp.ChatState{
		ChatSummary: ahp.ChatSummary{
			Resource: uri, Title: title, Status: ahp.ActivityIdle | ahp.FlagRead, ModifiedAt: now,
			Origin: &ahp.ChatOrigin{Kind: ahp.OriginUser},
		},
		Turns: []ahp.Turn{},
	}}
	c.ch = tx.NewChannel(uri, c)
	s.chats = append(s.chats, c)
	tx.Keep(c.ch)
	return c
}

// createChat adds a chat to a session. The chat's own agent's session is opened with the first
// message.
func (ss *Sessions) createChat(ctx context.Context, c *requests.Conn, p ahp.CreateChatParams) (any, error) {
	var err error
	var chat *Chat
	var copying *agentStart
	ss.Core.Do(func(tx core.Tx) {
		var s *session
		if s, err = ss.checkNewChat(tx, c.Principal, p); err != nil {
			return
		}
		chat = ss.newChat(tx, s, p.Chat, p.Title, ahp.InstantOf(ss.Now().UnixMilli()))
		if p.Source != nil {
			copying = chat.copyOf(tx, *p.Source)
		}
		s.touch()
		s.apply(tx, ahp.SessionChatAdded{Summary: chat.value.ChatSummary}, nil)
	})
	switch {
	case err != nil:
		return nil, err
	case copying != nil:
		return c.Aside(ctx, func(context.Context) (any, error) {
			<-copying.done
			return nil, ss.createdChat(c, chat, p, copying.err)
		})
	}
	return nil, ss.createdChat(c, chat, p, nil)
}

// createdChat finishes a createChat: it sends the first message, or removes the chat if the agent
// could not copy its session.
func (ss *Sessions) createdChat(c *requests.Conn, chat *Chat, p ahp.CreateChatParams, failed error) (err error) {
	ss.Core.Do(func(tx core.Tx) {
		switch {
		case failed != nil:
			err = ahp.Errorf(ahp.CodeInternal, "create chat: source: %s", words.Error(failed).Message)
			if !chat.Dead(tx) {
				chat.drop(tx)
			}
		case chat.Dead(tx):
		case p.InitialMessage != nil && chat.value.ActiveTurn == nil:
			chat.startTurn(tx, ahp.ChatTurnStarted{TurnID: newID("turn"), Message: *p.InitialMessage}, nil)
		}
	})
	if err == nil {
		ss.Audit.Did(c.Who(), "create", p.Chat, "session", params.Clip(p.Channel))
	}
	return err
}

// checkNewChat returns the session, or an error if the chat can't be created in it.
func (ss *Sessions) checkNewChat(tx core.Tx, who *auth.Principal, p ahp.CreateChatParams) (*session, error) {
	s, ok := core.At[*session](tx, p.Channel)
	if !ok {
		return nil, ahp.SessionNotFound("create chat: there is no session %q", params.Clip(p.Channel))
	}
	if why := params.CheckOwnURI(p.Chat, ahp.ChatScheme); why != "" {
		return nil, ahp.InvalidParams("create chat: chat: %s", why)
	}
	taken := tx.Channel(p.Chat) != nil
	switch {
	case tx.Closing():
		return nil, core.ErrClosing
	case taken || ss.Reserved(tx, p.Chat):
		return nil, ahp.AlreadyExists("create chat: %s exists already: choose another URI", params.Clip(p.Chat))
	case p.Source != nil && s.refusesSource(tx, *p.Source) != nil:
		return nil, s.refusesSource(tx, *p.Source)
	case len(p.WorkingDirectories) > 0:
		return nil, ahp.InvalidParams("create chat: workingDirectories: a chat has its session's")
	case len(s.chats) >= maxChats:
		return nil, ahp.Conflict("create chat: the session has %d chats already, the most it can have", maxChats)
	case s.value.Lifecycle == ahp.LifecycleFailed:
		return nil, ahp.Conflict("create chat: the session could not be created")
	case params.CheckTitle(p.Title) != "":
		return nil, ahp.InvalidParams("create chat: title: %s", params.CheckTitle(p.Title))
	}
	if m := p.InitialMessage; m != nil {
		why := ""
		switch b, err := ahp.EncodeAction(ahp.V1, ahp.ChatTurnStarted{Message: *m}); {
		case err != nil || len(b) > maxMessage:
			why = tooLarge
		case m.Origin.Kind != ahp.OriginUser:
			why = "its origin must be \"user\""
		case commandline.Of(*m) != "":
			why = ss.Terminals.MayRun(who, p.Channel, s.facts.Owner)
		case len(m.Attachments) > maxAttachments:
			why = fmt.Sprintf("it has more than %d attachments", maxAttachments)
		}
		if why != "" {
			return nil, ahp.InvalidParams("create chat: initialMessage: %s", why)
		}
	}
	return s, nil
}

// disposeChat removes a chat from its session.
func (ss *Sessions) disposeChat(_ context.Context, c *requests.Conn, p ahp.SubscribeParams) (any, error) {
	return ss.dispose(c, p.Channel, func(tx core.Tx) error {
		chat, ok := core.At[*Chat](tx, p.Channel)
		if !ok {
			return ahp.SessionNotFound("dispose chat: there is no chat %q", params.Clip(p.Channel))
		}
		if err := params.Allowed("dispose chat", chat.s.mayDispose(c.Principal)); err != nil {
			return err
		}
		if len(chat.s.chats) == 1 {
			return ahp.Conflict("dispose chat: it is the session's only one: dispose of the session")
		}
		chat.drop(tx)
		return nil
	})
}

// drop removes a chat and tells the session's subscribers.
func (c *Chat) drop(tx core.Tx) {
	c.remove(tx)
	c.s.touch()
	c.s.apply(tx, ahp.SessionChatRemoved{Chat: c.ch.URI}, nil)
}

// remove removes a chat and ends what its agent does. Its terminals stay with the session.
func (c *Chat) remove(tx core.Tx) {
	if r := c.now; r != nil {
		r.stop(tx, errGone)
	}
	c.gone = true
	c.s.toolsMayHaveChanged(tx)
	c.forsake(tx)
	tx.RemoveChannel(c.ch)
	c.s.chats = slices.DeleteFunc(c.s.chats, func(o *Chat) bool { return o == c })
	c.all.Terminals.ChatEnded(tx, c)
}

// fetchTurns puts older turns into a chat's state, by an action before the reply. 0.5 gets them in the
// reply.
func (ss *Sessions) fetchTurns(_ context.Context, c *requests.Conn, p ahp.FetchTurnsParams) (any, error) {
	var result ahp.FetchTurnsResult
	var err error
	ss.Core.Do(func(tx core.Tx) {
		chat, ok := core.At[*Chat](tx, p.Channel)
		switch {
		case !ok || c.Principal.Bounded():
			err = ahp.SessionNotFound("fetch turns: there is no chat %q", params.Clip(p.Channel))
		case c.Profile == ahp.V05:
			result, err = chat.turnsBefore(p.Before, p.Limit)
		default:
			err = chat.fetch(tx, p.Cursor)
		}
	})
	if err != nil {
		return nil, err
	}
	return ahp.Encode(c.Profile, result)
}

// turnsBefore returns a page of turns for 0.5.
func (c *Chat) turnsBefore(id string, limit int) (r ahp.FetchTurnsResult, err error) {
	all := append(slices.Clip(c.facts.Older), c.value.Turns...)
	if id != "" {
		i := slices.IndexFunc(all, func(t ahp.Turn) bool { return t.ID == id })
		if i < 0 {
			return r, ahp.InvalidParams("fetch turns: there is no turn %q", params.Clip(id))
		}
		all = all[:i]
	}
	if limit <= 0 || limit > pageTurns {
		limit = pageTurns
	}
	from, size := len(all), 0
	for from > 0 && len(all)-from < limit {
		if size += core.TurnBytes(all[from-1]); size > pageBytes && from < len(all) {
			break
		}
		from--
	}
	return ahp.FetchTurnsResult{Turns: all[from:], HasMore: from > 0}, nil
}

// The kinds of chats that start from another one: a fork has its turns, a side chat only what its
// agent remembers of them. The agent's session is copied as it is, so both start from the last turn.
const (
	sourceFork = "fork"
	sourceSide = "sideChat"
)

// refusesSource returns an error if no chat can start from the source.
func (s *session) refusesSource(tx core.Tx, from ahp.ChatSource) error {
	if from.Kind != sourceFork && from.Kind != sourceSide {
		return ahp.InvalidParams("create chat: source: kind: it is %q or %q", sourceFork, sourceSide)
	}
	c, ok := core.At[*Chat](tx, from.Chat)
	if !ok || c.s != s {
		return ahp.InvalidParams("create chat: source: there is no chat %q in the session", params.Clip(from.Chat))
	}
	turns := c.value.Turns
	known := func(t ahp.Turn) bool { return t.ID == from.TurnID }
	switch {
	case s.provider == nil || !s.provider.Info().Fork:
		return ahp.InvalidParams("create chat: source: the agent of this session can't begin from another chat")
	case c.value.ActiveTurn != nil:
		return ahp.Errorf(ahp.CodeTurnInProgress, "create chat: source: the chat's turn has not ended")
	case len(turns) == 0 || from.TurnID != "" && !slices.ContainsFunc(turns, known) && !slices.ContainsFunc(c.facts.Older, known):
		return ahp.InvalidParams("create chat: source: the chat has no turn %q", params.Clip(from.TurnID))
	case from.TurnID != "" && turns[len(turns)-1].ID != from.TurnID:
		return ahp.InvalidParams("create chat: source: the agent can begin only from the chat's last turn, %s", turns[len(turns)-1].ID)
	case c.facts.Resume == "" || c.facts.Forgot:
		return ahp.InvalidParams("create chat: source: the agent does not remember that chat")
	case len(from.Selection) > words.MaxText:
		return ahp.InvalidParams("create chat: source: selection: larger than %d bytes", words.MaxText)
	}
	return nil
}

// copyOf makes c start from another chat, and starts copying the agent's session. The caller has
// called refusesSource.
func (c *Chat) copyOf(tx core.Tx, from ahp.ChatSource) *agentStart {
	source, _ := core.At[*Chat](tx, from.Chat)
	turns := source.value.Turns
	c.value.Origin = &ahp.ChatOrigin{Kind: from.Kind, Chat: from.Chat, TurnID: turns[len(turns)-1].ID}
	if from.Kind == sourceSide {
		c.value.Origin.Selection = from.Selection
	} else {
		c.value.Turns, c.facts.Older = slices.Clone(turns), slices.Clone(source.facts.Older)
		c.value.TurnsNextCursor = c.cursor()
	}
	c.facts.Fork, c.dirty = source.facts.Resume, true
	tx.Checkpoint(c.ch)
	return c.open(tx)
}

// completions returns completions for a message to a chat.
func (ss *Sessions) completions(_ context.Context, _ *requests.Conn, p ahp.CompletionsParams) (any, error) {
	tx := ss.Core.Lock()
	chat, ok := core.At[*Chat](tx, p.Channel)
	var commands []ahp.AgentCommand
	var roots []string
	if ok {
		commands, roots = chat.s.meta.Commands, chat.s.facts.Roots
	}
	tx.Unlock()
	if !ok {
		return nil, ahp.SessionNotFound("completions: there is no chat %q", params.Clip(p.Channel))
	}
	return completion.Of(p, commands, roots)
}
