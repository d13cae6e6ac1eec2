package host

import (
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
type chat struct {
	h     *Host
	ch    *core.Channel
	s     *session
	value ahp.ChatState
	older []ahp.Turn // before those in value; see chat_window.go
	facts chatFacts
	dirty bool // facts or older have changed
	gone  bool // disposed of

	agent   agent.Session // nil while none is open
	opening *agentStart   // nil unless one is being opened
	now     *prompting    // the turn that the agent is at, or nil
	options []agent.Option
	// forgot says that the agent no longer knows what the chat says.
	forgot bool
}

// chatFacts are what no action of a chat tells.
type chatFacts struct {
	Session ahp.URI `json:"session"`
	// Resume is the agent's own name of its session.
	Resume string `json:"resume,omitempty"`
	// Fork is that of the session which the chat's is yet to begin as a copy of.
	Fork   string `json:"fork,omitempty"`
	Forgot bool   `json:"forgot,omitempty"`
	// Tokens and WorkedMs are what its finished turns took.
	Tokens   int64      `json:"tokens,omitempty"`
	WorkedMs int64      `json:"workedMs,omitempty"`
	Older    []ahp.Turn `json:"older,omitempty"`
}

func (c *chat) Reduce(a ahp.Action)  { c.value = ahp.ReduceChat(c.value, a) }
func (c *chat) State(tx core.Tx) any { return c.value }

// settle tells the text that has gathered.
func (c *chat) Settle(tx core.Tx) {
	if c.now != nil {
		c.now.flush(tx)
	}
	if len(c.ch.Links()) == 0 {
		c.compact(tx)
	}
}

func (c *chat) Private() any {
	f := c.facts
	f.Older, f.Forgot = c.older, c.forgot
	return f
}

func (c *chat) Changed() bool {
	was := c.dirty
	c.dirty = false
	return was
}

func (c *chat) Know(raw json.RawMessage) error {
	c.facts = chatFacts{}
	if err := json.Unmarshal(raw, &c.facts); err != nil {
		return err
	}
	c.older, c.forgot = c.facts.Older, c.facts.Forgot
	c.facts.Older = nil
	return nil
}

// apply applies an action of the chat and tells what follows from it.
func (c *chat) apply(tx core.Tx, a ahp.Action, by *core.By) {
	tx.Apply(c.ch, a, by)
	c.s.mirror(tx, c)
}

// agentStart is a session of an agent that is being opened.
type agentStart struct {
	done chan struct{}
	// Set before done is closed.
	agent agent.Session
	err   error
}

// errGone is why nothing more happens in a chat that was disposed of.
var errGone = &agent.Error{Kind: agent.KindClosed, Message: "the chat was disposed of"}

// open begins to open the agent's session unless it is open or that has begun.
func (c *chat) open(tx core.Tx) *agentStart {
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
		o.err = &agent.Error{Kind: agent.KindNotFound, Message: fmt.Sprintf("this host has no agent %q any more: add it to the configuration, or begin a session with another", c.s.value.Provider)}
	default:
		c.opening = o
		spec := c.spec(tx)
		c.h.sessions.work.Add(1)
		go c.finishOpening(o, spec)
		return o
	}
	close(o.done)
	return o
}

// spec says what to open.
func (c *chat) spec(tx core.Tx) agent.Spec {
	s := c.s
	spec := agent.Spec{
		Session: s.ch.URI, Chat: c.ch.URI, Roots: slices.Clone(s.facts.Roots), Resume: c.facts.Resume, Fork: c.facts.Fork,
		Config: map[string]string{}, Events: &chatEvents{c}, Clients: &clientTools{c},
	}
	if s.confined != nil { // Whatever else the agent gets or lacks.
		spec.Confine = s.confined
	}
	for k, v := range s.facts.Config {
		if k != configConfirm {
			spec.Config[k] = fmt.Sprint(v)
		}
	}
	if supply := c.h.sessions.supply; supply != nil {
		supply(tx, c, &spec)
	}
	return spec
}

