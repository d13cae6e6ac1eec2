package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/words"
	"tandemux/host/core"
	"tandemux/host/params"
)

// chat is the body of a chat's channel: the conversation with one session of an
// agent. Guarded by the lock.
type Chat struct {
	all   *Sessions
	ch    *core.Channel
	s     *session
	value ahp.ChatState
	facts chatFacts
	dirty bool // the facts have changed
	gone  bool // disposed of

	agent   agent.Session // nil while none is open
	opening *agentStart   // nil unless one is being opened
	now     *prompting    // the turn that the agent is at, or nil
	options []agent.Option
}

// chatFacts are what no action of a chat tells.
type chatFacts struct {
	Session ahp.URI `json:"session"`
	// Resume is the agent's own name of its session.
	Resume string `json:"resume,omitempty"`
	// Fork is that of the session which the chat's is yet to begin as a copy of.
	Fork string `json:"fork,omitempty"`
	// Forgot says that the agent no longer knows what the chat says.
	Forgot bool `json:"forgot,omitempty"`
	// Tokens and WorkedMs are what its finished turns took.
	Tokens   int64 `json:"tokens,omitempty"`
	WorkedMs int64 `json:"workedMs,omitempty"`
	// Older are the turns before those in value; see chat_window.go.
	Older []ahp.Turn `json:"older,omitempty"`
}

func (c *Chat) Kind() string         { return ahp.ChatScheme }
func (c *Chat) Reduce(a ahp.Action)  { c.value = ahp.ReduceChat(c.value, a) }
func (c *Chat) State(tx core.Tx) any { return c.value }

// Settle tells the text that has gathered.
func (c *Chat) Settle(tx core.Tx) {
	if c.now != nil {
		c.now.flush(tx)
	}
	if len(c.ch.Links()) == 0 {
		c.compact(tx)
	}
}

func (c *Chat) Private() any { return c.facts }

func (c *Chat) Changed() bool {
	was := c.dirty
	c.dirty = false
	return was
}

func (c *Chat) Know(raw json.RawMessage) error {
	c.facts = chatFacts{}
	return json.Unmarshal(raw, &c.facts)
}

// apply applies an action of the chat and tells what follows from it.
func (c *Chat) apply(tx core.Tx, a ahp.Action, by *core.By) {
	tx.Apply(c.ch, c.timed(a), by)
	c.s.mirror(tx, c)
}

// agentStart is a session of an agent that is being opened.
type agentStart struct {
	done chan struct{}
	// Set before done is closed.
	agent agent.Session
	err   error
}

// URI is the chat's, Session its session's; both are immutable, as are Owner, the
// principal that made the session, Provider, the id of its agent's, Sandbox, which is nil for
// most sessions, and Roots, its directories.
func (c *Chat) URI() ahp.URI     { return c.ch.URI }
func (c *Chat) Session() ahp.URI { return c.s.ch.URI }
func (c *Chat) Owner() string    { return c.s.facts.Owner }
func (c *Chat) Task() string     { return c.s.facts.Sandbox }
func (c *Chat) Provider() string { return c.s.value.Provider }
func (c *Chat) Sandbox() Sandbox { return c.s.sandbox }

// Label is what the session's terminals say of who holds them.
func (c *Chat) Label(tx core.Tx) string {
	if c.s.facts.Named && c.s.value.Title != "" {
		return c.s.value.Title
	}
	if c.s.provider != nil {
		return cmp.Or(c.s.provider.Info().Name, c.s.value.Provider)
	}
	return c.s.value.Provider
}

// errGone is why nothing more happens in a chat that was disposed of.
var errGone = agent.Errorf(agent.KindClosed, "the chat was disposed of")

// open begins to open the agent's session unless it is open or that has begun.
func (c *Chat) open(tx core.Tx) *agentStart {
	if c.opening != nil {
		return c.opening
	}
	o := &agentStart{done: make(chan struct{})}
	switch {
	case c.gone, tx.Closing():
		o.err = errGone
	case c.agent != nil:
		o.agent = c.agent
	case c.s.provider == nil:
		o.err = agent.Errorf(agent.KindNotFound, "this host has no agent %q any more: add it to the configuration, or begin a session with another", c.s.value.Provider)
	default:
		info := c.s.provider.Info()
		env, ok := c.all.Credentials.Env(c.s.facts.Owner, info.Resource)
		if !ok && c.s.sandbox == nil {
			o.err = words.WantsToken(info)
			break
		}
		c.opening = o
		spec := c.spec(tx)
		spec.Env = env
		c.all.work.Go(func() { c.finishOpening(o, spec) })
		return o
	}
	close(o.done)
	return o
}

// spec says what to open.
func (c *Chat) spec(tx core.Tx) agent.Spec {
	s := c.s
	spec := agent.Spec{
		Session: s.ch.URI, Chat: c.ch.URI, Roots: slices.Clone(s.facts.Roots), Resume: c.facts.Resume, Fork: c.facts.Fork,
		Config: map[string]string{}, Events: &chatEvents{c}, Clients: &clientTools{c},
	}
	if s.sandbox != nil { // Whatever else the agent gets or lacks.
		spec.Confine = s.sandbox
	}
	for k, v := range s.facts.Config {
		if k != words.ConfigConfirm {
			spec.Config[k] = fmt.Sprint(v)
		}
	}
	c.all.Terminals.Supply(tx, c, &spec)
	return spec
}

