package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"tandemux/host/agent"
)

const (
	// maxCalls bounds the tool calls of one turn.
	maxCalls = 2000
	// maxPlan and maxCommands bound the lengths of lists.
	maxPlan     = 500
	maxCommands = 1000
	// maxTitle bounds titles and descriptions, maxLine those of commands and plans, in bytes.
	maxTitle = 4 << 10
	maxLine  = 1 << 10
)

// turn is a running session/prompt.
type turn struct {
	id     string
	ctx    context.Context // ends with the turn
	cancel context.CancelFunc

	// answers gets the answers to the turn's prompts. open counts those that are missing; it and
	// steers are guarded by the session's mutex.
	answers      chan promptAnswer
	open, steers int

	mu    sync.Mutex // held while sink is called
	over  bool
	sink  agent.Sink
	calls map[string]*call
	full  bool              // a call was refused
	edits map[string]string // commands as a person changed them, by tool call
	usage agent.Usage
	// finished is usage, once an answer had it.
	finished *agent.Usage
}

func newTurn(ctx context.Context, id string, sink agent.Sink) *turn {
	t := &turn{id: id, sink: sink, calls: map[string]*call{}, answers: make(chan promptAnswer, 1+maxSteers)}
	t.ctx, t.cancel = context.WithCancel(ctx)
	return t
}

// end ends the turn. The sink gets nothing afterwards.
func (t *turn) end() {
	t.cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
}

// do calls the sink unless the turn is over.
func (t *turn) do(tell func(agent.Sink)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over && t.ctx.Err() == nil {
		tell(t.sink)
	}
}

// finish stores the usage in a prompt's answer, in order with updates.
func (t *turn) finish(r promptResult) {
	if r.Usage == nil {
		return
	}
	t.do(func(agent.Sink) {
		t.usage.InputTokens, t.usage.OutputTokens = r.Usage.InputTokens, r.Usage.OutputTokens
		t.usage.CacheReadTokens = r.Usage.CachedReadTokens
		t.finished = &t.usage
	})
}

func (s *session) update(params json.RawMessage) {
	var p struct {
		SessionID string `json:"sessionId"`
		Update    update `json:"update"`
	}
	if err := lenient(params, &p); err != nil {
		s.p.log.Debug("update ignored", "agent", s.p.c.ID, "err", err)
		return
	}
	u := &p.Update
	s.mu.Lock()
	other := s.id != "" && p.SessionID != s.id && s.l != nil && s.l.alive()
	tn := s.turn
	s.mu.Unlock()
	if other {
		return
	}
	if tell := sessionUpdates[u.Kind]; tell != nil {
		tell(s, u)
		return
	}
	tell := turnUpdates[u.Kind]
	if tell == nil || tn == nil {
		s.p.log.Debug("update ignored", "agent", s.p.c.ID, "update", clip(u.Kind, 100), "known", tell != nil)
		return
	}
	tn.do(func(sink agent.Sink) { tell(s, tn, sink, u) })
}

// turnUpdates handle the updates that belong to a turn. The turn's mutex is held.
var turnUpdates = map[string]func(*session, *turn, agent.Sink, *update){
	"agent_message_chunk": func(_ *session, _ *turn, sink agent.Sink, u *update) {
		if text := chunk(u.Content); text != "" {
			sink.Message(text)
		}
	},
	"agent_thought_chunk": func(_ *session, _ *turn, sink agent.Sink, u *update) {
		if text := chunk(u.Content); text != "" {
			sink.Reasoning(text)
		}
	},
	"tool_call":        (*session).toolUpdate,
	"tool_call_update": (*session).toolUpdate,
	"plan":             func(_ *session, _ *turn, sink agent.Sink, u *update) { sink.Plan(plan(u)) },
	"usage_update": func(_ *session, t *turn, sink agent.Sink, u *update) {
		t.usage.ContextUsed, t.usage.ContextSize = u.Used, u.Size
		if u.Cost != nil {
			t.usage.Cost, t.usage.Currency = u.Cost.Amount, clip(u.Cost.Currency, 10)
		}
		sink.Usage(t.usage)
	},
	"notice": func(_ *session, _ *turn, sink agent.Sink, u *update) {
		if u.Title == nil {
			return
		}
		text := clip(*u.Title, maxTitle)
		if u.Description != nil && *u.Description != "" {
			text += ": " + clip(*u.Description, maxTitle)
		}
		sink.Notice(text)
	},
}

