package task

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"tandemux/host/task/store"
	"tandemux/host/task/turns"
)

// maxDelta bounds the text in a part of a stream, in bytes. Longer text becomes several parts.
const maxDelta = 32 << 10

// maxOutput bounds a tool's input and output in a stream, in bytes.
const maxOutput = 256 << 10

// encodeParts encodes parts for the store.
func encodeParts(parts []Part) ([]store.StreamEvent, error) {
	all := make([]store.StreamEvent, 0, len(parts))
	for _, p := range parts {
		for _, piece := range split(p) {
			b, err := json.Marshal(piece)
			if err != nil {
				return nil, fmt.Errorf("write a part of a stream: %w", err)
			}
			all = append(all, store.StreamEvent{Type: piece.Type, Data: b})
		}
	}
	return all, nil
}

// split bounds a part: it makes several of a long text, and replaces a tool's input or output that is
// too large by its size.
func split(p Part) []Part {
	for _, raw := range []*json.RawMessage{&p.Input, &p.Output, &p.RawContent} {
		if len(*raw) > maxOutput {
			*raw = mustJSON(map[string]int{"omittedBytes": len(*raw)})
		}
	}
	text := &p.Text
	if p.Delta != "" {
		text = &p.Delta
	}
	if len(*text) <= maxDelta {
		return []Part{p}
	}
	var all []Part
	for rest := *text; rest != ""; {
		piece := turns.Clip(rest, maxDelta)
		*text, rest = piece, rest[len(piece):]
		all = append(all, p)
	}
	return all
}

// append adds parts to a task's stream and wakes the stream's readers.
func (s *Service) append(ctx context.Context, task string, parts []Part) error {
	events, err := encodeParts(parts)
	if err != nil {
		return err
	}
	if _, err := s.Store.AppendStream(ctx, task, events); err != nil {
		return err
	}
	s.changed(task)
	return nil
}

// clone returns a copy that shares nothing that changes.
func (s told) clone() told {
	c := s
	c.live = slices.Clone(s.live)
	if s.calls != nil {
		c.calls = make(map[string]*toldCall, len(s.calls))
		for id, call := range s.calls {
			c.calls[id] = new(*call)
		}
	}
	return c
}

// changed wakes all who wait for changes of tasks.
func (s *Service) changed(tasks ...string) { s.news.Tell(tasks...) }

// News returns a channel that is closed with the next change of a task: of its stream or status, or
// its deletion. Get the channel first, then read the task, then wait.
func (s *Service) News(task string) <-chan struct{} { return s.news.Of(task) }

// Ended returns a channel that is closed when the service ends.
func (s *Service) Ended() <-chan struct{} { return s.ctx.Done() }

// AtRest reports whether nothing is to be done for a task: its stream stays as it is until somebody
// sends an event.
func (s *Service) AtRest(ctx context.Context, t store.Task) (bool, error) {
	if t.Status.Final() {
		return t.Facts.Ended, nil
	}
	held := s.held(t.ID) != ""
	if t.Status != store.Idle && !held {
		return false, nil
	}
	waiting, err := s.Store.WaitingEvents(ctx, t.ID)
	return len(waiting) == 0 || held && waiting[0].Status == store.EventPending, err
}
