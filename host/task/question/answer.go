package question

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tandemux/ahp"
	"tandemux/host/task/access"
	"tandemux/host/task/store"
	"tandemux/host/task/turns"
	"tandemux/internal/approval"
)

// MaxSize bounds an answer, in bytes.
const MaxSize = 64 << 10

// Answer is an answer to a question of a task's agent.
type Answer struct {
	QuestionID string                     `json:"question_id" doc:"The question as it was shown: one that is asked in other words by now is not answered"`
	Answer     string                     `json:"answer,omitempty" doc:"Of a permission yes (this once), no, or an option's id or key; of an input its only field's value, or yes where it has none"`
	Values     map[string]json.RawMessage `json:"values,omitempty" doc:"Of an input with several fields, a value for each by its id: a text, a number, true or false, an option's id, or a list of these"`
	Decline    bool                       `json:"decline,omitempty" doc:"Refuse to answer an input"`
}

// Reply returns the action that gives an answer, and the answer in words.
func (q *Question) Reply(a Answer, who access.Principal) (ahp.Action, string, error) {
	switch {
	case q.Kind == AsksLogin:
		return nil, "", store.Errorf(store.Invalid, "a tool wants a login: that is done in the task's chat")
	case q.Kind == AsksInput && q.Partial != "" && !a.Decline:
		return nil, "", store.Errorf(store.Invalid, "%s", q.Partial)
	case q.Kind == AsksInput:
		return q.complete(a)
	case a.Decline || len(a.Values) > 0:
		return nil, "", store.Errorf(store.Invalid, "it asks for a permission: give answer, not values or decline")
	}
	o, err := q.option(a.Answer)
	switch {
	case err != nil:
		return nil, "", err
	case o.Allows && who.NeverYes:
		return nil, "", store.Errorf(store.Forbidden, "your token may say no, but not let tools run: that takes the scope approve")
	case o.Allows && q.Partial != "":
		return nil, "", store.Errorf(store.Invalid, "%s", q.Partial)
	}
	if q.call.Status == ahp.ToolPendingResult {
		return ahp.ChatToolCallResultConfirmed{TurnID: q.turn, ToolCallID: q.ToolCallID, Approved: o.Allows}, o.Label, nil
	}
	c := ahp.ChatToolCallConfirmed{TurnID: q.turn, ToolCallID: q.ToolCallID, SelectedOptionID: o.ID, Approved: o.Allows}
	if c.Reason = ahp.ReasonDenied; o.Allows {
		c.Reason, c.Confirmed = "", ahp.ConfirmedUserAction
	}
	return c, o.Label, nil
}

// option returns the option that an answer names. yes is the option that allows only this call; no is
// the one that denies only this call, if there is one.
func (q *Question) option(answer string) (approval.Option, error) {
	all := q.view.Options
	find := func(ok func(approval.Option) bool) int { return slices.IndexFunc(all, ok) }
	word, i := strings.ToLower(strings.TrimSpace(answer)), -1
	switch word {
	case "yes":
		i = q.view.Default
		if i < 0 {
			i = slices.IndexFunc(q.Options, func(o Option) bool { return o.Once })
		}
	case "no":
		if i = find(func(o approval.Option) bool { return !o.Allows && o.Key == "n" }); i < 0 {
			i = find(func(o approval.Option) bool { return !o.Allows })
		}
		if i < 0 { // the agent offers no way to refuse, but the host does
			return approval.Option{Label: "No", ToolOption: ahp.ToolOption{Kind: ahp.OptionDeny}}, nil
		}
	}
	if i < 0 {
		i = find(func(o approval.Option) bool { return o.ID != "" && o.ID == answer })
	}
	if i < 0 {
		i = find(func(o approval.Option) bool { return o.Key == word })
	}
	if i < 0 {
		var choices []string
		for _, o := range all {
			choices = append(choices, strconv.Quote(cmp.Or(o.ID, o.Key)))
		}
		return approval.Option{}, store.Errorf(store.Invalid, "the question has no answer %.40q: use one of %s", answer, turns.Clip(strings.Join(choices, ", "), 1<<10))
	}
	return all[i], nil
}

