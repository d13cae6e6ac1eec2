package config

import (
	"fmt"
	"slices"

	"tandemux/host/guard"
)

// What agents may do that reach the host from the side. They take effect at the
// next thing that an agent does.
func init() {
	number := func(name, doc, def string, most int, of func(c *Config) *int) Option {
		return Option{
			Name: name, Kind: Int, Default: def, Min: 0, Max: most, Doc: doc,
			put: func(c *Config, v value) error { *of(c) = v.n; return nil },
			get: func(c *Config) string { return fmt.Sprint(*of(c)) },
		}
	}
	list := func(name, doc string, def []string, of func(c *Config) *[]string) Option {
		return Option{
			Name: name, Kind: List, Default: tomlList(def), Doc: doc,
			put: func(c *Config, v value) error { *of(c) = v.list; return nil },
			get: func(c *Config) string { return tomlList(*of(c)) },
		}
	}
	limits := guard.DefaultLimits()
	// Before the tables: what follows one in the file is a part of it.
	options = slices.Insert(
		options, slices.IndexFunc(options, func(o Option) bool { return o.Kind == Table }),
		number("agent-spawns", "How many background terminals an agent may start in a minute; 0 is any number.", fmt.Sprint(limits.Spawns), 10000, func(c *Config) *int { return &c.AgentSpawns }),
		number("agent-terminals", "How many background terminals an agent may have at once; 0 is any number.", fmt.Sprint(limits.Terminals), 1000, func(c *Config) *int { return &c.AgentTerminals }),
		number("agent-calls", "How many commands an agent may run at once, each in a terminal of its own; 0 is any number.", fmt.Sprint(limits.Calls), 1000, func(c *Config) *int { return &c.AgentCalls }),
		number("agent-idle", "After how many seconds without input and output an agent's background terminal is ended; 0 is never.", fmt.Sprint(limits.Idle.Seconds()), 30*86400, func(c *Config) *int { return &c.AgentIdle }),
		list("agent-blocked", "Programs that agents may not run, also behind env, nice, sh -c and the like. A seat belt, not a wall: docs/mcp.md.", limits.Policy.Commands, func(c *Config) *[]string { return &c.AgentBlocked }),
		list("agent-patterns", "What agents may not write into a command: texts, and the names of those that are found however they are written.", guard.PatternNames(), func(c *Config) *[]string { return &c.AgentPatterns }),
	)
}
