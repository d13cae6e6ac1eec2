package cli

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tandemux/internal/jsonform"
)

// Command makes a command of its words, which say its arguments, too (ID [TEXT...]), what
// it does (in a line and further ones; those that are indented are examples), its flags and
// its work. in is nil or a pointer to a struct, whose members with the tag flag, a name and
// perhaps a letter behind a comma, are the flags; the tag doc says what each is for, value
// the word that stands for its value in the help, enum what a text may be.
func Command(use, about string, in any, work func(cmd *cobra.Command, args []string) error) *cobra.Command {
	short, long, _ := strings.Cut(about, "\n")
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: arguments, RunE: did(work)}
	if in != nil {
		addFlags(cmd, reflect.ValueOf(in).Elem())
	}
	return cmd
}

// Group makes a command of those below it; alone it prints its help.
func Group(use, short, long string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: arguments}
	cmd.AddCommand(below...)
	cmd.RunE = showHelp
	return cmd
}

// IsGroup reports whether a command is made of those below it alone, and does nothing
// itself.
func IsGroup(c *cobra.Command) bool { return c.HasSubCommands() && !strings.Contains(c.Use, " ") }

// showHelp is the work of a command that does nothing without one of those below it.
func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

func addFlags(cmd *cobra.Command, v reflect.Value) {
	fs := cmd.Flags()
	for _, field := range reflect.VisibleFields(v.Type()) {
		name, short, _ := strings.Cut(field.Tag.Get("flag"), ",")
		if name == "" {
			continue
		}
		usage := field.Tag.Get("doc")
		switch p := v.FieldByIndex(field.Index).Addr().Interface().(type) {
		case *bool:
			fs.BoolVarP(p, name, short, *p, usage)
		case *int:
			fs.IntVarP(p, name, short, *p, usage)
		case *float64:
			fs.Float64VarP(p, name, short, *p, usage)
		case *time.Duration:
			fs.DurationVarP(p, name, short, *p, usage)
		case *[]string:
			fs.StringArrayVarP(p, name, short, nil, usage)
		case **int64:
			fs.FuncP(name, short, usage, func(text string) error { return number(p, text, "1000", parseInt) })
		case **float64:
			fs.FuncP(name, short, usage, func(text string) error { return number(p, text, "2.50", parseFloat) })
		case **time.Duration:
			fs.FuncP(name, short, usage, func(text string) error { return number(p, text, "30m", time.ParseDuration) })
		case **string:
			fs.FuncP(name, short, usage, func(text string) error { *p = &text; return nil })
		case *json.RawMessage:
			fs.FuncP(name, short, usage, func(text string) error {
				if *p = json.RawMessage(text); !json.Valid(*p) {
					return errors.New("it is not JSON")
				}
				return nil
			})
		case encoding.TextUnmarshaler:
			fs.FuncP(name, short, usage, func(text string) error { return p.UnmarshalText([]byte(text)) })
		case *string:
			fs.StringVarP(p, name, short, *p, usage)
			if words := strings.Split(field.Tag.Get("enum"), ","); len(words) > 1 {
				fs.Lookup(name).Value = &choice{p, words}
				cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) //nolint:errcheck // the flag is there
			}
		default:
			panic("cli: no flag can be a " + field.Type.String())
		}
		nameValue(fs.Lookup(name), field.Tag.Get("value"))
	}
}

func parseInt(text string) (int64, error)     { return strconv.ParseInt(text, 10, 64) }
func parseFloat(text string) (float64, error) { return strconv.ParseFloat(text, 64) }

// number sets a flag's number, which is nil where it was not given.
func number[T any](p **T, text, such string, parse func(string) (T, error)) error {
	n, err := parse(text)
	if err != nil {
		return fmt.Errorf("give one such as %s", such)
	}
	*p = &n
	return nil
}

// usual are the words for values of flags whose names are no good ones.
var usual = map[string]string{"cwd": "DIR", "size": "COLSxROWS", "message": "TEXT", "out": "PATH", "output": "FILE", "tls-cert": "FILE", "tls-key": "FILE"}

// nameValue sets the word that stands for a flag's value in the help; without one, a
// word of the kind that it is, or the flag's own.
func nameValue(f *pflag.Flag, word string) {
	if word == "" {
		switch kind := f.Value.Type(); kind {
		case "bool", "boolfunc":
			return
		case "int", "float64":
			word = "N"
		case "duration":
			word = "TIME"
		case "string", "stringArray", "func":
			if word = usual[f.Name]; word == "" {
				word = strings.ToUpper(f.Name[strings.LastIndexByte(f.Name, '-')+1:])
			}
		default:
			word = kind
		}
	}
	f.Value = named{f.Value, word}
	if f.DefValue == "0s" || f.DefValue == "[]" {
		f.DefValue = "" // or the help would say so
	}
}

