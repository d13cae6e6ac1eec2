package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"tandemux/internal/spelling"
	"tandemux/keymap"
	"tandemux/themes"
	"tandemux/ui/command"
	"tandemux/ui/status"
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

// maxQuoted bounds what is quoted of the file, in bytes.
const maxQuoted = 64

// reading is the state of one Read.
type reading struct {
	config   Config
	lines    map[string]int
	problems []Problem
}

// Read reads a configuration. user are the user's themes. The problems come in
// the order of their lines.
func Read(doc []byte, user []themes.Theme) (Config, []Problem) {
	r := reading{config: Default()}
	var m map[string]any
	if err := toml.Unmarshal(doc, &m); err != nil {
		p := Problem{Text: strings.TrimPrefix(err.Error(), "toml: ")}
		var at *toml.DecodeError
		if errors.As(err, &at) {
			p.Line, _ = at.Position()
		}
		return r.config, []Problem{p}
	}
	r.lines = lines(doc)
	names := make([]string, len(options))
	for i := range options {
		names[i] = options[i].Name
	}
	for name, v := range m {
		if i := slices.Index(names, name); i >= 0 {
			r.option(&options[i], v)
			continue
		}
		text := fmt.Sprintf("there is no option %q", cut(name))
		if near := spelling.Closest(name, names); near != "" {
			text += fmt.Sprintf("; did you mean %q?", near)
		}
		r.problem([]string{name}, false, "%s", text)
	}
	r.theme(user)
	r.status()
	r.keys()
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return strings.Compare(a.Text, b.Text)
	})
	return r.config, r.problems
}

// problem reports a fault of what is at a path.
func (r *reading) problem(path []string, warn bool, format string, args ...any) {
	r.problems = append(r.problems, Problem{Line: r.lines[place(path...)], Text: fmt.Sprintf(format, args...), Warn: warn})
}

// option takes in the value of an option; a faulty one leaves the default.
func (r *reading) option(o *Option, raw any) {
	v, path, err := convert(o, raw)
	if err != nil {
		r.problem(path, false, "%s %v", strings.Join(path, "."), err)
		return
	}
	before := r.config
	if err := o.put(&r.config, v); err != nil {
		r.config = before
		r.problem(path, false, "%s: %v", o.Name, err)
	}
}

// convert gives a value of the file as one of the option's kind. The path is of
// what is wrong.
func convert(o *Option, raw any) (v value, path []string, err error) {
	path = []string{o.Name}
	var ok bool
	switch o.Kind {
	case Text:
		if v.text, ok = raw.(string); !ok {
			return v, path, errors.New(`must be a text in quotes`)
		}
	case Choice:
		if v.text, ok = raw.(string); !ok || !slices.Contains(o.Choices, v.text) {
			err = fmt.Errorf("must be one of %s", quoted(o.Choices))
			if near := spelling.Closest(v.text, o.Choices); ok && near != "" {
				err = fmt.Errorf("is %q; did you mean %q? It must be one of %s", cut(v.text), near, quoted(o.Choices))
			}
			return v, path, err
		}
	case Bool:
		if v.is, ok = raw.(bool); !ok {
			return v, path, errors.New("must be true or false")
		}
	case List:
		list, ok := raw.([]any)
		for _, item := range list {
			s, text := item.(string)
			ok = ok && text
			v.list = append(v.list, s)
		}
		if !ok {
			return v, path, errors.New(`must be a list of texts, such as ["layout", "tabs"]`)
		}
		if v.list == nil {
			v.list = []string{}
		}
		for _, s := range v.list {
			if len(o.Choices) > 0 && !slices.Contains(o.Choices, s) {
				err := fmt.Errorf("has %q; it may hold %s", cut(s), quoted(o.Choices))
				if near := spelling.Closest(s, o.Choices); near != "" {
					err = fmt.Errorf("has %q; did you mean %q? It may hold %s", cut(s), near, quoted(o.Choices))
				}
				return v, path, err
			}
		}
	case Int:
		n, ok := raw.(int64)
		if !ok || n < int64(o.Min) || n > int64(o.Max) {
			return v, path, fmt.Errorf("must be a whole number from %d to %d", o.Min, o.Max)
		}
		v.n = int(n)
	case Table:
		table, ok := raw.(map[string]any)
		if !ok {
			return v, path, errors.New(`must be a table: a line with its name in brackets, then lines such as "prefix v" = "split-right"`)
		}
		v.table = make(map[string]string, len(table))
		for key, item := range table {
			s, text := item.(string)
			if !text {
				return v, append(path, key), errors.New("must be a text in quotes")
			}
			v.table[key] = s
		}
	case Tables:
		v.agents, path, err = agentTables(raw)
		return v, path, err
	}
	return v, path, nil
}

// theme checks the theme's name.
func (r *reading) theme(user []themes.Theme) {
	if r.config.Theme == themes.Auto {
		return // which is there, and need not be read for that
	}
	if _, err := themes.Choose(r.config.Theme, user); err != nil {
		r.problem([]string{"theme"}, false, "theme: %v", err)
		r.config.Theme = Default().Theme
	}
}

// status checks both sides of the status line together.
func (r *reading) status() {
	if _, err := status.Compose(r.config.StatusLeft, r.config.StatusRight); err != nil {
		r.problem([]string{"status-right"}, false, "status-right: %v", err)
		r.config.StatusRight = slices.DeleteFunc(slices.Clone(r.config.StatusRight), func(s string) bool { return s == "tabs" })
	}
}

// keys checks the bindings.
func (r *reading) keys() {
	if len(r.config.Keys)+len(r.config.CopyKeys)+len(r.config.ChatKeys)+len(r.config.ReadingKeys) == 0 {
		return
	}
	t, ok := keymap.Preset(r.config.Keymap)
	if !ok {
		return
	}
	t, _ = t.WithModeKeys(r.config.ModeKeys) // one of the choices
	if k, err := keymap.Parse(r.config.Prefix); err == nil && r.config.Prefix != "" {
		t = t.WithPrefix(k)
	}
	if r.config.AltKeys {
		t = t.WithAlt()
	}
	for _, b := range []struct {
		mode  keymap.Mode
		table string
		keys  map[string]string
	}{
		{keymap.Normal, "keys", r.config.Keys},
		{keymap.Copy, "copy-keys", r.config.CopyKeys},
		{keymap.Chat, "chat-keys", r.config.ChatKeys},
		{keymap.Reading, "reading-keys", r.config.ReadingKeys},
	} {
		var problems []keymap.Problem
		t, problems = t.Override(b.mode, b.keys, command.Check)
		for _, p := range problems {
			r.problem([]string{b.table, p.Keys}, p.Warn, "%s: %q: %s", b.table, cut(p.Keys), p.Text)
		}
	}
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

func quoted(list []string) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(words, ", ")
}

func cut(s string) string {
	if len(s) > maxQuoted {
		return s[:maxQuoted] + "…"
	}
	return s
}
