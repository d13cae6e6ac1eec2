package guard

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// shells run a line that is given with -c, or what they read.
var shells = map[string]bool{
	"sh": true, "bash": true, "dash": true, "ash": true, "zsh": true, "ksh": true, "mksh": true, "rbash": true, "fish": true,
}

// wrapper is a program that runs another one, named by its arguments.
type wrapper struct {
	valued  string   // short options that take a value
	long    []string // long ones that take theirs as the next argument
	skip    int      // operands before the program's name
	assigns bool     // operands with = are variables
	line    string   // options, short and long, whose value is a line
	joins   bool     // the operands are joined into a line
}

var wrappers = map[string]wrapper{
	"env":          {valued: "uCSP", long: []string{"--unset", "--chdir", "--split-string"}, assigns: true, line: "S --split-string"},
	"nice":         {valued: "n", long: []string{"--adjustment"}},
	"ionice":       {valued: "cnpPu", long: []string{"--class", "--classdata"}},
	"chrt":         {valued: "TPD", skip: 1},
	"taskset":      {skip: 1},
	"nohup":        {},
	"setsid":       {},
	"time":         {valued: "fo", long: []string{"--format", "--output"}},
	"timeout":      {valued: "ks", long: []string{"--kill-after", "--signal"}, skip: 1},
	"stdbuf":       {valued: "ioe", long: []string{"--input", "--output", "--error"}},
	"unbuffer":     {},
	"exec":         {valued: "a"},
	"command":      {},
	"builtin":      {},
	"noglob":       {},
	"nocorrect":    {},
	"busybox":      {},
	"toybox":       {},
	"xargs":        {valued: "adEIiLlnPs", long: []string{"--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-lines", "--replace", "--max-chars"}},
	"parallel":     {valued: "jaS", long: []string{"--jobs", "--arg-file"}, joins: true},
	"watch":        {valued: "nd", long: []string{"--interval"}, joins: true},
	"chroot":       {long: []string{"--userspec", "--groups"}, skip: 1},
	"unshare":      {},
	"nsenter":      {valued: "tSG"},
	"doas":         {valued: "Cu"},
	"su":           {valued: "csgG", long: []string{"--command", "--shell", "--group"}, skip: 1, line: "c --command"},
	"runuser":      {valued: "cugG", long: []string{"--command", "--user"}, line: "c --command"},
	"script":       {valued: "cEIOTB", long: []string{"--command"}, skip: 1 << 10, line: "c --command"},
	"flock":        {valued: "wEc", long: []string{"--wait", "--timeout", "--command"}, skip: 1, line: "c --command"},
	"strace":       {valued: "aeoOpPsSuEbI"},
	"ltrace":       {valued: "aeoOpPsSuE"},
	"systemd-run":  {valued: "pEuHM", long: []string{"--unit", "--property", "--setenv"}},
	"caffeinate":   {valued: "tw"},
	"proxychains4": {valued: "f"},
}

// simple judges one simple command.
func (c *checker) simple(words []word) *Refusal {
	for range maxWraps {
		if len(words) == 0 {
			return nil
		}
		if r := c.name(words[0]); r != nil && (r.Rule != RuleCommand || c.policy.dangerous(r.What, words[1:])) {
			return r
		}
		if !c.allowed(words) {
			return &Refusal{Rule: RuleAllow, What: clip(words[0].text)}
		}
		// As it is after quotes.
		if r := c.policy.pattern(joined(words)); r != nil {
			return r
		}
		next, r := c.unwrap(words)
		if r != nil {
			return r
		}
		if len(next) == 0 {
			return nil
		}
		words = next
	}
	return &Refusal{Rule: RuleBounds, What: "programs within programs"}
}

// maxWraps bounds how many programs run one another.
const maxWraps = 32

func joined(words []word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	return strings.Join(texts, " ")
}

// name judges what stands where a program's name does.
func (c *checker) name(w word) *Refusal {
	candidates := []string{w.text}
	if !w.known {
		candidates = append(append(candidates, w.pieces...), c.assigns...)
	}
	for _, text := range candidates {
		for _, alternative := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("{}, ", r) }) {
			if which := c.policy.blocked(alternative); which != "" {
				return &Refusal{Rule: RuleCommand, What: which}
			}
		}
	}
	if which := c.policy.blocked(w.text); which != "" {
		return &Refusal{Rule: RuleCommand, What: which}
	}
	return nil
}

// allowed reports whether a command's program may run at all (P18). Of a shell that is given
// a line it is the line that is judged.
func (c *checker) allowed(words []word) bool {
	name, base := words[0].text, path.Base(words[0].text)
	return len(c.policy.Allow) == 0 || slices.Contains(c.policy.Allow, name) || slices.Contains(c.policy.Allow, base) ||
		shells[base] && len(words) > 2 && words[1].text == "-c" && words[2].known
}

// unwrap is the command that a command runs, if it is one that does.
func (c *checker) unwrap(words []word) ([]word, *Refusal) {
	base := path.Base(words[0].text)
	switch {
	case shells[base]:
		return nil, c.shell(words)
	case c.policy.Uses && (base == "source" || base == "."):
		return nil, c.printed(words[1:min(2, len(words))])
	case c.policy.Uses && base == "eval":
		return nil, c.eval(words[1:])
	case base == "find":
		return nil, c.find(words)
	case base == "trap" && len(words) > 1:
		return nil, c.line(words[1].text)
	case base == "alias":
		for _, w := range words[1:] {
			if _, value, ok := strings.Cut(w.text, "="); ok {
				if r := c.line(value); r != nil {
					return nil, r
				}
			}
		}
		return nil, nil
	}
	wr, ok := wrappers[base]
	if !ok {
		return nil, nil
	}
	return c.operands(wr, words[1:])
}

