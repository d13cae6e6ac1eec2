package host

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"tandemux/ahp"
	"tandemux/host/core"
)

// Ask implements agent.Asker.
func (r *prompting) Ask(ctx context.Context, q ahp.InputRequest) (ahp.ChatInputCompleted, error) {
	var wait chan ahp.ChatInputCompleted
	err := errors.New("the turn has ended")
	text, encodeErr := json.Marshal(q)
	if encodeErr != nil || len(text) > maxMessage || q.ID == "" || len(q.ID) > maxURI {
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
		r.c.h.core.Do(func(tx core.Tx) {
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

// completeAsk gives an answer to the agent, with what had been drafted.
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

// answerKinds are the kinds of value that answer a kind of question.
var answerKinds = map[string]string{
	"text": "text", "number": "number", "integer": "number", "boolean": "boolean",
	"single-select": "selected", "multi-select": "selected-many",
}

// checkAnswers says what is wrong with answers; absent ones delete.
func checkAnswers(q ahp.InputRequest, answers map[string]json.RawMessage) string {
	for id, raw := range answers {
		i := slices.IndexFunc(q.Questions, func(k ahp.Question) bool { return k.ID == id })
		if i < 0 {
			return because("there is no question %q", clip(id))
		}
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		var a ahp.Answer
		if err := ahp.Unmarshal(raw, &a); err != nil {
			return because("the answer to %q is not one: %s", clip(id), unfit(err))
		}
		switch {
		case a.State == ahp.AnswerSkipped:
		case a.State != ahp.AnswerDraft && a.State != ahp.AnswerSubmitted:
			return because("the answer to %q: its state is not known: %q", clip(id), clip(a.State))
		case a.Value == nil:
			return because("the answer to %q has no value", clip(id))
		case answerKinds[q.Questions[i].Kind] != "" && a.Value.Kind != answerKinds[q.Questions[i].Kind]:
			return because("the answer to %q is a %q; the question wants a %q", clip(id), clip(a.Value.Kind), answerKinds[q.Questions[i].Kind])
		case !fits(a.Value.Kind, a.Value.Value):
			return because("the answer to %q is no %q", clip(id), clip(a.Value.Kind))
		}
	}
	return ""
}

// fits reports whether JSON is a value of the kind it says.
func fits(kind string, value json.RawMessage) bool {
	var err error
	switch kind {
	case "text", "selected":
		err = json.Unmarshal(value, new(*string))
	case "number":
		err = json.Unmarshal(value, new(*float64))
	case "boolean":
		err = json.Unmarshal(value, new(*bool))
	case "selected-many":
		err = json.Unmarshal(value, new([]string))
	}
	return len(value) > 0 && err == nil
}

// lacksAnswer says which required question has no answer.
func lacksAnswer(q ahp.InputRequest, a ahp.ChatInputCompleted) string {
	if a.Response != ahp.InputAccept {
		return ""
	}
	for _, k := range q.Questions {
		if !k.Required {
			continue
		}
		raw, ok := a.Answers[k.ID]
		if !ok {
			raw = q.Answers[k.ID]
		}
		var given ahp.Answer
		if ahp.Unmarshal(orNull(raw), &given) != nil || given.Value == nil || given.State == ahp.AnswerSkipped {
			return because("the question %q needs an answer", clip(k.ID))
		}
	}
	return ""
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
