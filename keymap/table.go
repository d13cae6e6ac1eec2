package keymap

import "slices"

// Mode says which of a table's bindings are in force.
type Mode uint8

const (
	// Normal is when keys go to the program, except chords bound here.
	Normal Mode = iota
	// Copy is when the pane is scrolled back and keys move in it. Keys not bound
	// here are looked up in Normal, so the prefix works as always.
	Copy
	// Chat is when the focused pane shows a chat and its prompt has the keys. Keys
	// not bound here are looked up in Normal, and else written.
	Chat
	// Reading is when the transcript of a chat has the keys.
	Reading
)

// modes are the names used in configuration and messages.
var modes = [...]string{Normal: "normal", Copy: "copy", Chat: "chat", Reading: "reading"}

// String gives the mode's name in configuration: "normal", "copy", "chat",
// "reading".
func (m Mode) String() string { return modes[m] }

// RepeatTime is how long after a Repeat binding its last key alone does it
// again: half a second as a time.Duration, which this package does not import.
const RepeatTime = 500_000_000

// Binding is a row of a table.
type Binding struct {
	Mode    Mode
	Keys    string   // canonical chord, such as "ctrl+space |"
	Chord   Chord    // Keys, parsed; not to be written to
	Command string   // name in ui/command's table
	Args    []string // the command's arguments; not to be written to
	// Repeat says that within RepeatTime after it ran, any Repeat binding of the
	// same chord but for the last key needs only that last key (tmux's -r).
	Repeat bool
	User   bool // comes from the user's configuration
}

// Table is a set of bindings. The zero Table binds nothing.
type Table struct {
	Name string

	prefix  Key
	sources []Binding // all rows, in order, not bound to the prefix; also those that lose a conflict
	rows    []Binding // those in force
	firsts  []Key     // of Normal mode's, each once
}

// prefixKey stands for the prefix in a table's sources. No terminal sends it.
var prefixKey = Key{Code: -1}

// Match is what Lookup found.
type Match uint8

const (
	// None means that the keys are bound to nothing.
	None Match = iota
	// Prefix means that longer chords start with the keys.
	Prefix
	// Full means that the keys are bound.
	Full
)

// Prefix gives the key that starts commands in Normal mode.
func (t Table) Prefix() Key { return t.prefix }

// WithPrefix gives the table with another prefix key. CheckPrefix says whether
// a user's choice is a good one.
func (t Table) WithPrefix(k Key) Table {
	return compile(t.Name, k, t.sources)
}

// compile puts the prefix in and settles conflicts: a user's row wins over a
// preset's, an earlier row over a later one, and nothing takes the prefix from
// Normal mode.
func compile(name string, prefix Key, sources []Binding) Table {
	t := Table{Name: name, prefix: prefix, sources: sources}
	inForce := make([]*Binding, len(sources))
	for _, user := range []bool{true, false} {
		for i, s := range sources {
			if s.User != user {
				continue
			}
			b := s.bound(prefix)
			if b.Mode != Normal && b.Chord[0] == prefix {
				continue
			}
			if !slices.ContainsFunc(inForce, func(o *Binding) bool { return o != nil && conflict(o, &b) }) {
				inForce[i] = &b
			}
		}
	}
	for _, b := range inForce {
		if b != nil {
			t.rows = append(t.rows, *b)
			if first := b.Chord[0]; b.Mode == Normal && !slices.Contains(t.firsts, first) {
				t.firsts = append(t.firsts, first)
			}
		}
	}
	return t
}

// bound gives the binding, whose chord may have prefixKey in it, with a prefix.
func (b Binding) bound(prefix Key) Binding {
	b.Chord = slices.Clone(b.Chord)
	for i, k := range b.Chord {
		if k == prefixKey {
			b.Chord[i] = prefix
		}
	}
	b.Keys = b.Chord.String()
	return b
}

// conflict says whether two bindings can't both be in force: the same chord, or
// one the start of the other.
func conflict(a, b *Binding) bool {
	return a.Mode == b.Mode && (a.Chord.startsWith(b.Chord) || b.Chord.startsWith(a.Chord))
}

// Lookup finds what the keys pressed so far are bound to. It makes no garbage:
// it runs for each key press.
func (t Table) Lookup(m Mode, keys ...Key) (Binding, Match) {
	if len(keys) == 0 {
		return Binding{}, None
	}
	for {
		if m == Normal && !slices.Contains(t.firsts, keys[0]) { // what is typed: the rows stay unread
			return Binding{}, None
		}
		found := None
		for i := range t.rows {
			if r := &t.rows[i]; r.Mode == m && r.Chord.startsWith(keys) {
				if len(r.Chord) == len(keys) {
					return *r, Full
				}
				found = Prefix
			}
		}
		if found == Prefix || m == Normal {
			return Binding{}, found
		}
		m = Normal
	}
}

// Following gives the bindings whose chord starts with, and is longer than, the
// keys: what the hint after the prefix shows.
func (t Table) Following(m Mode, keys ...Key) []Binding {
	var found []Binding
	for _, r := range t.rows {
		if (r.Mode == m || r.Mode == Normal) && len(r.Chord) > len(keys) && r.Chord.startsWith(keys) {
			found = append(found, r)
		}
	}
	return found
}

// Bindings gives all rows in the order of the preset, then the user's. The slice
// is the caller's.
func (t Table) Bindings() []Binding { return slices.Clone(t.rows) }

// For gives the bindings of a command, the user's own first. Without args any
// arguments match.
func (t Table) For(command string, args ...string) []Binding {
	var own, others []Binding
	for _, r := range t.rows {
		switch {
		case r.Command != command || len(args) > 0 && !slices.Equal(r.Args, args):
		case r.User:
			own = append(own, r)
		default:
			others = append(others, r)
		}
	}
	return append(own, others...)
}
