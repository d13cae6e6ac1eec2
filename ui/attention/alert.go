package attention

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/internal/config/option"
)

// Kind is the kind of an alert.
type Kind uint8

// The kinds, the most important first.
const (
	None    Kind = iota
	Waiting      // its program waits for a person (OSC 7501: blocked)
	Failed       // a long command, or what its program reports on, has failed
	Noted        // a notification
	Rang         // the bell
	Passed       // a long command, or what its program reports on, has succeeded
	Printed      // output after a silence
)

// name is a name in the configuration for some kinds.
type name struct {
	name, doc string
	kinds     []Kind
}

var names = []name{
	{"waiting", "a program that waits for you", []Kind{Waiting}},
	{"command", "the end of a long command", []Kind{Failed, Passed}},
	{"note", "a notification", []Kind{Noted}},
	{"bell", "the bell", []Kind{Rang}},
	{"output", "output after ten seconds of silence", []Kind{Printed}},
}

// Names returns the names in the configuration, the most important first.
func Names() []string {
	var list []string
	for _, n := range names {
		list = append(list, n.name)
	}
	return list
}

// Doc describes the names.
func Doc() string {
	var parts []string
	for _, n := range names {
		parts = append(parts, fmt.Sprintf("%q is %s", n.name, n.doc))
	}
	return strings.Join(parts, ", ")
}

// Set is a set of kinds.
type Set uint16

// Choose makes a set of names. An unknown name is an error.
func Choose(list []string) (s Set, err error) {
	for _, want := range list {
		i := slices.IndexFunc(names, func(n name) bool { return n.name == want })
		if i < 0 {
			return 0, fmt.Errorf("there is no kind %q; there are %s", want, strings.Join(Names(), ", "))
		}
		for _, k := range names[i].kinds {
			s |= 1 << k
		}
	}
	return s, nil
}

func (s Set) Has(k Kind) bool { return s&(1<<k) != 0 }

// Alert is something that a person should know about a terminal.
type Alert struct {
	Kind Kind
	At   int64  // Unix milliseconds of the host's clock
	Text string // a short text; it comes from programs, so it may be anything printable
}

// Facts is what is known about a terminal.
type Facts struct {
	Row     ahp.Attention
	Command *ahp.CommandInfo // the newest one; nil for none
	Ask     *ahp.Ask         // an agent's question for the terminal; nil for none
	Long    time.Duration    // the shortest duration of a long command
}

// Of returns the most important alert since a person last saw the terminal; a program that waits
// is one even if it was seen. Without an alert its Kind is None.
func Of(f Facts, of Set) Alert {
	best := Alert{}
	for _, a := range [...]Alert{asked(f.Ask), status(f.Row.Status), command(f.Command, f.Long), noted(f.Row.Note), at(Rang, f.Row.Bell, "bell"), at(Printed, f.Row.Output, "output")} {
		fresh := a.At > f.Row.Seen || a.Kind == Waiting
		if a.Kind != None && of.Has(a.Kind) && fresh && (best.Kind == None || a.Kind < best.Kind) {
			best = a
		}
	}
	return best
}

func at(k Kind, when int64, text string) Alert {
	if when == 0 {
		return Alert{}
	}
	return Alert{k, when, text}
}

// waits is texts about what a program waits for.
var waits = map[string]string{"permission": "asks for permission", "question": "has a question", "auth": "wants you to sign in", "": "waits for you"}

func status(s *ahp.ProgramStatus) Alert {
	if s == nil {
		return Alert{}
	}
	who := cmp.Or(s.Title, s.App)
	words := func(text string) string {
		text = strings.TrimSpace(who + " " + text)
		if s.Text != "" {
			text += ": " + s.Text
		}
		return text
	}
	switch s.State {
	case ahp.StatusBlocked:
		return Alert{Waiting, s.At, words(waits[s.Kind])}
	case ahp.StatusError:
		return Alert{Failed, s.At, words("failed")}
	case ahp.StatusDone:
		return Alert{Passed, s.At, words("is done")}
	}
	return Alert{}
}

func command(c *ahp.CommandInfo, long time.Duration) Alert {
	if c == nil || c.Running || c.DurationMs == nil || long <= 0 {
		return Alert{}
	}
	took := time.Duration(*c.DurationMs) * time.Millisecond
	if took < long {
		return Alert{}
	}
	line, _, more := strings.Cut(c.CommandLine, "\n")
	if more {
		line += " …"
	}
	a := Alert{Kind: Passed, At: c.Timestamp + *c.DurationMs, Text: line + " is done"}
	if c.ExitCode != nil && *c.ExitCode != 0 {
		a.Kind, a.Text = Failed, fmt.Sprintf("%s failed with exit code %d", line, *c.ExitCode)
	}
	return a
}

func asked(a *ahp.Ask) Alert {
	if a == nil {
		return Alert{}
	}
	text := a.Who + " asks for this terminal"
	if a.Panes {
		text = a.Who + " asks for panes for its teammates"
	}
	if a.Command != "" {
		text = a.Who + " asks to run a dangerous command"
	}
	if a.Reason != "" {
		text += ": " + a.Reason
	}
	return Alert{Kind: Waiting, Text: text}
}

func noted(n *ahp.Note) Alert {
	if n == nil {
		return Alert{}
	}
	text := n.Title
	switch {
	case text == "":
		text = n.Body
	case n.Body != "":
		text += ": " + n.Body
	}
	return Alert{Noted, n.At, text}
}

// Refused describes the newest action that an agent was refused, if it is new; else it returns
// "".
func Refused(before, now []ahp.AgentRefusal) string {
	if len(now) == 0 {
		return ""
	}
	last := now[len(now)-1]
	if len(before) > 0 && before[len(before)-1] == last {
		return ""
	}
	text := fmt.Sprintf("%s was not allowed: %s (%s)", last.Agent, last.What, last.Why)
	if last.Count > 1 {
		text += fmt.Sprintf(", %d times", last.Count)
	}
	return text
}

// Alerts configures what is marked and notified. Options describes the fields. A nil Attention
// means all of Names.
type Alerts struct {
	Attention, Notify []string
	Notifications     string // tty.Notifier
	LongCommand       time.Duration
}

// Options returns the options, whose values are stored in s.
func (s *Alerts) Options() []option.Option {
	return []option.Option{
		{
			Name: "attention", Value: option.Default(&s.Attention, Names()), Choices: Names(),
			Doc: "What is marked while you look elsewhere: " + Doc() + ".",
		},
		{
			Name: "long-command", Value: option.Default(&s.LongCommand, 10*time.Second), Max: 86400,
			Doc: "From how many seconds on a command's end is marked; 0: never.",
		},
		{
			Name: "notify", Value: option.Default(&s.Notify, []string{"note"}), Choices: Names(), // which programs ask for themselves
			Doc: "Which of attention's marks your terminal also shows as notifications.",
		},
		{
			Name: "notifications", Value: option.Default(&s.Notifications, "auto"), Choices: []string{"auto", "off", "osc9", "osc99", "osc777"},
			Doc: "The sequence for that.",
		},
	}
}