// operands finds the wrapped command behind a wrapper's options.
func (c *checker) operands(wr wrapper, words []word) ([]word, *Refusal) {
	skip := wr.skip
	for i := 0; i < len(words); i++ {
		text := words[i].text
		switch {
		case text == "--":
		case len(text) > 1 && text[0] == '-' && !(text[1] >= '0' && text[1] <= '9'):
			value, separate := wr.value(text)
			if separate && i+1 < len(words) {
				i++
				value = words[i].text
			}
			if wr.isLine(text) && value != "" {
				if r := c.line(value); r != nil {
					return nil, r
				}
			}
		case len(text) > 1 && text[0] == '-': // nice -5
		case wr.assigns && strings.Contains(text, "="):
		case skip > 0:
			skip--
		case wr.joins:
			return nil, c.line(joined(words[i:]))
		default:
			return words[i:], nil
		}
	}
	return nil, nil
}

// value is the value that comes with an option in the same word, or whether it
// is the next word.
func (w wrapper) value(option string) (value string, separate bool) {
	if strings.HasPrefix(option, "--") {
		if _, v, ok := strings.Cut(option, "="); ok {
			return v, false
		}
		return "", slices.Contains(w.long, option)
	}
	for i := 1; i < len(option); i++ {
		if strings.IndexByte(w.valued, option[i]) >= 0 {
			return option[i+1:], i+1 == len(option)
		}
	}
	return "", false
}

// isLine reports whether an option's value is a line of a shell's.
func (w wrapper) isLine(option string) bool {
	name, _, _ := strings.Cut(option, "=")
	for _, l := range strings.Fields(w.line) {
		if name == l || len(l) == 1 && !strings.HasPrefix(option, "--") && strings.Contains(option, l) {
			return true
		}
	}
	return false
}

// shell judges the line that a shell is given.
func (c *checker) shell(words []word) *Refusal {
	line := false
	for i := 1; i < len(words); i++ {
		text := words[i].text
		switch {
		case strings.HasPrefix(text, "--command="):
			return c.line(strings.TrimPrefix(text, "--command="))
		case text == "--command":
			line = true
		case text == "-o" || text == "+o" || text == "-O" || text == "--rcfile" || text == "--init-file":
			i++
		case strings.HasPrefix(text, "--"):
		case len(text) > 1 && (text[0] == '-' || text[0] == '+'):
			line = line || strings.Contains(text, "c")
		case line:
			if r := c.printed(words[i : i+1]); r != nil {
				return r
			}
			return c.line(text)
		default:
			return c.printed(words[i : i+1]) // a script
		}
	}
	return nil
}

// printed judges words that a shell is to run: what a command prints is as good as
// what comes through a pipe.
func (c *checker) printed(words []word) *Refusal {
	if c.policy.has("$(") && slices.ContainsFunc(words, func(w word) bool { return w.runs }) {
		return &Refusal{Rule: RulePattern, What: "$("}
	}
	return nil
}

// eval judges a line that is put together of words.
func (c *checker) eval(words []word) *Refusal {
	if c.policy.has("eval") && slices.ContainsFunc(words, func(w word) bool { return !w.known }) {
		return &Refusal{Rule: RulePattern, What: "eval"}
	}
	return c.line(joined(words))
}

// find judges what find does to what it finds.
func (c *checker) find(words []word) *Refusal {
	for i, w := range words {
		switch w.text {
		case "-delete":
			if c.policy.blocked("rm") != "" {
				return &Refusal{Rule: RuleCommand, What: "find -delete"}
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			rest := words[i+1:]
			if end := slices.IndexFunc(rest, func(w word) bool { return w.text == ";" || w.text == "+" }); end >= 0 {
				rest = rest[:end]
			}
			if r := c.simple(rest); r != nil {
				return r
			}
		}
	}
	return nil
}

// innermost is the name of the program that a command runs in the end.
func (c *checker) innermost(words []word) word {
	for range maxWraps {
		wr, ok := wrappers[path.Base(words[0].text)]
		if !ok {
			break
		}
		next, _ := c.operands(wr, words[1:])
		if len(next) == 0 {
			break
		}
		words = next
	}
	return words[0]
}

// harmlessUses are the arguments with which a blocked program does no harm; what is not
// known of them is "$".
var harmlessUses = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		// Modes by which others can't write and nobody gets another's rights, one by one.
		"chmod": regexp.MustCompile(`^(-[cfv]+ )*(` + clause + `(,` + clause + `)*|[01]?[0-7]{2}[0145])( [^-]\S*)+$`),
		"dd":    regexp.MustCompile(`^((if|bs|ibs|count|skip|iflag|status)=\S*( |$))*$`), // it prints
		"fdisk": regexp.MustCompile(`^(-l|-x|--list)( |$)`),
		// Names of signals, a test, and jobs of the same shell.
		"kill": regexp.MustCompile(`^(-[lL0]( |$)|--list|(-s \S+ |-\w+ )?(%\S*( |$))+$)`),
	}
})

const clause = `([ugoa]*(-[rwxXst]+|[+=][rxX]+)|[ug]*[+=][rwxX]+)`

// dangerous reports whether a blocked program is used as its block means it.
func (p Policy) dangerous(program string, args []word) bool {
	if !p.Uses {
		return true
	}
	text, harmless := joined(args), harmlessUses()[program]
	return text != "--help" && text != "--version" && (harmless == nil || !harmless.MatchString(text))
}
