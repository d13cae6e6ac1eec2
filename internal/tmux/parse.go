package tmux

import (
	"fmt"
	"strings"
)

// line is what was typed behind `tmux`.
type line struct {
	socket, label string // -S, -L
	foreign       bool   // flags that only tmux itself can heed
	version       bool   // -V
	calls         []call
}

// call is one command of it.
type call struct {
	command
	flags map[byte][]string // those given; a flag without a value has empty ones
	args  []string
}

func (c call) has(flag byte) bool { return c.flags[flag] != nil }

// value is that of a flag's last use, "" without one.
func (c call) value(flag byte) string {
	if all := c.flags[flag]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// parse reads a command line as tmux does: its own flags, then commands with ";" between
// them.
func parse(args []string) (l line, err error) {
	flags, rest, err := getopt("2CDhlNuvVc:f:L:S:T:", args)
	if err != nil {
		return l, err
	}
	for f := range flags {
		switch f {
		case 'V':
			l.version = true
		case 'L':
			l.label = flags[f][0]
		case 'S':
			l.socket = flags[f][0]
		case 'u', '2', 'T', 'f':
		default:
			l.foreign = true
		}
	}
	for _, words := range cut(rest) {
		c, err := find(words[0])
		if err != nil {
			return l, err
		}
		made := call{command: c}
		if made.flags, made.args, err = getopt(c.flags, words[1:]); err != nil {
			return l, fmt.Errorf("command %s: %w", c.name, err)
		}
		if n := len(made.args); c.most >= 0 && n > c.most {
			return l, fmt.Errorf("command %s: too many arguments (need at most %d)", c.name, c.most)
		}
		l.calls = append(l.calls, made)
	}
	return l, nil
}

// cut takes a line apart at its semicolons; `\;` is none.
func cut(args []string) (all [][]string) {
	var one []string
	end := func() {
		if len(one) > 0 {
			all = append(all, one)
		}
		one = nil
	}
	for _, a := range args {
		body, ends := strings.CutSuffix(a, ";")
		switch {
		case !ends:
			one = append(one, a)
		case strings.HasSuffix(body, `\`):
			one = append(one, strings.TrimSuffix(body, `\`)+";")
		default:
			if body != "" {
				one = append(one, body)
			}
			end()
		}
	}
	end()
	return all
}

// getopt reads flags as getopt(3) does; those with a colon behind them have a value.
func getopt(spec string, args []string) (flags map[byte][]string, rest []string, err error) {
	flags = map[byte][]string{}
	for len(args) > 0 {
		a := args[0]
		if a == "--" {
			return flags, args[1:], nil
		}
		if len(a) < 2 || a[0] != '-' {
			break
		}
		args = args[1:]
		for i := 1; i < len(a); i++ {
			at := strings.IndexByte(spec, a[i])
			if at < 0 || a[i] == ':' {
				return nil, nil, fmt.Errorf("unknown flag -%c", a[i])
			}
			if at+1 == len(spec) || spec[at+1] != ':' {
				flags[a[i]] = append(flags[a[i]], "")
				continue
			}
			value := a[i+1:]
			if value == "" {
				if len(args) == 0 {
					return nil, nil, fmt.Errorf("-%c expects an argument", a[i])
				}
				value, args = args[0], args[1:]
			}
			flags[a[i]] = append(flags[a[i]], value)
			break
		}
	}
	return flags, args, nil
}

// find gives the command of a name, an alias, or the beginning of one name.
func find(word string) (command, error) {
	var found []command
	for _, c := range commands() {
		if c.name == word || c.alias == word {
			return c, nil
		}
		if strings.HasPrefix(c.name, word) {
			found = append(found, c)
		}
	}
	switch len(found) {
	case 0:
		return command{}, fmt.Errorf("unknown command: %s", word)
	case 1:
		return found[0], nil
	}
	return command{}, fmt.Errorf("ambiguous command: %s", word)
}
