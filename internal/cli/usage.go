package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tandemux/internal/spelling"
)

// arguments checks the arguments of a command against its Use: each word is one, [WORD]
// may be left out, WORD... stands for any number, yes|no for one of these, COLSxROWS for
// a size. A command whose Use has a -- or a choice in parentheses checks itself.
func arguments(cmd *cobra.Command, args []string) error {
	words, free := placeholders(cmd.Use)
	if free {
		return nil
	}
	least, most := 0, len(words)
	for i, word := range words {
		if strings.Contains(word, "...") {
			most = len(args)
		} else if i < len(args) {
			if err := argument(strings.Trim(word, "[]"), args[i]); err != nil {
				return err
			}
		}
		if !strings.HasPrefix(word, "[") {
			least++
		}
	}
	switch {
	case least <= len(args) && len(args) <= most:
		return nil
	case len(words) > 0:
		return usage(cmd, "`%s` takes %s, but got %s", cmd.CommandPath(), strings.Join(words, " "), counted(len(args)))
	case cmd.HasAvailableSubCommands():
		return unknownCommand(cmd, args[0])
	}
	return usage(cmd, "`%s` takes no arguments, but got %q", cmd.CommandPath(), args[0])
}

// placeholders are the words of a command line that stand for arguments; free says that
// the command checks itself.
func placeholders(use string) (words []string, free bool) {
	all := strings.Fields(use)[1:]
	for i, word := range all {
		switch {
		case strings.ContainsAny(word, "(") || word == "--" || word == "[--":
			return words, true
		case !isFlag(word) && (i == 0 || !isFlag(all[i-1])):
			words = append(words, word)
		}
	}
	return words, false
}

func isFlag(word string) bool { return strings.HasPrefix(strings.TrimPrefix(word, "["), "-") }

// argument checks one against the word that stands for it.
func argument(word, arg string) (err error) {
	if choice := strings.Split(word, "|"); len(choice) > 1 && strings.ToLower(word) == word && !slices.Contains(choice, arg) {
		return Usagef("%q is not %s", arg, strings.Join(choice, " or "))
	}
	if word == "COLSxROWS" {
		_, _, err = Size(arg)
	}
	return err
}

func counted(n int) string {
	switch n {
	case 0:
		return "nothing"
	case 1:
		return "1 argument"
	}
	return strconv.Itoa(n) + " arguments"
}

// usage is a usage error that ends with where to read on.
func usage(cmd *cobra.Command, format string, args ...any) error {
	return Usagef("%s; see `%s --help`", fmt.Sprintf(format, args...), cmd.CommandPath())
}

// elsewhere is what verbs are called in other programs.
var elsewhere = map[string][]string{
	"new": {"create", "add", "make"}, "ls": {"list"}, "show": {"get", "info", "describe"}, "set": {"update", "edit"}, "rm": {"delete", "remove"},
}

// unknownCommand says that a command has none of a name below it, and which may have
// been meant.
func unknownCommand(cmd *cobra.Command, name string) error {
	var names []string
	verb := map[string]string{}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			for _, word := range append(elsewhere[c.Name()], c.Name()) {
				verb[word] = c.Name()
				names = append(names, word)
			}
		}
	}
	if meant := verb[spelling.Closest(name, names)]; meant != "" {
		return Usagef("there is no command `%s %s`: did you mean `%[1]s %[3]s`?", cmd.CommandPath(), name, meant)
	}
	return usage(cmd, "there is no command `%s %s`", cmd.CommandPath(), name)
}

// meant is what may have been meant by the first word of a command line of which the error
// says that it stands for nothing that is there: what would have been completed.
func meant(cmd *cobra.Command, code, text string) string {
	if code != "not_found" {
		return ""
	}
	best := ""
	look := func(typed string, complete cobra.CompletionFunc, before []string) {
		if complete == nil || best != "" || !strings.Contains(text, typed) {
			return
		}
		there, _ := complete(cmd, before, "")
		words, of := []string{}, map[string]string{}
		for part := range 2 { // all names before what is said of them
			for _, one := range there {
				word, about, _ := strings.Cut(one, "\t")
				if w := []string{word, about}[part]; w != "" && of[w] == "" {
					words, of[w] = append(words, w), word
				}
			}
		}
		if !slices.Contains(words, typed) {
			best = of[spelling.Closest(typed, words)]
		}
	}
	args := cmd.Flags().Args()
	for i, arg := range args {
		look(arg, cmd.ValidArgsFunction, args[:i])
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if complete, has := cmd.GetFlagCompletionFunc(f.Name); has && f.Name != "host" {
			look(f.Value.String(), complete, args)
		}
	})
	return best
}

// wanted says what the values of a kind of flag are.
var wanted = map[string]string{
	"int": "a whole number", "float64": "a number", "duration": "a time such as 500ms, 30s or 5m", "bool": "true or false",
}

// flagError words what pflag found wrong.
func flagError(cmd *cobra.Command, err error) error {
	if missing, is := errors.AsType[*pflag.NotExistError](err); is {
		name := "--" + missing.GetSpecifiedName()
		if short := missing.GetSpecifiedShortnames(); short != "" {
			name = "-" + missing.GetSpecifiedName()
		}
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		switch meant := spelling.Closest(missing.GetSpecifiedName(), names); {
		case meant != "" && strings.HasPrefix(name, "--"):
			return Usagef("`%s` has no option %s: did you mean --%s?", cmd.CommandPath(), name, meant)
		case strings.Contains(cmd.Use, "-- "):
			return usage(cmd, "`%s` has no option %s; put -- before a command that has options of its own", cmd.CommandPath(), name)
		}
		return usage(cmd, "`%s` has no option %s", cmd.CommandPath(), name)
	}
	if missing, is := errors.AsType[*pflag.ValueRequiredError](err); is {
		return usage(cmd, "--%s takes a value", missing.GetFlag().Name)
	}
	if bad, is := errors.AsType[*pflag.InvalidValueError](err); is {
		why := bad.Unwrap().Error()
		if what := wanted[kind(bad.GetFlag())]; what != "" {
			why = "it takes " + what
		}
		return Usagef("--%s can't be %q: %s", bad.GetFlag().Name, bad.GetValue(), why)
	}
	return usageError{err}
}

// groupError words what cobra found wrong with flags that go together; it names them
// between brackets.
func groupError(cmd *cobra.Command, err error) error {
	text := err.Error()
	_, rest, _ := strings.Cut(text, "[")
	if _, set, is := strings.Cut(rest, "; ["); is { // which of them were given
		rest = set
	}
	list, _, _ := strings.Cut(rest, "]")
	flags := strings.Fields(list)
	for i := range flags {
		flags[i] = "--" + flags[i]
	}
	switch {
	case strings.HasPrefix(text, "if any flags in the group"):
		return usage(cmd, "%s can't be used together", strings.Join(flags, " and "))
	case strings.HasPrefix(text, "at least one of the flags in the group"):
		return usage(cmd, "`%s` needs one of %s", cmd.CommandPath(), strings.Join(flags, ", "))
	}
	return usageError{err}
}

// kind is the type of a flag's value.
func kind(f *pflag.Flag) string {
	if v, is := f.Value.(named); is {
		return v.Value.Type()
	}
	return f.Value.Type()
}

// named is a flag's value with a word that stands for it in the help.
type named struct {
	pflag.Value
	word string
}

func (n named) Type() string { return n.word }