// finishOpening waits for the provider, but not for ever.
func (c *chat) finishOpening(o *agentStart, spec agent.Spec) {
	h := c.h
	defer h.sessions.work.Done()
	ctx, cancel := context.WithTimeout(h.sessions.ctx, h.limits.AgentStart)
	defer cancel()
	provider := c.s.provider
	got := make(chan opened, 1)
	go func() { got <- openGuarded(ctx, provider, spec) }()
	var r opened
	select {
	case r = <-got:
	case <-ctx.Done():
		select {
		case r = <-got:
		case <-time.After(h.limits.AgentGrace):
			r.err = &agent.Error{Kind: agent.KindTimeout, Message: fmt.Sprintf("the agent was not ready within %v", h.limits.AgentStart)}
			go func() {
				if late := <-got; late.agent != nil {
					late.agent.Close() //nolint:errcheck // it was given up already
				}
			}()
		}
	}
	h.core.Do(func(tx core.Tx) {
		c.opening = nil
		if (c.gone || tx.Closing()) && r.err == nil {
			c.h.sessions.closeAgent(tx, r.agent)
			r = opened{err: errGone}
		}
		if o.agent, o.err = r.agent, r.err; r.err == nil {
			c.take(tx, r.agent)
		}
	})
	close(o.done)
}

// opened is what a provider's Open gave.
type opened struct {
	agent agent.Session
	err   error
}

// openGuarded turns a provider's panic into an error.
func openGuarded(ctx context.Context, p agent.Provider, spec agent.Spec) (o opened) {
	defer func() {
		if r := recover(); r != nil {
			o = opened{err: &agent.Error{Kind: agent.KindCrashed, Message: fmt.Sprintf("the agent's provider failed: %v", r)}}
		}
	}()
	o.agent, o.err = p.Open(ctx, spec)
	if o.err == nil && o.agent == nil {
		o.err = &agent.Error{Kind: agent.KindStart, Message: "the agent's provider opened nothing"}
	}
	return o
}

// take takes a session of the agent that is ready.
func (c *chat) take(tx core.Tx, a agent.Session) {
	c.agent = a
	if c.facts.Resume != "" && !a.Resumed() && (len(c.value.Turns) > 0 || len(c.older) > 0) {
		c.forgot = true
	}
	c.facts.Resume, c.facts.Fork = a.ID(), ""
	c.dirty = true
	c.s.noteCan(tx, a)
	c.h.sessions.refreshAgents(tx)
}

// forsake closes the agent's session; the next turn opens another.
func (c *chat) forsake(tx core.Tx) {
	if c.agent != nil {
		c.h.sessions.closeAgent(tx, c.agent)
		c.agent = nil
	}
}

// chatEvents takes what an agent tells of its session.
type chatEvents struct{ c *chat }

// Title names the session unless a person has.
func (e *chatEvents) Title(title string) {
	c := e.c
	c.h.core.Do(func(tx core.Tx) {
		if c.dead(tx) || c.s.facts.Named || len(c.s.chats) > 0 && c.s.chats[0] != c {
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
	c.h.core.Do(func(tx core.Tx) {
		if c.dead(tx) {
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
			if s.value.Config == nil || s.value.Config.Values[o.ID] != v {
				values[o.ID] = v
			}
		}
		if len(values) > 0 {
			s.apply(tx, ahp.SessionConfigChanged{Config: values}, nil)
		}
		c.h.sessions.options[s.value.Provider] = s.meta.Options
	})
}

// Commands replaces the agent's commands.
func (e *chatEvents) Commands(commands []agent.Command) {
	c := e.c
	c.h.core.Do(func(tx core.Tx) {
		if c.dead(tx) {
			return
		}
		list := make([]ahp.AgentCommand, 0, len(commands))
		for _, k := range commands[:min(len(commands), maxCommands)] {
			list = append(list, ahp.AgentCommand{Name: params.ClipTo(k.Name, params.MaxTitle), Description: params.ClipTo(k.Description, params.MaxTitle), Hint: params.ClipTo(k.Hint, params.MaxTitle)})
		}
		c.s.meta.Commands = list
		c.s.setMeta(tx)
	})
}

// dead reports that nothing may happen in the chat any more.
func (c *chat) dead(tx core.Tx) bool { return c.gone || tx.Closing() }
