package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/params"
)

func (r *prompting) Ask(ctx context.Context, q ahp.InputRequest) (ahp.ChatInputCompleted, error) {
	var wait chan ahp.ChatInputCompleted
	err := errors.New("the turn has ended")
	text, encodeErr := json.Marshal(q)
	if encodeErr != nil || len(text) > maxMessage || q.ID == "" || len(q.ID) > params.MaxURI {
		return ahp.ChatInputCompleted{}, errors.New("the question is not usable, or too large")
	}
	r.event(len(text), func(tx core.Tx) {
		if r.asks[q.ID] != nil || len(r.asks) >= maxOpenAsks {
			err = errors.New("too many questions are open, or this one is")
			return
		}
		r.closeText(tx)
		if r.over {
			return
		}
		err, wait = nil, make(chan ahp.ChatInputCompleted, 1)
		r.asks[q.ID] = wait
		r.c.apply(tx, ahp.ChatInputRequested{Request: q}, nil)
		r.c.s.need(tx, ahp.InputNeeded{ID: r.needInput(q.ID), Chat: r.c.ch.URI, Kind: ahp.NeedChatInput, Request: &q})
	})
	if err != nil {
		return ahp.ChatInputCompleted{}, err
	}
	select {
	case a := <-wait:
		return a, nil
	case <-r.ctx.Done():
		return ahp.ChatInputCompleted{}, errors.New("the question was given up: the turn has ended")
	case <-ctx.Done():
		r.c.all.Core.Do(func(tx core.Tx) {
			if r.asks[q.ID] == wait && !r.over {
				r.c.apply(tx, ahp.ChatInputCompleted{RequestID: q.ID, Response: ahp.InputCancel}, nil)
				r.closeAsk(tx, q.ID)
			}
		})
		return ahp.ChatInputCompleted{}, context.Cause(ctx)
	}
}

func (r *prompting) needInput(id string) string { return r.c.ch.URI + "?" + id }

func (r *prompting) closeAsk(tx core.Tx, id string) {
	delete(r.asks, id)
	r.c.s.met(tx, r.needInput(id))
}

// completeAsk passes an answer to the agent, with the drafted answers.
func (r *prompting) completeAsk(tx core.Tx, a ahp.ChatInputCompleted, drafted map[string]json.RawMessage) {
	wait := r.asks[a.RequestID]
	if wait == nil {
		return
	}
	answers := maps.Clone(drafted)
	if answers == nil {
		answers = map[string]json.RawMessage{}
	}
	maps.Copy(answers, a.Answers)
	a.Answers = answers
	wait <- a
	r.closeAsk(tx, a.RequestID)
	r.heard(tx)
}
