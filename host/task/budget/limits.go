package budget

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"tandemux/internal/config/option"
	"tandemux/internal/spelling"
)

// Kind is what is limited.
type Kind string

const (
	Tokens Kind = "tokens"
	Cost   Kind = "cost"
	Time   Kind = "time"
)

// The most that limits may be.
const (
	maxTokens  = int64(1e15)
	maxCost    = 1e9
	maxSeconds = int64(366 * 24 * time.Hour / time.Second)
)

// Limits are what a task may use. One that is nil was not given; 0 is none.
type Limits struct {
	Tokens  *int64   `json:"max_tokens,omitempty" flag:"max-tokens" doc:"How many tokens, in and out, it may use, of what its agent reports; 0: any number. The configuration's when absent"`
	Cost    *float64 `json:"max_cost,omitempty" flag:"max-cost" value:"AMOUNT" doc:"What it may cost, in the currency that its agent reports; 0: any amount. The configuration's when absent"`
	Seconds *int64   `json:"max_seconds,omitempty" doc:"How long its turns may run in all, without the time in which it waits for answers; 0: any time. The configuration's when absent"`
}

// Check says what is wrong with limits.
func (l Limits) Check() error {
	switch {
	case l.Tokens != nil && (*l.Tokens < 0 || *l.Tokens > maxTokens):
		return fmt.Errorf("max_tokens is a number of tokens from 0 to %d", maxTokens)
	case l.Cost != nil && !(*l.Cost >= 0 && *l.Cost <= maxCost):
		return fmt.Errorf("max_cost is an amount from 0 to %.0f", maxCost)
	case l.Seconds != nil && (*l.Seconds < 0 || *l.Seconds > maxSeconds):
		return fmt.Errorf("max_seconds is a number of seconds from 0 to %d", maxSeconds)
	}
	return nil
}

// Or is l, and where it has nothing, other.
func (l Limits) Or(other Limits) Limits {
	return Limits{or(l.Tokens, other.Tokens), or(l.Cost, other.Cost), or(l.Seconds, other.Seconds)}
}

func or[T any](a, b *T) *T {
	if a == nil {
		return b
	}
	return a
}

// Within reports whether l limits all that other does, at least as much.
func (l Limits) Within(other Limits) bool {
	return within(l.Tokens, other.Tokens) && within(l.Cost, other.Cost) && within(l.Seconds, other.Seconds)
}

func within[T int64 | float64](n, most *T) bool {
	return most == nil || *most == 0 || n != nil && *n > 0 && *n <= *most
}

// AllAgents is the name in Defaults of all agents.
const AllAgents = "all"

// Defaults are the limits of new tasks, by their agents' names. It is an option's value
// (option.Tables).
type Defaults map[string]Limits

// Options gives the options, which keep their values in d.
func (d *Defaults) Options() []option.Option {
	return []option.Option{{
		Name: "budgets", Value: d,
		Doc: `What each new task may use: of an agent by its name, and where that says nothing, of all. Else as much as it likes: docs/tasks.md.`,
		Example: []string{
			"[budgets.all]", "max-time = 7200   # seconds in which its turns run",
			"[budgets.claude]", "max-tokens = 2000000", "max-cost = 5.0   # in the currency that the agent reports",
		},
	}}
}

var members = []string{"max-tokens", "max-cost", "max-time"}

// Set implements option.Tables.
func (d *Defaults) Set(raw any) (path []string, err error) {
	begin := func(string) (l Limits, err error) { return l, nil }
	all, path, err := option.Named("budgets", "[budgets.all]", raw, begin, (*Limits).set, func(*Limits) error { return nil })
	if err == nil {
		*d = all
	}
	return path, err
}

// set takes a member.
func (l *Limits) set(name string, raw any) error {
	n, whole := raw.(int64)
	amount, is := raw.(float64)
	if whole {
		amount = float64(n)
	}
	switch name {
	case "max-tokens":
		if l.Tokens = &n; !whole || l.Check() != nil {
			return fmt.Errorf("must be a number of tokens from 0 to %d; 0 is no limit", maxTokens)
		}
	case "max-cost":
		if l.Cost = &amount; !whole && !is || l.Check() != nil {
			return fmt.Errorf("must be an amount such as 2.5, from 0 to %.0f; 0 is no limit", maxCost)
		}
	case "max-time":
		if l.Seconds = &n; !whole || l.Check() != nil {
			return fmt.Errorf("must be a whole number of seconds from 0 to %d; 0 is no limit", maxSeconds)
		}
	default:
		err := fmt.Errorf("is nothing that a budget has; it may have %s", strings.Join(members, ", "))
		if near := spelling.Closest(name, members); near != "" {
			err = fmt.Errorf("is nothing that a budget has; did you mean %q?", near)
		}
		return err
	}
	return nil
}

// TOML gives the tables as the file has them.
func (d *Defaults) TOML() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(*d)) {
		l := (*d)[name]
		fmt.Fprintf(&b, "[budgets.%s]\n", name)
		if l.Tokens != nil {
			fmt.Fprintf(&b, "max-tokens = %d\n", *l.Tokens)
		}
		if l.Cost != nil {
			fmt.Fprintf(&b, "max-cost = %v\n", *l.Cost)
		}
		if l.Seconds != nil {
			fmt.Fprintf(&b, "max-time = %d\n", *l.Seconds)
		}
	}
	return b.String()
}

// Of is what holds for new tasks of an agent.
func (d Defaults) Of(agent string) Limits { return d[agent].Or(d[AllAgents]) }

// seconds is a limit of time as people read it.
func seconds(n float64) string {
	return (time.Duration(math.Round(n)) * time.Second).String()
}
