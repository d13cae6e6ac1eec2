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

// Chat is the body of a chat's channel: a conversation, with one session of the agent. It is guarded
// by the core's lock.
type Chat struct {
	all   *Sessions
	ch    *core.Channel
	s     *session
	value ahp.ChatState
	facts chatFacts
	dirty bool // facts have changed since Changed was called
	gone  bool // the chat was disposed of

	agent   agent.Session // nil while none is open
	opening *agentStart   // nil unless one is being opened
	now     *prompting    // the turn that the agent works on, or nil
	options []agent.Option
}

// chatFacts is what the host stores about a chat besides its state.
type chatFacts struct {
	Session ahp.URI `json:"session"`
	// Resume is the agent's id of its session.
	Resume string `json:"resume,omitempty"`
	// Fork is the agent's id of the session of which this chat's session is still to be made as a
	// copy.
	Fork string `json:"fork,omitempty"`
	// Forgot says that the agent does not know what was said in the chat.
	Forgot bool `json:"forgot,omitempty"`
	// Tokens and WorkedMs are the sums of its finished turns.
	Tokens   int64 `json:"tokens,omitempty"`
	WorkedMs int64 `json:"workedMs,omitempty"`
	// Older are the turns before those in the state; see chat_window.go.
	Older []ahp.Turn `json:"older,omitempty"`
}

func (c *Chat) Kind() string         { return ahp.ChatScheme }
func (c *Chat) Reduce(a ahp.Action)  { c.value = ahp.ReduceChat(c.value, a) }
func (c *Chat) State(tx core.Tx) any { return c.value }

// Settle applies the text that has gathered.
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

// apply applies an action of the chat, and updates the chat's row in its session.
func (c *Chat) apply(tx core.Tx, a ahp.Action, by *core.By) {
	tx.Apply(c.ch, c.timed(a), by)
	c.s.mirror(tx, c)
}

// agentStart is the opening of an agent's session.
type agentStart struct {
	done chan struct{}
	// Set before done is closed.
	agent agent.Session
	err   error
}

// URI returns the chat's URI and Session that of its session. Owner is the principal that made the
// session, Provider the id of its agent's provider, Task and Sandbox what confines it, if anything.
// None of them changes.
func (c *Chat) URI() ahp.URI     { return c.ch.URI }
func (c *Chat) Session() ahp.URI { return c.s.ch.URI }
func (c *Chat) Owner() string    { return c.s.facts.Owner }
func (c *Chat) Task() string     { return c.s.facts.Sandbox }
func (c *Chat) Provider() string { return c.s.value.Provider }
func (c *Chat) Sandbox() Sandbox { return c.s.sandbox }

// Label returns the name of the session's agent, or of the session if a person named it, for its
// terminals.
func (c *Chat) Label(tx core.Tx) string {
	if c.s.facts.Named && c.s.value.Title != "" {
		return c.s.value.Title
	}
	if c.s.provider != nil {
		return cmp.Or(c.s.provider.Info().Name, c.s.value.Provider)
	}
	return c.s.value.Provider
}

// errGone is the error of what is done in a chat that was disposed of.
var errGone = agent.Errorf(agent.KindClosed, "the chat was disposed of")

// open starts opening the agent's session, unless it is open or being opened.
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

// spec describes the agent's session to open.
func (c *Chat) spec(tx core.Tx) agent.Spec {
	s := c.s
	spec := agent.Spec{
		Session: s.ch.URI, Chat: c.ch.URI, Roots: slices.Clone(s.facts.Roots), Resume: c.facts.Resume, Fork: c.facts.Fork,
		Config: map[string]string{}, Events: &chatEvents{c}, Clients: &clientTools{c},
	}
	if s.sandbox != nil { // in any case, whatever else the agent gets
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

// finishOpening waits until the provider has opened the session, for Limits.AgentStart at most.
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
					agent.Guarded(late.Session.Close) //nolint:errcheck // opening was given up before
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

// take makes an open agent's session the chat's.
func (c *Chat) take(tx core.Tx, a agent.Session) {
	c.agent = a
	if c.facts.Resume != "" && !a.Resumed() && (len(c.value.Turns) > 0 || len(c.facts.Older) > 0) {
		c.facts.Forgot = true
	}
	c.facts.Resume, c.facts.Fork = a.ID(), ""
	c.dirty = true
	// What the agent can do is known only now.
	info := c.s.provider.Info()
	able, steers := a.(agent.Steerer)
	steers = steers && able.Steers()
	c.s.meta.Can = &ahp.AgentCan{Steer: steers, Fork: info.Fork, Images: info.Images, Audio: info.Audio, Embedded: info.Embedded}
	c.s.setMeta(tx)
	c.all.refreshAgents(tx)
}

// forsake closes the agent's session. The next turn opens another one.
func (c *Chat) forsake(tx core.Tx) {
	if c.agent != nil {
		c.all.closeAgent(tx, c.agent)
		c.agent = nil
	}
}

// chatEvents receives what an agent reports about its session.
type chatEvents struct{ c *Chat }

// Title sets the session's title, unless a person has.
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

// Options replaces the settings that the agent offers.
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

// Dead reports whether nothing may happen in the chat any more.
func (c *Chat) Dead(tx core.Tx) bool { return c.gone || tx.Closing() }

// FollowWork updates the chats' background work: the terminals that a session holds outside of any
// tool call and whose command still runs (G41). The host calls it when a terminal is new, its claim
// has changed, or it has exited. work describes the terminal.
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
