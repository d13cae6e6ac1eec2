package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"tandemux/internal/config/option"
	"tandemux/internal/spelling"
)

// Problem is a fault, in words for the user.
type Problem struct {
	File string // path; "" in what Read gives
	Line int    // from 1; 0 when no line is to blame
	Text string
	Warn bool // what the user wants is in force all the same
}

// String gives the problem as one line.
func (p Problem) String() string {
	s := p.Text
	if p.Warn {
		s = "warning: " + s
	}
	switch {
	case p.File != "" && p.Line > 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, s)
	case p.File != "":
		return p.File + ": " + s
	case p.Line > 0:
		return fmt.Sprintf("line %d: %s", p.Line, s)
	}
	return s
}

// Fail gives the problems that are more than warnings as an error, one a line;
// nil when there are none.
func Fail(problems []Problem) error {
	var errs []error
	for _, p := range problems {
		if !p.Warn {
			errs = append(errs, errors.New(p.String()))
		}
	}
	return errors.Join(errs...)
}

// Read reads a document into the values of options; a faulty one leaves the default.
// The problems come in the order of their lines.
func Read(doc []byte, options []option.Option) []Problem {
	var m map[string]any
	if err := toml.Unmarshal(doc, &m); err != nil {
		p := Problem{Text: strings.TrimPrefix(err.Error(), "toml: ")}
		var at *toml.DecodeError
		if errors.As(err, &at) {
			p.Line, _ = at.Position()
		}
		return []Problem{p}
	}
	var problems []Problem
	at := lines(doc)
	add := func(path []string, warn bool, text string) {
		problems = append(problems, Problem{Line: at[place(path...)], Text: text, Warn: warn})
	}
	names := make([]string, len(options))
	undo := make([]func(), len(options))
	for i := range options {
		o := &options[i]
		names[i], undo[i] = o.Name, keep(o)
		if raw, ok := m[o.Name]; ok {
			if path, err := convert(o, raw); err != nil {
				add(path, false, strings.Join(path, ".")+" "+err.Error())
			}
		}
	}
	for i, o := range options {
		if o.Check == nil {
			continue
		}
		for _, f := range o.Check() {
			if f.Path == nil {
				f.Path, f.Text = []string{o.Name}, o.Name+": "+f.Text
				undo[i]()
			}
			add(f.Path, f.Warn, f.Text)
		}
	}
	for name := range m {
		if slices.Contains(names, name) {
			continue
		}
		text := fmt.Sprintf("there is no option %q", cut(name))
		if near := spelling.Closest(name, names); near != "" {
			text += fmt.Sprintf("; did you mean %q?", near)
		}
		add([]string{name}, false, text)
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(a.Line-b.Line, strings.Compare(a.Text, b.Text))
	})
	return problems
}

// keep gives what puts back the value that an option has.
func keep(o *option.Option) func() {
	switch v := o.Value.(type) {
	case *string:
		was := *v
		return func() { *v = was }
	case *[]string:
		was := *v
		return func() { *v = was }
	}
	return func() {} // others have no fault but those of convert
}

// convert gives an option a value of the file. The path is of what is wrong.
func convert(o *option.Option, raw any) (path []string, err error) {
	path = []string{o.Name}
	switch v := o.Value.(type) {
	case *string:
		s, ok := raw.(string)
		switch {
		case ok && (o.Choices == nil || slices.Contains(o.Choices, s)):
			*v = s
		case o.Choices == nil:
			err = errors.New(`must be a text in quotes`)
		default:
			if near := spelling.Closest(s, o.Choices); ok && near != "" {
				return path, fmt.Errorf("is %q; did you mean %q? It must be one of %s", cut(s), near, option.Quoted(o.Choices))
			}
			err = fmt.Errorf("must be one of %s", option.Quoted(o.Choices))
		}
	case *bool, *option.Not:
		is, ok := raw.(bool)
		if !ok {
			return path, errors.New("must be true or false")
		}
		if not, negated := v.(*option.Not); negated {
			*not = option.Not(!is)
		} else {
			*v.(*bool) = is
		}
	case *[]string:
		list, ok := option.Texts(raw)
		if !ok {
			one, _ := raw.(string)
			return path, fmt.Errorf("must be a list of texts, such as [%q]", cmp.Or(cut(one), "text"))
		}
		for _, s := range list {
			if o.Choices != nil && !slices.Contains(o.Choices, s) {
				if near := spelling.Closest(s, o.Choices); near != "" {
					return path, fmt.Errorf("has %q; did you mean %q? It may hold %s", cut(s), near, option.Quoted(o.Choices))
				}
				return path, fmt.Errorf("has %q; it may hold %s", cut(s), option.Quoted(o.Choices))
			}
		}
		*v = list
	case *int, *time.Duration:
		n, ok := raw.(int64)
		if !ok || n < int64(o.Min) || n > int64(o.Max) {
			return path, fmt.Errorf("must be a whole number from %d to %d", o.Min, o.Max)
		}
		if seconds, are := v.(*time.Duration); are {
			*seconds = time.Duration(n) * time.Second
		} else {
			*v.(*int) = int(n)
		}
	case *map[string]string:
		items, ok := raw.(map[string]any)
		if !ok {
			return path, errors.New(`must be a table: a line with its name in brackets, then lines such as "prefix v" = "split-right"`)
		}
		table := make(map[string]string, len(items))
		for key, item := range items {
			s, text := item.(string)
			if !text {
				return append(path, key), errors.New("must be a text in quotes")
			}
			table[key] = s
		}
		*v = table
	case option.Tables:
		return v.Set(raw)
	}
	return path, err
}

// lines gives the line of each key and table of a document that is valid.
func lines(doc []byte) map[string]int {
	at := make(map[string]int)
	var p unstable.Parser
	p.Reset(doc)
	var table []string
	var note func(base []string, n *unstable.Node)
	note = func(base []string, n *unstable.Node) {
		path := slices.Clone(base)
		for it := n.Key(); it.Next(); {
			key := it.Node()
			path = append(path, string(key.Data))
			if name := place(path...); at[name] == 0 {
				at[name] = p.Shape(key.Raw).Start.Line
			}
		}
		if n.Kind != unstable.KeyValue {
			table = path
			return
		}
		if v := n.Value(); v.Kind == unstable.InlineTable {
			for it := v.Children(); it.Next(); {
				note(path, it.Node())
			}
		}
	}
	for p.NextExpression() {
		switch n := p.Expression(); n.Kind {
		case unstable.Table, unstable.ArrayTable:
			note(nil, n)
		case unstable.KeyValue:
			note(table, n)
		}
	}
	return at
}

// place names what is at a path.
func place(path ...string) string { return strings.Join(path, "\x00") }

// maxQuoted bounds what is quoted of the file, in bytes.
const maxQuoted = 64

func cut(s string) string {
	if len(s) > maxQuoted {
		return s[:maxQuoted] + "…"
	}
	return s
}

// Changed gives the names of the options that differ between two readings and need
// new terminals to take effect. Both are the same options with other values.
func Changed(a, b []option.Option) []string {
	var names []string
	for i, o := range b {
		if o.Needs == option.NewTerminal && o.TOML() != a[i].TOML() {
			names = append(names, o.Name)
		}
	}
	return names
}
