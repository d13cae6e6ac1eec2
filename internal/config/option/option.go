package option

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
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
	// TOML gives what is set.
	TOML() string
}

// Default gives a Value that holds a default.
func Default[T any](value *T, def T) *T {
	*value = def
	return value
}

// Named reads tables that the user names, such as [agents.mine]: begin makes the value of a
// table, set takes a member of it, check says what is wrong with all of them together.
func Named[V any](option, such string, raw any, begin func(name string) (V, error), set func(v *V, member string, raw any) error, check func(v *V) error) (all map[string]V, path []string, err error) {
	path = []string{option}
	tables, ok := raw.(map[string]any)
	if !ok {
		return nil, path, fmt.Errorf("must be tables, such as %s", such)
	}
	all = make(map[string]V, len(tables))
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		at := append(slices.Clone(path), name)
		members, ok := tables[name].(map[string]any)
		if !ok {
			return nil, at, fmt.Errorf("must be a table, such as %s", such)
		}
		v, err := begin(name)
		if err != nil {
			return nil, at, err
		}
		for _, m := range slices.Sorted(maps.Keys(members)) {
			if err := set(&v, m, members[m]); err != nil {
				return nil, append(at, m), err
			}
		}
		if err := check(&v); err != nil {
			return nil, at, err
		}
		all[name] = v
	}
	return all, nil, nil
}

// TOML is the value as the file has it.
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
	return o.Value.(Tables).TOML()
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
