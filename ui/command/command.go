package command

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tandemux/internal/spelling"
)

// Command is a row of the table of commands.
type Command struct {
	Name  string // lower case with hyphens; it never changes
	Title string // for the palette, hint and help: imperative, no full stop
	Group string
	Help  string // one sentence
	Args  []Arg
	Tmux  []string // tmux's names for it; some may mean several commands

	needs [2]need // of its group, and its own
}

// Arg is an argument of a command, in order. Optional ones come last.
type Arg struct {
	Name     string
	Kind     Kind
	Optional bool
	Min, Max int      // inclusive bounds of an Int
	Choices  []string // the values of a Choice
}

type Kind uint8

const (
	// Text is any text.
	Text Kind = iota
	// Int is a number from Min to Max.
	Int
	// Choice is one of Choices.
	Choice
	// Program is all remaining words: an argv, or one word as a line for sh.
	Program
)

// Then separates the commands of one line.
const Then = ";"

// Cut returns a command's own arguments, and the command line after Then.
func Cut(args []string) (own, next []string) {
	if i := slices.Index(args, Then); i >= 0 {
		return args[:i], args[i+1:]
	}
	return args, nil
}

// maxText is the longest Text argument, in bytes.
const maxText = 256

func Find(name string) (Command, bool) {
	i, ok := index[name]
	if !ok {
		return Command{}, false
	}
	return table[i], true
}

// All returns the commands in the order of the help. The caller may modify the slice.
func All() []Command {
	return append([]Command(nil), table...)
}

// Check returns what is wrong with a command line: an unknown name (with a suggestion), or
// missing, surplus or malformed arguments; nil if it may be bound to a key.
func Check(name string, args []string) error {
	if own, next := Cut(args); len(next) > 0 {
		return cmp.Or(Check(name, own), Check(next[0], next[1:]))
	} else if len(own) < len(args) {
		return fmt.Errorf("a command is missing behind %q", Then)
	}
	c, ok := Find(name)
	if !ok {
		names := make([]string, len(table))
		for i, c := range table {
			names[i] = c.Name
		}
		if ours := theirs[name]; ours != "" {
			return fmt.Errorf("there is no command %q: it is %s here", name, ours)
		}
		if near := spelling.Closest(name, names); near != "" {
			return fmt.Errorf("there is no command %q; did you mean %q?", name, near)
		}
		return fmt.Errorf("there is no command %q", name)
	}
	if n := len(c.Args); len(args) > n && (n == 0 || c.Args[n-1].Kind != Program) {
		if len(c.Args) == 0 {
			return fmt.Errorf("%s takes no argument, got %q", name, args[0])
		}
		return fmt.Errorf("%s takes at most %d argument(s), got %d", name, len(c.Args), len(args))
	}
	for i, a := range c.Args {
		if i >= len(args) {
			if a.Optional {
				break
			}
			return fmt.Errorf("%s needs its argument %s: %s", name, a.Name, a.wants())
		}
		if !a.accepts(args[i]) {
			return fmt.Errorf("%s: %s must be %s, got %q", name, a.Name, a.wants(), args[i])
		}
	}
	return nil
}

func (a Arg) accepts(s string) bool {
	switch a.Kind {
	case Int:
		n, err := strconv.Atoi(s)
		return err == nil && n >= a.Min && n <= a.Max
	case Choice:
		return slices.Contains(a.Choices, s)
	default:
		return len(s) <= maxText
	}
}

func (a Arg) wants() string {
	switch a.Kind {
	case Int:
		return fmt.Sprintf("a number from %d to %d", a.Min, a.Max)
	case Choice:
		return "one of " + strings.Join(a.Choices, ", ")
	default:
		return "a text"
	}
}

// Number returns argument i as a number, or otherwise if it is missing or no number. Check has
// refused wrong numbers before.
func Number(args []string, i, otherwise int) int {
	if i < len(args) {
		if n, err := strconv.Atoi(args[i]); err == nil {
			return n
		}
	}
	return otherwise
}

// Describe returns the command's group and its title with the arguments. It implements
// keymap.Describe.
func Describe(name string, args []string) (group, text string, ok bool) {
	c, ok := Find(name)
	if !ok {
		return "", "", false
	}
	text = c.Title
	args, next := Cut(args)
	if len(next) > 0 {
		defer func() {
			_, more, _ := Describe(next[0], next[1:])
			text += "; " + more
		}()
	}
	if len(args) > 0 && c.Args[0].Kind == Program {
		return c.Group, text + ": " + strings.Join(args, " "), true
	}
	if len(args) > 0 && arguments[name].title != "" {
		text = cmp.Or(worded[name+" "+args[0]], strings.Replace(arguments[name].title, "%", args[0], 1))
	}
	return c.Group, text, true
}

// Why says why the command can't run now, in a text that follows the title; "" if it can.
func Why(name string, args []string, c Context) string {
	cmd, ok := Find(name)
	if !ok {
		return "there is no such command"
	}
	c.Args, _ = Cut(args)
	for _, r := range slices.Concat(cmd.needs[0], cmd.needs[1]) {
		if why := r(c); why != "" {
			return why
		}
	}
	return ""
}

// Do runs a command with its arguments.
type Do func(args []string)

// Bind turns functions of something and arguments into functions of arguments.
func Bind[T any](to T, table map[string]func(T, []string)) map[string]Do {
	bound := make(map[string]Do, len(table))
	for name, f := range table {
		bound[name] = func(args []string) { f(to, args) }
	}
	return bound
}
