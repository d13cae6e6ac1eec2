package command

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tandemux/internal/spelling"
)

// Command is a row of the table.
type Command struct {
	Name  string // stable, lower case with hyphens
	Title string // for palette, hint and help: imperative, no full stop
	Group string
	Help  string // one sentence
	Args  []Arg
	Tmux  []string // what tmux calls it, also where that may be another one, too

	needs [2]need // its group's, its own
}

// Arg is an argument of a command, in order. Optional ones come last.
type Arg struct {
	Name     string
	Kind     Kind
	Optional bool
	Min, Max int      // bounds of an Int, both inclusive
	Choices  []string // of a Choice
}

type Kind uint8

const (
	// Text is anything, such as a name.
	Text Kind = iota
	// Int is a whole number within Min and Max.
	Int
	// Choice is one of Choices.
	Choice
	// Program is all the words that are left: a program and its arguments, or in one
	// word a line for sh.
	Program
)

// Then is the word between commands that one line has.
const Then = ";"

// Cut gives a command's own arguments, and the line that follows them behind Then.
func Cut(args []string) (own, next []string) {
	if i := slices.Index(args, Then); i >= 0 {
		return args[:i], args[i+1:]
	}
	return args, nil
}

// maxText bounds a Text argument in bytes.
const maxText = 256

func Find(name string) (Command, bool) {
	i, ok := index[name]
	if !ok {
		return Command{}, false
	}
	return table[i], true
}

// All gives the commands in the order of the help. The slice is the caller's.
func All() []Command {
	return append([]Command(nil), table...)
}

// Check says what is wrong with a command line: an unknown name (with a
// suggestion), missing, surplus or malformed arguments. nil means that it may
// be bound to a key.
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

// Number gives argument i as a number, or its default when it was left out or
// is not one. Check has refused wrong ones before a binding gets here.
func Number(args []string, i, otherwise int) int {
	if i < len(args) {
		if n, err := strconv.Atoi(args[i]); err == nil {
			return n
		}
	}
	return otherwise
}

// Describe gives the command's group and its title worded with the arguments.
// It is a keymap.Describe.
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

// Why says why the command can't run now, in a few words that follow the title: ""
// when it can.
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

// Do is what a command does with its arguments.
type Do func(args []string)

// Bind makes a table of what commands do to something one for that thing.
func Bind[T any](to T, table map[string]func(T, []string)) map[string]Do {
	bound := make(map[string]Do, len(table))
	for name, f := range table {
		bound[name] = func(args []string) { f(to, args) }
	}
	return bound
}