// choice is a flag whose value is one of some words.
type choice struct {
	value *string
	words []string
}

func (c *choice) String() string { return *c.value }
func (c *choice) Type() string   { return strings.Join(c.words, "|") }

func (c *choice) Set(text string) error {
	if last := len(c.words) - 1; !slices.Contains(c.words, text) {
		return fmt.Errorf("use %s or %s", strings.Join(c.words[:last], ", "), c.words[last])
	}
	*c.value = text
	return nil
}

// Pattern is a flag that is an RE2 expression.
type Pattern string

func (p *Pattern) UnmarshalText(text []byte) error {
	if _, err := syntax.Parse(string(text), syntax.Perl); err != nil {
		return fmt.Errorf("%s: see https://github.com/google/re2/wiki/Syntax", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	*p = Pattern(text)
	return nil
}

// Ago is a flag for a time that was: a date, or how long ago, as Past reads it.
type Ago struct{ time.Time }

// UnmarshalText reads one.
func (a *Ago) UnmarshalText(text []byte) (err error) {
	a.Time, err = Past(string(text), time.Now())
	return err
}

// End is a flag for a time to come, as Expiry reads it.
type End struct{ time.Time }

// UnmarshalText reads one.
func (e *End) UnmarshalText(text []byte) (err error) {
	e.Time, err = Expiry(string(text), time.Now())
	return err
}

// Complete has root and all commands below it complete their arguments and the values of
// their flags by the words that stand for them: what FILE or DIR is begins with is a
// file's, one of a|b is a or b, and for others by gives what there is, each perhaps with a
// tab and a description. What a command completes itself stays.
func Complete(root *cobra.Command, by map[string]func(cmd *cobra.Command) []string) {
	values := func(cmd *cobra.Command, word string) ([]string, cobra.ShellCompDirective) {
		word = strings.Trim(word, "[].")
		if word == "FILE" || word == "DIR" || word == "PATH" {
			return nil, cobra.ShellCompDirectiveDefault
		}
		if choice := strings.Split(word, "|"); len(choice) > 1 {
			return choice, cobra.ShellCompDirectiveNoFileComp
		}
		if there := by[word]; there != nil {
			return there(cmd), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if root.ValidArgsFunction == nil && !IsGroup(root) {
		words, free := placeholders(root.Use)
		root.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch last := len(words) - 1; {
			case free:
				return nil, cobra.ShellCompDirectiveDefault
			case len(args) <= last:
				return values(cmd, words[len(args)])
			case last >= 0 && strings.Contains(words[last], "..."):
				return values(cmd, words[last])
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	}
	flags := root.Flags() // LocalFlags would make a set of its own for each command
	if !root.HasParent() {
		flags = root.LocalFlags()
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if _, done := root.GetFlagCompletionFunc(f.Name); done || f.Value.Type() == "bool" {
			return
		}
		word, _ := pflag.UnquoteUsage(f)
		root.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) { //nolint:errcheck // the flag is there
			return values(cmd, word)
		})
	})
	for _, below := range root.Commands() {
		Complete(below, by)
	}
}

// Schema describes what the commands below root print with --json: its $defs have each
// by its name, errors as error, and what these refer to. It refuses members that it does
// not have.
func Schema(root *cobra.Command) *jsonschema.Schema {
	doc := &jsonschema.Schema{
		Schema: "https://json-schema.org/draft/2020-12/schema", ID: "urn:tandemux:cli:1", Title: "What tandemux prints with --json",
		Description: `Version 1. $defs has what each command prints, by its name ("task ls"), and what stderr gets of one that fails ("error").
What is here stays, with its name and meaning, as long as the version; members, and words in texts that are not enumerated, may be added.`,
		Defs: jsonform.Definitions(),
	}
	doc.Defs["error"] = jsonform.Schema(reflect.TypeFor[jsonform.Failure]())
	var add func(c *cobra.Command)
	add = func(c *cobra.Command) {
		name := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), root.Name()), " ")
		var forms []*jsonschema.Schema
		for _, f := range Forms(c) {
			s := jsonform.Schema(f.Type)
			if f.Lines {
				s.Description = "A line of JSON lines."
			}
			forms = append(forms, s)
		}
		switch {
		case c.Hidden || len(forms) == 0 || IsGroup(c):
		case len(forms) == 1:
			doc.Defs[name] = forms[0]
			forms[0].Description = strings.TrimSpace(c.Short + ". " + forms[0].Description)
		default:
			doc.Defs[name] = &jsonschema.Schema{AnyOf: forms, Description: c.Short + "."}
		}
		for _, below := range c.Commands() {
			add(below)
		}
	}
	add(root)
	return doc
}
