package acp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/internal/jsonrpc"
)

// An agent's questions (elicitation/create) become input requests of AHP: a form's properties become
// questions, a URL is to be opened. Without a turn, or if the host can't ask, the answer is cancel.

const (
	methodElicit = "elicitation/create"
	// maxQuestions bounds a form's properties, maxEnum the choices of one of them.
	maxQuestions = 50
	maxEnum      = 500
)

type elicitParams struct {
	SessionID string `json:"sessionId"`
	Mode      string `json:"mode"` // form, url
	Message   string `json:"message"`
	URL       string `json:"url"`
	Schema    struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	} `json:"requestedSchema"`
}

type elicitResult struct {
	Action  string         `json:"action"` // accept, decline, cancel
	Content map[string]any `json:"content,omitempty"`
}

// property is a property of a form.
type property struct {
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	selectable
	Items *selectable `json:"items"` // of an array
}

// selectable has the choices of a property, in one of several forms.
type selectable struct {
	Enum  []string     `json:"enum"`
	Names []string     `json:"enumNames"` // MCP's form
	OneOf []enumOption `json:"oneOf"`
	AnyOf []enumOption `json:"anyOf"`
}

type enumOption struct {
	Const       string `json:"const"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

// elicit handles elicitation/create.
func (s *session) elicit(raw json.RawMessage) (work, error) {
	var p elicitParams
	if err := lenient(raw, &p); err != nil {
		return nil, &agent.Refusal{Text: "params: missing, or not as the protocol has them"}
	}
	if id := s.ID(); p.SessionID != "" && id != "" && p.SessionID != id {
		return nil, &jsonrpc.Error{Code: codeNotFound, Message: fmt.Sprintf("there is no session %q", clip(p.SessionID, 100))}
	}
	s.mu.Lock()
	t := s.turn
	s.lastAsk++
	id := fmt.Sprintf("ask-%d", s.lastAsk)
	s.mu.Unlock()
	q, err := p.request(id)
	if err != nil {
		return nil, err
	}
	var asker agent.Asker
	if t != nil {
		asker, _ = t.sink.(agent.Asker)
	}
	return func(ctx context.Context) (any, error) {
		if asker == nil {
			return elicitResult{Action: ahp.InputCancel}, nil
		}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		defer context.AfterFunc(t.ctx, stop)()
		a, err := asker.Ask(ctx, q)
		if err != nil {
			return elicitResult{Action: ahp.InputCancel}, nil
		}
		r := elicitResult{Action: a.Response}
		if a.Response == ahp.InputAccept && p.Mode != "url" {
			r.Content = content(a.Answers)
		}
		return r, nil
	}, nil
}

// request converts a question of the agent's to an input request.
func (p elicitParams) request(id string) (ahp.InputRequest, error) {
	q := ahp.InputRequest{ID: id, Message: ahp.Plain(clip(p.Message, maxTitle))}
	switch p.Mode {
	case "url":
		if q.URL = p.URL; q.URL == "" || len(q.URL) > maxTitle {
			return q, &agent.Refusal{Text: "elicitation: url: missing, or too long"}
		}
		return q, nil
	case "form", "":
	default:
		return q, &agent.Refusal{Text: fmt.Sprintf("elicitation: mode %q is not known here", clip(p.Mode, 100))}
	}
	names, err := members(p.Schema.Properties)
	if err != nil || len(names) > maxQuestions {
		return q, &agent.Refusal{Text: fmt.Sprintf("elicitation: requestedSchema: want an object of at most %d properties", maxQuestions)}
	}
	var all map[string]json.RawMessage
	json.Unmarshal(p.Schema.Properties, &all) //nolint:errcheck // members has read it before
	for _, name := range names {
		var prop property
		if err := lenient(all[name], &prop); err != nil {
			return q, &agent.Refusal{Text: fmt.Sprintf("elicitation: the property %q is no schema", clip(name, 100))}
		}
		k := prop.question()
		k.ID, k.Required = name, slices.Contains(p.Schema.Required, name)
		k.Title, k.Message = clip(prop.Title, maxTitle), clip(cmp.Or(prop.Description, prop.Title, name), maxTitle)
		q.Questions = append(q.Questions, k)
		if value := answerOf(k.Kind, prop.Default); value != nil {
			if q.Answers == nil {
				q.Answers = map[string]json.RawMessage{}
			}
			q.Answers[name] = value
		}
	}
	return q, nil
}

// members returns the names of a JSON object's members, in order.
func members(object json.RawMessage) ([]string, error) {
	if len(object) == 0 || string(object) == "null" {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("no object")
	}
	var names []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return nil, err
		}
		names = append(names, name.(string))
	}
	return names, nil
}

// questionKinds maps JSON's types to ahp.Question.Kind.
var questionKinds = map[string]string{"string": "text", "number": "number", "integer": "integer", "boolean": "boolean"}

func (p property) question() ahp.Question {
	if p.Type == "array" && p.Items != nil {
		return ahp.Question{Kind: "multi-select", Options: p.Items.options()}
	}
	if options := p.options(); len(options) > 0 {
		return ahp.Question{Kind: "single-select", Options: options}
	}
	return ahp.Question{Kind: cmp.Or(questionKinds[p.Type], "text")}
}

func (c selectable) options() []ahp.QuestionOption {
	var list []ahp.QuestionOption
	for i, id := range c.Enum[:min(len(c.Enum), maxEnum)] {
		label := id
		if i < len(c.Names) {
			label = cmp.Or(c.Names[i], id)
		}
		list = append(list, ahp.QuestionOption{ID: id, Label: clip(label, maxTitle)})
	}
	for _, o := range slices.Concat(c.OneOf, c.AnyOf) {
		if len(list) < maxEnum {
			list = append(list, ahp.QuestionOption{ID: o.Const, Label: clip(cmp.Or(o.Title, o.Const), maxTitle), Description: clip(o.Description, maxTitle)})
		}
	}
	return list
}

// answerOf returns a default value as a draft of an answer, or nil.
func answerOf(kind string, value json.RawMessage) json.RawMessage {
	if len(value) == 0 || string(value) == "null" || len(value) > maxTitle {
		return nil
	}
	b, err := json.Marshal(ahp.Answer{State: ahp.AnswerDraft, Value: &ahp.AnswerValue{Kind: ahp.AnswerKinds[kind], Value: value}})
	if err != nil {
		return nil
	}
	return b
}

// content converts answers to the form that the agent expects. Skipped ones are left out.
func content(answers map[string]json.RawMessage) map[string]any {
	out := map[string]any{}
	for name, raw := range answers {
		var a ahp.Answer
		if json.Unmarshal(raw, &a) != nil || a.State == ahp.AnswerSkipped || a.Value == nil {
			continue
		}
		value := a.Value.Value
		if free := a.Value.FreeformValues; len(free) > 0 && a.Value.Kind == "selected" {
			out[name] = free[0]
			continue
		} else if len(free) > 0 && a.Value.Kind == "selected-many" {
			var chosen []string
			json.Unmarshal(value, &chosen) //nolint:errcheck // without it only the free texts are chosen
			out[name] = append(chosen, free...)
			continue
		}
		out[name] = value
	}
	return out
}
