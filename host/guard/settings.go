package guard

import (
	"tandemux/internal/config/option"
)

// Settings are what agents may do that reach the host from the side. They take
// effect at the next thing that an agent does.
type Settings struct {
	limits   Limits // but for its patterns
	patterns []string
}

// Limits is what was set.
func (s *Settings) Limits() Limits {
	l := s.limits
	l.Policy.Patterns = Patterns(s.patterns)
	return l
}

// Options gives the options, which keep their values in s.
func (s *Settings) Options() []option.Option {
	d := DefaultLimits()
	return []option.Option{
		{
			Name: "agent-spawns", Value: option.Default(&s.limits.Spawns, d.Spawns), Max: 10000,
			Doc: "How many background terminals an agent may start in a minute; 0 is any number.",
		},
		{
			Name: "agent-terminals", Value: option.Default(&s.limits.Terminals, d.Terminals), Max: 1000,
			Doc: "How many background terminals an agent may have at once; 0 is any number.",
		},
		{
			Name: "agent-calls", Value: option.Default(&s.limits.Calls, d.Calls), Max: 1000,
			Doc: "How many commands an agent may run at once, each in a terminal of its own; 0 is any number.",
		},
		{
			Name: "agent-idle", Value: option.Default(&s.limits.Idle, d.Idle), Max: 30 * 86400,
			Doc: "After how many seconds without input and output an agent's background terminal is ended; 0 is never.",
		},
		{
			Name: "agent-blocked", Value: option.Default(&s.limits.Policy.Commands, d.Policy.Commands),
			Doc: "Programs that agents may not run, also behind env, nice, sh -c and the like. A seat belt, not a wall: docs/mcp.md.",
		},
		{
			Name: "agent-patterns", Value: option.Default(&s.patterns, PatternNames()),
			Doc: "What agents may not write into a command: texts, and the names of those that are found however they are written.",
		},
	}
}
