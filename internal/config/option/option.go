package option

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tandemux/internal/spelling"
)

// Option is a setting of the configuration.
type Option struct {
	Name string
	// Value points to where the setting is kept: a *string, *bool, *Not, *int,
	// *time.Duration (whole seconds), *[]string or *map[string]string, or is a Tables.
	// It holds the default when the option is made, and is never empty where the
	// default is not.
	Value    any
	Choices  []string // of a text, or of what a list may hold; nil is any
	Min, Max int      // of a number, both inclusive
	Doc      string   // sentences, for the file and the documentation
	Hint     string   // a sentence for the file alone
	Needs    Needs
	Example  []string // lines of tables
	// Check says what is wrong with what was read; nil for nothing ever. It is called
	// when all options have been read.
	Check func() []Fault
}

// Needs is what a change of an option needs to take effect.
type Needs uint8

// The needs.
const (
	// Nothing: it takes effect when the file is saved.
	Nothing Needs = iota
	// NewTerminal: it applies to terminals that are created from then on.
	NewTerminal
	// Restart: it is read when tandemux starts.
	Restart
)

// Fault is what is wrong with a value. Without a Path it is the option's own, which
// gets its default.
type Fault struct {
	Path []string // of what is wrong, with the option's name
	Text string
	Warn bool // what the user wants is in force all the same
}

// Faulty is a Check of an error; nil is no fault.
func Faulty(check func() error) func() []Fault {
	return func() []Fault {
		if err := check(); err != nil {
			return []Fault{{Text: err.Error()}}
		}
		return nil
	}
}

// Not is a setting that is true by default, kept as its opposite, so that the zero
// value is the default.
type Not bool

// Tables is a setting of tables with a name each.
type Tables interface {
	// Set takes what the file has. path is of what is wrong.
	Set(raw any) (path []string, err error)
}

// Default gives a Value that holds a default.
func Default[T any](value *T, def T) *T {
	*value = def
	return value
}

// Named are tables that the user names, such as [agents.mine]: what each may have.
type Named[V any] struct {
	Option, Such, What string // "agents", "[agents.mine]", "an agent"
	Members            []string
	Begin              func(name string) (V, error) // makes the value of a table; nil: the zero one
	Set                func(v *V, member string, raw any) error
	Check              func(v *V) error // of all members together; nil: none
}

// Read reads the tables; where something is wrong, all stay as they were.
func (n Named[V]) Read(into *map[string]V, raw any) (path []string, err error) {
	path = []string{n.Option}
	tables, ok := raw.(map[string]any)
	if !ok {
		return path, fmt.Errorf("must be tables, such as %s", n.Such)
	}
	all := make(map[string]V, len(tables))
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		at := append(slices.Clone(path), name)
		members, ok := tables[name].(map[string]any)
		if !ok {
			return at, fmt.Errorf("must be a table, such as %s", n.Such)
		}
		var v V
		if n.Begin != nil {
			if v, err = n.Begin(name); err != nil {
				return at, err
			}
		}
		for _, m := range slices.Sorted(maps.Keys(members)) {
			if !slices.Contains(n.Members, m) {
				return append(at, m), n.unknown(m)
			}
			if err := n.Set(&v, m, members[m]); err != nil {
				return append(at, m), err
			}
		}
		if n.Check != nil {
			if err := n.Check(&v); err != nil {
				return at, err
			}
		}
		all[name] = v
	}
	*into = all
	return nil, nil
}

func (n Named[V]) unknown(member string) error {
	if near := spelling.Closest(member, n.Members); near != "" {
		return fmt.Errorf("is nothing that %s has; did you mean %q?", n.What, near)
	}
	return fmt.Errorf("is nothing that %s has; it may have %s", n.What, strings.Join(n.Members, ", "))
}

// Texts is a list of texts without NUL.
func Texts(raw any) ([]string, bool) {
	list, ok := raw.([]any)
	all := make([]string, len(list))
	for i, one := range list {
		text, is := one.(string)
		all[i], ok = text, ok && is && !strings.ContainsRune(text, 0)
	}
	return all, ok
}

// TOML is the value as the file has it; "" for tables that the user names.
func (o *Option) TOML() string {
	switch v := o.Value.(type) {
	case *string:
		return fmt.Sprintf("%q", *v)
	case *[]string:
		return "[" + Quoted(*v) + "]"
	case *map[string]string:
		lines := make([]string, 0, len(*v))
		for k, text := range *v {
			lines = append(lines, fmt.Sprintf("%q = %q\n", k, text))
		}
		slices.Sort(lines)
		return strings.Join(lines, "")
	case *bool:
		return fmt.Sprint(*v)
	case *Not:
		return fmt.Sprint(!*v)
	case *int:
		return fmt.Sprint(*v)
	case *time.Duration:
		return fmt.Sprint(int(v.Seconds()))
	}
	return ""
}

// IsTable reports whether the setting is a table or several.
func (o *Option) IsTable() bool {
	_, one := o.Value.(*map[string]string)
	_, several := o.Value.(Tables)
	return one || several
}

// Quoted gives texts in quotes, parted by commas.
func Quoted(list []string) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(words, ", ")
}