// finishOpening waits for the provider, but not for ever.
func (c *Chat) finishOpening(o *agentStart, spec agent.Spec) {
	ss := c.all
	ctx, cancel := context.WithTimeout(ss.ctx, ss.Limits.AgentStart)
	defer cancel()
	provider := c.s.provider
	got := make(chan agent.Opened, 1)
	go func() { got <- agent.Open(ctx, provider, spec) }()
	var r agent.Opened
	select {
	case r = <-got:
	case <-ctx.Done():
		select {
		case r = <-got:
		case <-time.After(ss.Limits.AgentGrace):
			r.Err = agent.Errorf(agent.KindTimeout, "the agent was not ready within %v", ss.Limits.AgentStart)
			go func() {
				if late := <-got; late.Session != nil {
					agent.Guarded(late.Session.Close) //nolint:errcheck // it was given up already
				}
			}()
		}
	}
	ss.Core.Do(func(tx core.Tx) {
		c.opening = nil
		if (c.gone || tx.Closing()) && r.Err == nil {
			c.all.closeAgent(tx, r.Session)
			r = agent.Opened{Err: errGone}
		}
		if o.agent, o.err = r.Session, r.Err; r.Err == nil {
			c.take(tx, r.Session)
		}
		c.s.begun(tx, o)
	})
	close(o.done)
}

// take takes a session of the agent that is ready.
func (c *Chat) take(tx core.Tx, a agent.Session) {
	c.agent = a
	if c.facts.Resume != "" && !a.Resumed() && (len(c.value.Turns) > 0 || len(c.facts.Older) > 0) {
		c.facts.Forgot = true
	}
	c.facts.Resume, c.facts.Fork = a.ID(), ""
	c.dirty = true
	// What the agent can do is known once it runs.
	info := c.s.provider.Info()
	able, steers := a.(agent.Steerer)
	steers = steers && able.Steers()
	c.s.meta.Can = &ahp.AgentCan{Steer: steers, Fork: info.Fork, Images: info.Images, Audio: info.Audio, Embedded: info.Embedded}
	c.s.setMeta(tx)
	c.all.refreshAgents(tx)
}

// forsake closes the agent's session; the next turn opens another.
func (c *Chat) forsake(tx core.Tx) {
	if c.agent != nil {
		c.all.closeAgent(tx, c.agent)
		c.agent = nil
	}
}

// chatEvents takes what an agent tells of its session.
type chatEvents struct{ c *Chat }

// Title names the session unless a person has.
func (e *chatEvents) Title(title string) {
	c := e.c
	c.all.Core.Do(func(tx core.Tx) {
		if c.Dead(tx) || c.s.facts.Named || len(c.s.chats) > 0 && c.s.chats[0] != c {
			return
		}
		if title = params.CleanTitle(params.ClipTo(title, params.MaxTitle)); title != "" && title != c.s.value.Title {
			c.s.apply(tx, ahp.SessionTitleChanged{Title: title}, nil)
		}
	})
}

// Options replaces what can be set.
func (e *chatEvents) Options(options []agent.Option) {
	c := e.c
	options = options[:min(len(options), maxOptions)]
	c.all.Core.Do(func(tx core.Tx) {
		if c.Dead(tx) {
			return
		}
		c.options = options
		s := c.s
		s.meta.Options = words.Options(options)
		s.setMeta(tx)
		values := map[string]any{}
		for _, o := range options {
			var v any = o.Value
			if o.Boolean {
				v = o.Value == "true"
			}
			if s.optionValue(o.ID) != v {
				values[o.ID] = v
			}
		}
		if len(values) > 0 {
			s.apply(tx, ahp.SessionConfigChanged{Config: values}, nil)
		}
		c.all.options[s.value.Provider] = s.meta.Options
	})
}

func (e *chatEvents) Commands(commands []agent.Command) {
	c := e.c
	c.all.Core.Do(func(tx core.Tx) {
		if c.Dead(tx) {
			return
		}
		c.s.meta.Commands = commands[:min(len(commands), maxCommands)]
		c.s.setMeta(tx)
	})
}

// Dead reports that nothing may happen in the chat any more.
func (c *Chat) Dead(tx core.Tx) bool { return c.gone || tx.Closing() }

// FollowWork keeps the chats' lists of background work: the terminals that a session
// holds for no tool call and whose command still runs (G41). It is called when a
// terminal is new, its claim has changed, or it has exited; work describes it.
func (ss *Sessions) FollowWork(tx core.Tx, t ahp.TerminalState, work ahp.BackgroundWork) {
	claim := t.Claim
	parked := claim.Kind == ahp.ClaimSession && claim.TurnID+claim.ToolCallID == "" && !t.Lifecycle.Exited()
	for _, s := range ss.list {
		for _, c := range s.chats {
			c.runs(tx, t, work)
			has := slices.ContainsFunc(c.value.BackgroundWork, func(w ahp.BackgroundWork) bool { return w.ID == work.ID })
			wants := parked && claim.Chat == c.ch.URI && claim.Session == s.ch.URI
			switch {
			case wants && !has:
				c.apply(tx, ahp.ChatBackgroundWorkSet{Work: work}, nil)
			case has && !wants:
				c.apply(tx, ahp.ChatBackgroundWorkRemoved{ID: work.ID}, nil)
			}
		}
	}
}