// sessionUpdates handle the updates about the session.
var sessionUpdates = map[string]func(*session, *update){
	"available_commands_update": func(s *session, u *update) {
		list := []agent.Command{}
		for _, c := range u.Commands[:min(len(u.Commands), maxCommands)] {
			a := agent.Command{Name: clip(c.Name, 200), Description: clip(c.Description, maxLine)}
			if c.Input != nil {
				a.Hint = clip(c.Input.Hint, 200)
			}
			list = append(list, a)
		}
		s.tell(func(e agent.Events) { e.Commands(list) })
	},
	"current_mode_update": func(s *session, u *update) {
		mode := cmp.Or(u.CurrentModeID, u.ModeID)
		s.tellOptions(func(o *options) {
			for i := range o.all {
				if o.all[i].Category == modeOption && mode != "" {
					o.all[i].Value = mode
				}
			}
		})
	},
	"config_option_update": func(s *session, u *update) {
		if u.ConfigOptions != nil {
			s.tellOptions(func(o *options) { o.config(*u.ConfigOptions) })
		}
	},
	"session_info_update": func(s *session, u *update) {
		if u.Title != nil && *u.Title != "" {
			s.tell(func(e agent.Events) { e.Title(clip(strings.Join(strings.Fields(*u.Title), " "), 500)) })
		}
	},
}

// tell calls Events in order.
func (s *session) tell(fn func(agent.Events)) {
	s.telling.Lock()
	defer s.telling.Unlock()
	fn(s.spec.Events)
}

// chunk returns a chunk of a message as Markdown.
func chunk(raw json.RawMessage) string {
	var b contentBlock
	if lenient(raw, &b) != nil {
		return ""
	}
	return markdown(b)
}

// markdown returns a content block as Markdown.
func markdown(b contentBlock) string {
	switch b.Type {
	case "text":
		return b.Text
	case "resource_link":
		return fmt.Sprintf("[%s](%s)", cmp.Or(b.Title, b.Name, b.URI), b.URI)
	case "resource":
		if b.Resource == nil {
			return ""
		}
		return cmp.Or(b.Resource.Text, fmt.Sprintf("(%s)", b.Resource.URI))
	case "image", "audio":
		return fmt.Sprintf("(%s, %s, %d KB)", b.Type, b.MIMEType, len(b.Data)*3/4>>10)
	}
	return ""
}

func plan(u *update) []agent.PlanEntry {
	out := []agent.PlanEntry{}
	for _, e := range u.Entries[:min(len(u.Entries), maxPlan)] {
		out = append(out, agent.PlanEntry{Text: clip(e.Content, maxLine), Priority: clip(e.Priority, 20), Status: clip(e.Status, 20)})
	}
	return out
}

// ACP runs one prompt at a time. Agents with an extension of claude-agent-acp accept another one while
// a prompt runs, and use it in what they do; they answer the first when they begin with the second.
// For the host both are one turn.

// maxSteers bounds the messages that are added to one turn.
const maxSteers = 16

// Steers reports whether the agent accepts messages while a turn runs.
func (s *session) Steers() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.l != nil && s.l.init.AgentCapabilities.Meta.Claude.PromptQueueing
}

// Steer implements agent.Steerer.
func (s *session) Steer(_ context.Context, t agent.Turn) error {
	steers := s.Steers()
	s.mu.Lock()
	tn, l, id := s.turn, s.l, s.id
	ok := steers && tn != nil && tn.open > 0 && tn.steers < maxSteers
	if ok {
		tn.open++
		tn.steers++
	}
	s.mu.Unlock()
	if !ok {
		return errors.New("no turn runs that takes another message")
	}
	return s.ask(l, tn, id, t)
}

// ask sends a prompt. The caller has counted it in tn.open; its answer goes to tn.answers.
func (s *session) ask(l *link, tn *turn, id string, t agent.Turn) error {
	params := promptParams{SessionID: id, Prompt: blocks(s.attached(t), l.init.AgentCapabilities)}
	err := l.conn.Go(methodPrompt, params, func(raw json.RawMessage, err error) {
		a := promptAnswer{err: err}
		if err == nil {
			a.err = lenient(raw, &a.result)
			tn.finish(a.result)
		}
		tn.answers <- a
	})
	if err != nil {
		s.mu.Lock()
		tn.open--
		s.mu.Unlock()
	}
	return err
}

// lastAnswer counts an answer, and reports whether it was the last one.
func (s *session) lastAnswer(tn *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	tn.open--
	return tn.open == 0
}
