package task

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"tandemux/host/task/store"
	"tandemux/host/task/turns"
)

// maxDelta bounds a part of a stream, in bytes of text; what is longer is several.
const maxDelta = 32 << 10

// maxOutput bounds a tool's input and output in a stream, in bytes.
const maxOutput = 256 << 10

// encodeParts makes parts fit to be stored.
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

// split bounds a part: long deltas become several, and what a tool was given or gave
// that is too much is left out, and says so.
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

// append adds parts to a task's stream and wakes its readers.
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

// clone is a copy that shares nothing that changes.
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

// changed tells whoever waits for tasks that there is something new of them.
func (s *Service) changed(tasks ...string) { s.news.Tell(tasks...) }

// News is closed with the next change of a task: of its stream, its status, or that it
// is no more. Take it, look, and then wait for it.
func (s *Service) News(task string) <-chan struct{} { return s.news.Of(task) }

// Ended is closed when the service ends, and with it all streams.
func (s *Service) Ended() <-chan struct{} { return s.ctx.Done() }

// AtRest reports whether nothing is to be done for a task: no more is to come in its
// stream until somebody sends an event.
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
