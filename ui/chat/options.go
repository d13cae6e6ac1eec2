package chat

import (
	"fmt"
	"slices"

	"tandemux/ahp"
	"tandemux/ui/words"
)

// settings reads and sets a session's options.
type settings struct {
	*Session
	do *Actions
}

func (c *Chat) settings() settings { return settings{&c.session, &c.do} }

// confirm is the host's own option: when a person is asked before a tool runs.
var confirm = ahp.AgentOption{ID: "tandemux/confirm", Name: "Ask before tools run", Choices: []ahp.AgentChoice{
	{ID: ahp.ConfirmAsk, Name: "whenever the agent asks"},
	{ID: ahp.ConfirmReads, Name: "not for those that only read"},
	{ID: ahp.ConfirmAll, Name: "never"},
}}

// chosen returns the index of an option's value among its choices, -1 for none.
func (s settings) chosen(o ahp.AgentOption) int {
	now := fmt.Sprint(s.Values[o.ID])
	i := slices.IndexFunc(o.Choices, func(ch ahp.AgentChoice) bool { return ch.ID == now })
	if i < 0 && o.ID == confirm.ID {
		return 0
	}
	return i
}

// all lets the person choose an option to set.
func (s settings) all() {
	options := append(slices.Clip(s.Options), confirm)
	if len(options) == 1 {
		s.set(confirm)
		return
	}
	var rows []string
	for _, o := range options {
		now := ""
		if i := s.chosen(o); i >= 0 {
			now = o.Choices[i].Name
		} else if o.Boolean {
			now = map[bool]string{true: "on", false: "off"}[s.Values[o.ID] == true]
		}
		rows = append(rows, words.Line(o.Name)+": "+words.Line(now))
	}
	s.do.Choose("Options", rows, 0, func(i int) { s.set(options[i]) })
}

// choose lets the person choose the value of the option of a category.
func (s settings) choose(category string) {
	for _, o := range s.Options {
		if o.Category == category {
			s.set(o)
			return
		}
	}
	s.do.Say(false, "this agent has no "+category+" to choose")
}

// set lets the person choose an option's value, or toggles a boolean option.
func (s settings) set(o ahp.AgentOption) {
	if o.Boolean {
		s.do.Configure(o.ID, s.Values[o.ID] != true)
		return
	}
	var rows []string
	for _, ch := range o.Choices {
		text := words.Line(ch.Name)
		if d := words.Line(ch.Description); d != "" {
			text += "  " + d
		}
		rows = append(rows, text)
	}
	s.do.Choose(words.Line(o.Name), rows, max(s.chosen(o), 0), func(i int) { s.do.Configure(o.ID, o.Choices[i].ID) })
}

// nextMode selects the agent's next mode.
func (s settings) nextMode() {
	for _, o := range s.Options {
		if o.Category == "mode" && len(o.Choices) > 0 {
			next := o.Choices[(s.chosen(o)+1)%len(o.Choices)]
			s.do.Configure(o.ID, next.ID)
			s.do.Say(false, "mode: "+words.Line(next.Name))
			return
		}
	}
	s.do.Say(false, "this agent has no modes")
}

// said returns the values to show. If there is no room, the first are left out first.
func (s settings) said() []string {
	var out []string
	for _, category := range []string{"mode", "model"} {
		for _, o := range s.Options {
			if i := s.chosen(o); o.Category == category && i >= 0 {
				out = append(out, words.Line(o.Choices[i].Name))
			}
		}
	}
	switch s.Values[confirm.ID] {
	case ahp.ConfirmReads:
		out = append(out, "reads allowed")
	case ahp.ConfirmAll:
		out = append(out, "all allowed")
	}
	return out
}
