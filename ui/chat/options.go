package chat

import (
	"fmt"
	"slices"

	"tandemux/ahp"
	"tandemux/ui/words"
)

// confirm is the option of the host's: when a person is asked before a tool runs.
var confirm = ahp.AgentOption{ID: "tandemux/confirm", Name: "Ask before tools run", Choices: []ahp.AgentChoice{
	{ID: ahp.ConfirmAsk, Name: "whenever the agent asks"},
	{ID: ahp.ConfirmReads, Name: "not for those that only read"},
	{ID: ahp.ConfirmAll, Name: "never"},
}}

// chosen is the index of an option's value among its choices, -1 for none.
func (c *Chat) chosen(o ahp.AgentOption) int {
	now := fmt.Sprint(c.session.Values[o.ID])
	i := slices.IndexFunc(o.Choices, func(ch ahp.AgentChoice) bool { return ch.ID == now })
	if i < 0 && o.ID == confirm.ID {
		return 0
	}
	return i
}

// chooseOption offers all options.
func (c *Chat) chooseOption() {
	options := append(slices.Clip(c.session.Options), confirm)
	if len(options) == 1 {
		c.setOption(confirm)
		return
	}
	var rows []string
	for _, o := range options {
		now := ""
		if i := c.chosen(o); i >= 0 {
			now = o.Choices[i].Name
		} else if o.Boolean {
			now = map[bool]string{true: "on", false: "off"}[c.session.Values[o.ID] == true]
		}
		rows = append(rows, words.Line(o.Name)+": "+words.Line(now))
	}
	c.do.Choose("Options", rows, 0, func(i int) { c.setOption(options[i]) })
}

// chooseIn offers the values of an option of a category.
func (c *Chat) chooseIn(category string) {
	for _, o := range c.session.Options {
		if o.Category == category {
			c.setOption(o)
			return
		}
	}
	c.do.Say(false, "this agent has no "+category+" to choose")
}

// setOption offers an option's values; what is on or off is switched.
func (c *Chat) setOption(o ahp.AgentOption) {
	if o.Boolean {
		c.do.Configure(o.ID, c.session.Values[o.ID] != true)
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
	c.do.Choose(words.Line(o.Name), rows, max(c.chosen(o), 0), func(i int) { c.do.Configure(o.ID, o.Choices[i].ID) })
}

// nextMode takes the next of the agent's modes.
func (c *Chat) nextMode() {
	for _, o := range c.session.Options {
		if o.Category == "mode" && len(o.Choices) > 0 {
			next := o.Choices[(c.chosen(o)+1)%len(o.Choices)]
			c.do.Configure(o.ID, next.ID)
			c.do.Say(false, "mode: "+words.Line(next.Name))
			return
		}
	}
	c.do.Say(false, "this agent has no modes")
}

// chosenWords are what is set, in the order in which it is left out.
func (c *Chat) chosenWords() []string {
	var out []string
	for _, category := range []string{"mode", "model"} {
		for _, o := range c.session.Options {
			if i := c.chosen(o); o.Category == category && i >= 0 {
				out = append(out, words.Line(o.Choices[i].Name))
			}
		}
	}
	switch c.session.Values[confirm.ID] {
	case ahp.ConfirmReads:
		out = append(out, "reads allowed")
	case ahp.ConfirmAll:
		out = append(out, "all allowed")
	}
	return out
}
