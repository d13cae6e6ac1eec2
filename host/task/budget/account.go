package budget

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Seen is what a turn has used so far. What is nil was not reported.
type Seen struct {
	Turn string // its id
	// Session is the session that reported Cost.
	Session  string
	Tokens   *int64
	Cost     *float64 // of the session so far
	Currency string
	Began    bool // the turn began; a turn that did not is not counted
	Ended    bool
	Took     time.Duration // its duration according to its session, once it has ended
}

// Account is what a task has used: the sum of the turns before the last one, and the last turn.
type Account struct {
	Turns    int     `json:"turns,omitempty"` // turns before the last
	Tokens   int64   `json:"tokens,omitempty"`
	Cost     float64 `json:"cost,omitempty"`
	Currency string  `json:"currency,omitempty"`
	Millis   int64   `json:"millis,omitempty"`
	// NoTokens and NoCost count the turns before the last whose tokens or cost are not known.
	NoTokens int `json:"no_tokens,omitempty"`
	NoCost   int `json:"no_cost,omitempty"`

	Last Turn `json:"last,omitzero"`

	// Session is the session that reported a cost last, and Meter that cost.
	Session string  `json:"session,omitempty"`
	Meter   float64 `json:"meter,omitempty"`

	// Bytes is the size of the files when they were last measured; nil if they never were.
	Bytes *int64 `json:"bytes,omitempty"`

	// Stopped is the id of the turn that was stopped because a limit was reached.
	Stopped string `json:"stopped,omitempty"`
}

// Turn is what the task's last turn has used.
type Turn struct {
	ID     string   `json:"id"`
	Tokens *int64   `json:"tokens,omitempty"`
	Cost   *float64 `json:"cost,omitempty"`
	Millis int64    `json:"millis,omitempty"`
	Ended  bool     `json:"ended,omitempty"`
}

// Count takes account of what a turn has used, and of how long it ran since the last Count. Reports
// about the same turn replace each other.
func (a *Account) Count(s Seen, ran time.Duration) {
	if s.Turn != a.Last.ID {
		a.fold()
		a.Last = Turn{ID: s.Turn}
	}
	t := &a.Last
	t.Millis += ran.Milliseconds()
	t.Ended = t.Ended || s.Ended
	if s.Tokens != nil && (t.Tokens == nil || *s.Tokens > *t.Tokens) {
		t.Tokens = s.Tokens
	}
	if strings.ContainsFunc(s.Currency, func(r rune) bool { return r < 'A' || r > 'Z' }) {
		s.Currency = "" // the agent reported something that is no currency
	}
	if s.Cost == nil || *s.Cost < 0 || a.Currency != "" && s.Currency != "" && s.Currency != a.Currency {
		return // amounts in another currency can't be added, so this one counts as unknown
	}
	if a.Session != s.Session {
		a.Session, a.Meter = s.Session, 0
	}
	more := *s.Cost
	if more >= a.Meter {
		more -= a.Meter
	}
	a.Meter = *s.Cost
	if t.Cost != nil {
		more += *t.Cost
	}
	t.Cost = &more
	if s.Currency != "" {
		a.Currency = s.Currency
	}
}

func (a *Account) fold() {
	t := a.Last
	if t.ID == "" {
		return
	}
	a.Turns++
	a.Millis += t.Millis
	if t.Tokens == nil {
		a.NoTokens++
	} else {
		a.Tokens += *t.Tokens
	}
	if t.Cost == nil {
		a.NoCost++
	} else {
		a.Cost += *t.Cost
	}
}

// Used is what a task has used, as people and programs see it.
type Used struct {
	Tokens   *int64   `json:"tokens,omitempty" doc:"In and out, as its agent reports; absent where it never did"`
	Cost     *float64 `json:"cost,omitempty" doc:"As its agent reports; absent where it never did"`
	Currency string   `json:"currency,omitempty" doc:"Of the cost, where its agent says it"`
	Seconds  float64  `json:"seconds" doc:"In which its turns ran, without the time in which it waited for answers"`
	Turns    int      `json:"turns" doc:"Of its agent's, the one that runs among them"`
	NoTokens int      `json:"turns_without_tokens,omitempty" doc:"Turns that have ended without a word about their tokens, which are not in tokens"`
	NoCost   int      `json:"turns_without_cost,omitempty" doc:"The same of their cost"`
	Bytes    *int64   `json:"bytes,omitempty" doc:"What its files took on the disk when they were last measured, as is done where there is a limit"`
}

