package acp

import (
	"context"
	"encoding/json"
	"errors"

	"tandemux/host/agent"
)

// The protocol runs one prompt at a time. Agents that say so (claude-agent-acp's
// extension) take another while one runs, and work it into what they do: the first is
// answered when they begin with the second. For the host both are one turn.

// maxSteers bounds the messages that are put into one turn.
const maxSteers = 16

// Steers reports whether the agent takes messages while a turn runs.
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

// ask sends a prompt, whose answer comes by tn.answers; tn.open counts it already.
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

// lastAnswer counts an answer, and reports whether it is the last.
func (s *session) lastAnswer(tn *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	tn.open--
	return tn.open == 0
}
