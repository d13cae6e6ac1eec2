package budget

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"tandemux/internal/config/option"
)

// Kind is something that a limit is about.
type Kind string

const (
	Tokens Kind = "tokens"
	Cost   Kind = "cost"
	Time   Kind = "time"
	Disk   Kind = "disk"
)

// The highest values of limits.
const (
	maxTokens  = int64(1e15)
	maxCost    = 1e9
	maxSeconds = int64(366 * 24 * time.Hour / time.Second)
	maxBytes   = int64(1) << 50
)

// Limits says how much a task may use. A nil limit was not given; 0 means no limit.
type Limits struct {
	Tokens  *int64   `json:"max_tokens,omitempty" flag:"max-tokens" doc:"How many tokens, in and out, it may use, of what its agent reports; 0: any number. The configuration's when absent"`
	Cost    *float64 `json:"max_cost,omitempty" flag:"max-cost" value:"AMOUNT" doc:"What it may cost, in the currency that its agent reports; 0: any amount. The configuration's when absent"`
	Seconds *int64   `json:"max_seconds,omitempty" doc:"How long its turns may run in all, without the time in which it waits for answers; 0: any time. The configuration's when absent"`
	Bytes   *int64   `json:"max_bytes,omitempty" doc:"How many bytes its files may take on the disk; 0: as many as there are. The configuration's when absent"`
}

// Check returns an error if a limit is out of range.
func (l Limits) Check() error {
	switch {
	case l.Tokens != nil && (*l.Tokens < 0 || *l.Tokens > maxTokens):
		return fmt.Errorf("max_tokens is a number of tokens from 0 to %d", maxTokens)
	case l.Cost != nil && !(*l.Cost >= 0 && *l.Cost <= maxCost):
		return fmt.Errorf("max_cost is an amount from 0 to %.0f", maxCost)
	case l.Bytes != nil && (*l.Bytes < 0 || *l.Bytes > maxBytes):
		return fmt.Errorf("max_bytes is a number of bytes from 0 to %d", maxBytes)
	case l.Seconds != nil && (*l.Seconds < 0 || *l.Seconds > maxSeconds):
		return fmt.Errorf("max_seconds is a number of seconds from 0 to %d", maxSeconds)
	}
	return nil
}

// Or returns l, with other's limits where l has none.
func (l Limits) Or(other Limits) Limits {
	return Limits{cmp.Or(l.Tokens, other.Tokens), cmp.Or(l.Cost, other.Cost), cmp.Or(l.Seconds, other.Seconds), cmp.Or(l.Bytes, other.Bytes)}
}

// Within reports whether l has all limits that other has, none of them higher.
func (l Limits) Within(other Limits) bool {
	return within(l.Tokens, other.Tokens) && within(l.Cost, other.Cost) && within(l.Seconds, other.Seconds) && within(l.Bytes, other.Bytes)
}

func within[T int64 | float64](n, most *T) bool {
	return most == nil || *most == 0 || n != nil && *n > 0 && *n <= *most
}

// AllAgents is the name in Defaults of the limits for all agents.
const AllAgents = "all"

// Defaults has the limits of new tasks by their agents' names. It is the value of an option
// (option.Tables).
type Defaults map[string]Limits

// Options returns the options whose values are stored in d.
func (d *Defaults) Options() []option.Option {
	return []option.Option{{
		Name: "budgets", Value: d,
		Doc: `What each new task may use: of an agent by its name, and where that says nothing, of all. Else as much as it likes: docs/tasks.md.`,
		Example: []string{
			"[budgets.all]", "max-time = 7200   # seconds in which its turns run",
			"[budgets.claude]", "max-tokens = 2000000", "max-cost = 5.0   # in the currency that the agent reports", `max-disk = "2G"   # for all its files`,
		},
	}}
}

var tables = option.Named[Limits]{
	Option: "budgets", Such: "[budgets.all]", What: "a budget",
	Members: []string{"max-tokens", "max-cost", "max-time", "max-disk"}, Set: (*Limits).set,
}

// Set implements option.Tables.
func (d *Defaults) Set(raw any) (path []string, err error) {
	return tables.Read((*map[string]Limits)(d), raw)
}

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
	case "max-disk":
		text, is := raw.(string)
		if n, err := ParseBytes(text); !is || err != nil {
			return errors.New("must be how many bytes its files may take, such as \"512M\" or \"2G\"; \"0\" is no limit")
		} else {
			l.Bytes = &n
		}
	}
	return nil
}

// Of returns the limits of new tasks of an agent.
func (d Defaults) Of(agent string) Limits { return d[agent].Or(d[AllAgents]) }

// seconds formats a limit of time for people.
func seconds(n float64) string {
	return (time.Duration(math.Round(n)) * time.Second).String()
}

// units are the units of sizes.
var units = []struct {
	letter string
	bytes  int64
}{{"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}}

// ParseBytes parses a size such as 512M or 2G.
func ParseBytes(text string) (int64, error) {
	number, unit := strings.ToUpper(text), int64(1)
	for _, u := range units {
		if n, is := strings.CutSuffix(number, u.letter); is {
			number, unit = n, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > maxBytes/unit {
		return 0, fmt.Errorf("%.40q is no size; give bytes such as 512M or 2G", text)
	}
	return n * unit, nil
}

// roughly formats a size for people.
func roughly(n int64) string {
	for _, u := range units {
		if n >= u.bytes {
			return strings.TrimSuffix(strconv.FormatFloat(float64(n)/float64(u.bytes), 'f', 1, 64), ".0") + u.letter
		}
	}
	return strconv.FormatInt(n, 10)
}