func (q *Question) complete(a Answer) (ahp.Action, string, error) {
	c := ahp.ChatInputCompleted{RequestID: q.request, Response: ahp.InputAccept}
	values := a.Values
	word := strings.ToLower(strings.TrimSpace(a.Answer))
	switch {
	case a.Decline && (a.Answer != "" || len(values) > 0):
		return nil, "", store.Errorf(store.Invalid, "an input is answered or declined, not both")
	case a.Decline || len(q.Fields) == 0 && word == "no":
		c.Response = ahp.InputDecline
		return c, "declined", nil
	case len(q.Fields) == 0 && word == "yes":
		return c, "yes", nil
	case a.Answer != "" && len(values) > 0:
		return nil, "", store.Errorf(store.Invalid, "give answer or values, not both")
	case a.Answer != "" && len(q.Fields) == 1:
		values = map[string]json.RawMessage{q.Fields[0].ID: encoded(a.Answer)}
	case len(values) == 0:
		return nil, "", store.Errorf(store.Invalid, "it wants %d values: give them in values, by the fields' ids, or decline", len(q.Fields))
	}
	c.Answers = map[string]json.RawMessage{}
	for _, id := range slices.Sorted(maps.Keys(values)) {
		i := slices.IndexFunc(q.Fields, func(f Field) bool { return f.ID == id })
		if i < 0 {
			return nil, "", store.Errorf(store.Invalid, "values: the input has no field %.40q", id)
		}
		v, err := q.Fields[i].value(values[id])
		if err != nil {
			return nil, "", store.Errorf(store.Invalid, "values: %.40q: %w", id, err)
		}
		c.Answers[id] = encoded(ahp.Answer{State: ahp.AnswerSubmitted, Value: &ahp.AnswerValue{Kind: cmp.Or(ahp.AnswerKinds[q.Fields[i].Kind], "text"), Value: v}})
	}
	return c, turns.Clip(cmp.Or(a.Answer, string(encoded(values))), MaxLine), nil
}

// value returns a field's value in AHP's form. A string may stand for a number, a boolean or an
// option.
func (f *Field) value(raw json.RawMessage) (json.RawMessage, error) {
	var text string
	isText := json.Unmarshal(raw, &text) == nil
	option := func(word string) (string, error) {
		i := slices.IndexFunc(f.Options, func(o FieldOption) bool { return o.ID == word })
		if i < 0 {
			i = slices.IndexFunc(f.Options, func(o FieldOption) bool { return strings.EqualFold(o.Label, word) })
		}
		if i < 0 {
			return "", fmt.Errorf("it offers no %.40q", word)
		}
		return f.Options[i].ID, nil
	}
	switch f.Kind {
	case "number", "integer":
		number := strings.TrimSpace(text)
		if !isText {
			number = string(raw)
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || f.Kind == "integer" && n != float64(int64(n)) {
			return nil, fmt.Errorf("want a %s", map[string]string{"number": "number", "integer": "whole number"}[f.Kind])
		}
		return encoded(n), nil
	case "boolean":
		switch word := strings.ToLower(strings.TrimSpace(cmp.Or(text, string(raw)))); word {
		case "yes", "true", "y":
			return json.RawMessage("true"), nil
		case "no", "false", "n":
			return json.RawMessage("false"), nil
		}
		return nil, errors.New("want yes or no")
	case "single-select":
		if !isText {
			return nil, errors.New("want an option's id")
		}
		id, err := option(text)
		return encoded(id), err
	case "multi-select":
		var words []string
		if isText {
			words = strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
		} else if json.Unmarshal(raw, &words) != nil {
			return nil, errors.New("want a list of options' ids")
		}
		for i, w := range words {
			id, err := option(strings.TrimSpace(w))
			if err != nil {
				return nil, err
			}
			words[i] = id
		}
		return encoded(words), nil
	}
	if !isText {
		return nil, errors.New("want a text")
	}
	return raw, nil
}
