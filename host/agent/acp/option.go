package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"tandemux/ahp"
	"tandemux/host/agent"
)

const (
	// maxOptions and maxChoices bound the settings that a session offers.
	maxOptions = 50
	maxChoices = 500
	// The ids of options for which ACP has its own methods.
	modeOption  = "mode"
	modelOption = "model"
)

// setter is the method that sets an option.
type setter uint8

const (
	setConfig setter = iota
	setMode
	setModel
)

// options are the settings of a session. They are guarded by the session's mutex.
type options struct {
	all []option
}

type option struct {
	agent.Option
	by setter
}

func (o *options) find(id string) *option {
	for i := range o.all {
		if o.all[i].ID == id {
			return &o.all[i]
		}
	}
	return nil
}

// set reads what a new session offers. Configuration options replace modes and models.
func (o *options) set(r sessionResult) {
	o.all = nil
	if r.ConfigOptions != nil {
		o.config(*r.ConfigOptions)
	}
	for _, offer := range []struct {
		option
		offers []offer
	}{
		{option{agent.Option{AgentOption: ahp.AgentOption{ID: modeOption, Name: "Mode"}, Value: r.Modes.Mode}, setMode}, r.Modes.Modes},
		{option{agent.Option{AgentOption: ahp.AgentOption{ID: modelOption, Name: "Model"}, Value: r.Models.Model}, setModel}, r.Models.Models},
	} {
		op := offer.option
		op.Category = op.ID
		if len(offer.offers) == 0 || slices.ContainsFunc(o.all, func(have option) bool { return have.Category == op.ID || have.ID == op.ID }) {
			continue
		}
		for _, a := range offer.offers[:min(len(offer.offers), maxChoices)] {
			id := cmp.Or(a.ID, a.ModelID)
			op.Choices = append(op.Choices, agent.Choice{ID: id, Name: cmp.Or(clip(a.Name, 200), id), Description: clip(a.Description, 2000)})
		}
		o.all = append(o.all, op)
	}
}

// config replaces the configuration options, and the modes and models that they stand for.
func (o *options) config(list []configOption) {
	kept := o.all[:0:0]
	for _, c := range list[:min(len(list), maxOptions)] {
		op := option{by: setConfig, Option: agent.Option{Value: plainValue(c.Current), AgentOption: ahp.AgentOption{
			ID: c.ID, Name: cmp.Or(clip(c.Name, 200), c.ID), Description: clip(c.Description, 2000), Category: clip(c.Category, 100),
			Boolean: c.Type == "boolean", Choices: choices(nil, c.Options, ""),
		}}}
		if c.ID != "" && (op.Boolean || c.Type == "select" || len(op.Choices) > 0) {
			kept = append(kept, op)
		}
	}
	for _, op := range o.all {
		if op.by != setConfig && !slices.ContainsFunc(kept, func(k option) bool { return k.Category == op.Category || k.ID == op.ID }) {
			kept = append(kept, op)
		}
	}
	o.all = kept
}

func choices(to []agent.Choice, from []configChoice, group string) []agent.Choice {
	for _, c := range from {
		if len(to) >= maxChoices {
			break
		}
		if c.Options != nil {
			to = choices(to, c.Options, cmp.Or(clip(c.Name, 200), c.Group))
			continue
		}
		to = append(to, agent.Choice{ID: c.Value, Name: cmp.Or(clip(c.Name, 200), c.Value), Description: clip(c.Description, 2000), Group: group})
	}
	return to
}

// plainValue returns the text of a JSON string, or the JSON of a boolean.
func plainValue(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return clip(string(raw), 200)
}

func (s *session) SetOption(ctx context.Context, id, value string) error {
	defer s.wake()()
	s.mu.Lock()
	l, op, session, rested := s.l, s.options.find(id), s.id, s.l == nil && s.rest.last != nil
	var was option
	if op != nil {
		was = *op
	}
	s.mu.Unlock()
	switch {
	case op == nil:
		return &agent.Refusal{Text: fmt.Sprintf("the agent %s has no option %q", s.p.c.ID, id)}
	case was.Boolean && value != "true" && value != "false":
		return &agent.Refusal{Text: fmt.Sprintf("%s is %q: use true or false", was.Name, value)}
	case !was.Boolean && len(was.Choices) > 0 && !slices.ContainsFunc(was.Choices, func(c agent.Choice) bool { return c.ID == value }):
		return &agent.Refusal{Text: fmt.Sprintf("%s has no choice %q", was.Name, value)}
	case rested:
		var err error
		if l, err = s.running(ctx); err != nil {
			return err
		}
	case l == nil || !l.alive():
		return agent.Errorf(agent.KindCrashed, "the agent %s does not run: send it a message first", s.p.c.ID)
	}
	ctx, cancel := context.WithTimeout(ctx, s.p.c.Start)
	defer cancel()
	switch was.by {
	case setMode:
		return s.changed(l.call(ctx, methodSetMode, map[string]string{"sessionId": session, "modeId": value}, nil), id, value)
	case setModel:
		return s.changed(l.call(ctx, methodSetModel, map[string]string{"sessionId": session, "modelId": value}, nil), id, value)
	}
	params := map[string]any{"sessionId": session, "configId": id, "value": value}
	if was.Boolean {
		params["type"], params["value"] = "boolean", value == "true"
	}
	var r struct {
		ConfigOptions *[]configOption `json:"configOptions"`
	}
	if err := l.call(ctx, methodSetConfig, params, &r); err != nil {
		return err
	}
	if r.ConfigOptions == nil {
		return s.changed(nil, id, value)
	}
	s.tellOptions(func(o *options) { o.config(*r.ConfigOptions) })
	return nil
}

// changed notes an option's new value after the agent has accepted it.
func (s *session) changed(err error, id, value string) error {
	if err != nil {
		return err
	}
	s.tellOptions(func(o *options) {
		if op := o.find(id); op != nil {
			op.Value = value
		}
	})
	return nil
}

func (s *session) tellOptions(change func(*options)) {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.mu.Lock()
	before := len(s.options.all)
	change(&s.options)
	list := make([]agent.Option, 0, len(s.options.all))
	for _, op := range s.options.all {
		list = append(list, op.Option)
	}
	s.mu.Unlock()
	if before+len(list) == 0 {
		return
	}
	for _, o := range list {
		if o.Category == modelOption {
			s.p.mu.Lock()
			s.p.info.Models = o.Choices
			s.p.mu.Unlock()
		}
	}
	s.spec.Events.Options(list)
}