func (a Account) Used() Used {
	unknownTokens, unknownCost := a.NoTokens, a.NoCost
	t := a.Last
	a.fold()
	u := Used{Currency: a.Currency, Seconds: float64(a.Millis) / 1000, Turns: a.Turns, NoTokens: a.NoTokens, NoCost: a.NoCost, Bytes: a.Bytes}
	if !t.Ended { // it may still report them
		u.NoTokens, u.NoCost = unknownTokens, unknownCost
	}
	if a.Turns > a.NoTokens {
		u.Tokens = &a.Tokens
	}
	if a.Turns > a.NoCost {
		u.Cost = &a.Cost
	}
	return u
}

// View is a task's budget, as people and programs see it.
type View struct {
	Limits
	Used   Used   `json:"used"`
	Over   Kind   `json:"over,omitempty" enum:"tokens,cost,time,disk" doc:"The limit that was reached: nothing more is begun before it is raised"`
	Reason string `json:"reason,omitempty" doc:"Which limit was reached, and how much was used, for people"`
	// Unknown are limits that may be exceeded unnoticed.
	Unknown []Kind `json:"unknown,omitempty" doc:"The limits that are not sure to hold, as its agent does not always report what they are about"`
}

// ViewOf returns the view of limits and an account.
func ViewOf(l Limits, a Account) View {
	v := View{Limits: l, Used: a.Used()}
	u := v.Used
	over := func(kind Kind, used, most string) {
		if v.Over == "" {
			v.Over, v.Reason = kind, fmt.Sprintf("the budget is used up: %s of %s", used, most)
		}
	}
	if n := l.Tokens; n != nil && *n > 0 {
		if u.Tokens != nil && *u.Tokens >= *n {
			over(Tokens, strconv.FormatInt(*u.Tokens, 10), strconv.FormatInt(*n, 10)+" tokens")
		}
		if u.NoTokens > 0 {
			v.Unknown = append(v.Unknown, Tokens)
		}
	}
	if n := l.Cost; n != nil && *n > 0 {
		if u.Cost != nil && *u.Cost >= *n {
			over(Cost, Amount(*u.Cost, ""), Amount(*n, u.Currency))
		}
		if u.NoCost > 0 {
			v.Unknown = append(v.Unknown, Cost)
		}
	}
	if n := l.Seconds; n != nil && *n > 0 && u.Seconds >= float64(*n) {
		over(Time, seconds(u.Seconds), seconds(float64(*n)))
	}
	if n := l.Bytes; n != nil && *n > 0 && u.Bytes != nil && *u.Bytes > *n {
		over(Disk, roughly(*u.Bytes), roughly(*n)+" of files")
	}
	return v
}

// Amount formats a cost for people, with two or more decimals.
func Amount(n float64, currency string) string {
	text := strconv.FormatFloat(n, 'f', 2, 64)
	if n > 0 && n < 1 {
		text = strconv.FormatFloat(n, 'f', 4, 64)
	}
	if currency != "" {
		text += " " + currency
	}
	return text
}

// Words describes what was used and the limits, with a line for each kind.
func (v View) Words() []string {
	u, all := v.Used, v.Limits.Or(Limits{new(int64), new(float64), new(int64), new(int64)})
	line := func(kind Kind, used string, known bool, silent int, limited bool, most string) string {
		switch {
		case !known && silent > 0:
			used = "not reported by the agent"
		case !known:
			used = "not reported yet"
		case silent > 0:
			used = "at least " + used
		}
		if limited {
			used += " of " + most
		}
		if slices.Contains(v.Unknown, kind) {
			used += ": the limit may be passed unseen"
		}
		return fmt.Sprintf("%-7s%s", kind, used)
	}
	tokens, cost := "", ""
	if u.Tokens != nil {
		tokens = strconv.FormatInt(*u.Tokens, 10)
	}
	if u.Cost != nil {
		cost = Amount(*u.Cost, u.Currency)
	}
	words := []string{
		line(Tokens, tokens, u.Tokens != nil, u.NoTokens, *all.Tokens > 0, strconv.FormatInt(*all.Tokens, 10)),
		line(Cost, cost, u.Cost != nil, u.NoCost, *all.Cost > 0, Amount(*all.Cost, u.Currency)),
		line(Time, seconds(u.Seconds), true, 0, *all.Seconds > 0, seconds(float64(*all.Seconds))),
	}
	if *all.Bytes > 0 {
		used := "not measured yet"
		if u.Bytes != nil {
			used = roughly(*u.Bytes)
		}
		words = append(words, line(Disk, used, true, 0, true, roughly(*all.Bytes)))
	}
	return words
}
