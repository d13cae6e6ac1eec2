package guard

import (
	"tandemux/internal/config/option"
)

// Settings are what agents may do that reach the host from the side. They take
// effect at the next thing that an agent does.
type Settings struct {
	limits   Limits // but for its patterns
	patterns []string
	policy   string
}

// The values of agent-policy.
const (
	policyAsk    = "ask"
	policyStrict = "strict"
)

// Limits is what was set.
func (s *Settings) Limits() Limits {
	l := s.limits
	l.Policy.Patterns, l.Policy.Uses = Patterns(s.patterns), s.policy != policyStrict
	return l
}

// Options gives the options, which keep their values in s.
func (s *Settings) Options() []option.Option {
	d := DefaultLimits()
	return []option.Option{
		{
			Name: "agent-spawns", Value: option.Default(&s.limits.Spawns, d.Spawns), Max: 10000,
			Doc: "Background terminals that an agent may start in a minute; 0: any number.",
		},
		{
			Name: "agent-terminals", Value: option.Default(&s.limits.Terminals, d.Terminals), Max: 1000,
			Doc: "Those that it may have at once; 0: any number.",
		},
		{
			Name: "agent-calls", Value: option.Default(&s.limits.Calls, d.Calls), Max: 1000,
			Doc: "Commands that it may run at once; 0: any number.",
		},
		{
			Name: "agent-idle", Value: option.Default(&s.limits.Idle, d.Idle), Max: 30 * 86400,
			Doc: "After how many silent seconds its background terminal ends; 0: never.",
		},
		{
			Name: "agent-policy", Value: option.Default(&s.policy, policyAsk), Choices: []string{policyAsk, policyStrict},
			Doc: "Whether you are asked when an agent runs one of agent-blocked or agent-patterns dangerously (ask), or it is refused wherever it stands (strict), as it is where you can't be.",
		},
		{
			Name: "agent-blocked", Value: option.Default(&s.limits.Policy.Commands, d.Policy.Commands),
			Doc: "Programs that agents may not run by themselves. A seat belt, not a wall: docs/agents.md.",
		},
		{
			Name: "agent-patterns", Value: option.Default(&s.patterns, PatternNames()),
			Doc: "What agents may not do by themselves in a shell's line; a text of your own is looked for as it is.",
		},
	}
}
