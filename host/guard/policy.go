package guard

import (
	"fmt"
	"path"
	"strings"

	"tandemux/internal/config/option"
	"tandemux/internal/plaintext"
)

const (
	// MaxLine bounds a line in bytes.
	MaxLine = 256 << 10
	// maxDepth bounds shells within shells.
	maxDepth = 8
	// maxNesting bounds brackets within brackets.
	maxNesting = 400
)

// Policy says what agents may not run. The zero value refuses only what can't be
// judged.
type Policy struct {
	// Commands are names of programs, wherever in the file system they lie; a
	// name stands for its variants too (mkfs.ext4).
	Commands []string
	// Patterns are checked on the whole text and on each simple command in it.
	Patterns []Pattern
	// Uses has the names and the default patterns count where they are used
	// dangerously, not wherever they stand: "chmod +x run.sh" and "grep eval x" may run.
	Uses bool
	// Allow, where there are any, are the only programs that may run (P18).
	Allow []string
}

// Default is what agents may not run unless a person says otherwise (T10, T11,
// P16).
func Default() Policy {
	return Policy{
		Commands: []string{
			"rm", "sudo", "chmod", "chown", "mkfs", "dd", "fdisk", "shutdown", "reboot", "halt", "poweroff",
			"kill", "killall", "pkill",
		},
		Patterns: defaultPatterns,
	}
}

// Rule is what a refused command broke.
type Rule uint8

// The values of Rule.
const (
	RuleCommand Rule = iota // it runs a blocked program
	RulePattern             // it has a blocked pattern in it
	RuleAllow               // it runs a program that is not on the list
	RuleBounds              // it is too long or too deep to be judged
)

// Refusal is why a command may not run. As an error it has ACP's text.
type Refusal struct {
	Rule Rule
	What string // the program or pattern
	// May says that a person may allow it.
	May bool
}

// Error is what the Agent Client Protocol's agents are told (P16, P18).
func (r *Refusal) Error() string {
	switch r.Rule {
	case RuleAllow:
		return "Command not allowed: " + r.What
	case RuleBounds:
		return "Blocked command: " + r.What
	}
	return "Blocked dangerous command: " + r.What
}

// Blocked is what clients of the MCP tools are told (T14).
const Blocked = "Command blocked for security reasons"

// Asked is Blocked with what a person may be asked about, if anything: Asks finds it.
func (r *Refusal) Asked() string {
	if r.May {
		return Blocked + ": " + r.What
	}
	return Blocked
}

// Asks is what a person may be asked about after a refusal.
func Asks(refusal string) (what string, asks bool) { return strings.CutPrefix(refusal, Blocked+": ") }

// Judge decides whether an agent may run a program with its arguments, or a line of a
// shell's if there is one, and a person can answer, or not. Why not is a Refusal.
func (p Policy) Judge(argv []string, line string, answerable bool) error {
	asks := p.Uses
	p.Uses = asks && answerable
	refused := p.Check(argv)
	if line != "" {
		refused = p.CheckLine(line)
	}
	if refused == nil {
		return nil
	}
	r := *refused
	r.May = asks && r.Rule != RuleBounds
	return &r
}

// Check judges a program with its arguments, to be started without a shell. Nil
// means that it may run.
func (p Policy) Check(argv []string) *Refusal {
	if len(argv) == 0 {
		return nil
	}
	size := len(argv)
	for _, a := range argv {
		size += len(a)
	}
	if size > MaxLine {
		return tooLong
	}
	if r := p.pattern(strings.Join(argv, " ")); r != nil {
		return r
	}
	words := make([]word, len(argv))
	for i, a := range argv {
		words[i] = word{text: a, known: true}
	}
	c := checker{policy: p}
	return c.simple(words)
}

// CheckLine judges a line of a shell's language. Nil means that it may run.
func (p Policy) CheckLine(line string) *Refusal {
	c := checker{policy: p}
	return c.line(line)
}

var tooLong = &Refusal{Rule: RuleBounds, What: fmt.Sprintf("longer than %d bytes", MaxLine)}

// blocked is the blocked program that a name, or a glob, stands for; or "".
func (p Policy) blocked(name string) string {
	base := strings.ToLower(path.Base(name))
	for _, c := range p.Commands {
		if base == c || strings.HasPrefix(base, c+".") {
			return c
		}
		if strings.ContainsAny(base, "*?[") {
			if ok, err := path.Match(base, c); ok && err == nil {
				return c
			}
		}
	}
	return ""
}

func clip(s string) string { return plaintext.Clip(s, 200, "…") }

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
			Name: "agent-allowed", Value: option.Default(&s.limits.Policy.Allow, d.Policy.Allow),
			Doc: "Where there are any: the only programs that agents may run by themselves, a shell's own such as cd among them.",
		},
		{
			Name: "agent-patterns", Value: option.Default(&s.patterns, PatternNames()),
			Doc: "What agents may not do by themselves in a shell's line; a text of your own is looked for as it is.",
		},
	}
}
