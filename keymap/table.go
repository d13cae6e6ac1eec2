package keymap

// Mode says which of a table's bindings are in force.
type Mode uint8

const (
	Normal Mode = iota // keys go to the program, except chords bound here
	Copy               // scrolled back: keys are the copy mode's own
)

// Binding is a row of a table.
type Binding struct {
	Mode    Mode
	Keys    string   // canonical chord, such as "ctrl+space |"
	Chord   Chord    // Keys, parsed
	Command string   // name in ui/command's table
	Args    []string // the command's arguments
	Repeat  bool     // within Table.RepeatTime the last key alone does it again (tmux's -r)
	User    bool     // comes from the user's configuration
}

// Table is a set of bindings. The zero Table binds nothing.
type Table struct {
	Name string
	rows []Binding
}

// Match is what Lookup found.
type Match uint8

const (
	None   Match = iota // bound to nothing
	Prefix              // the start of longer chords
	Full                // a binding
)

// Presets gives the names of the presets, the default one first.
func Presets() []string { return nil }

// Preset gives the table of that name; ok is false when there is none.
func Preset(name string) (t Table, ok bool) { return Table{}, false }

// Prefix gives the key that starts commands in Normal mode.
func (t Table) Prefix() Key { return Key{} }

// WithPrefix gives the table with another prefix key.
func (t Table) WithPrefix(k Key) Table { return t }

// Lookup finds what the keys pressed so far are bound to.
func (t Table) Lookup(m Mode, keys ...Key) (Binding, Match) { return Binding{}, None }

// Following gives the bindings whose chord starts with, and is longer than,
// the keys: what the hint after the prefix shows.
func (t Table) Following(m Mode, keys ...Key) []Binding { return nil }

// Bindings gives all rows in the order of the preset.
func (t Table) Bindings() []Binding { return nil }

// For gives the bindings of a command, the preferred one first. Without args
// any arguments match.
func (t Table) For(command string, args ...string) []Binding { return nil }

// Problem is a fault in a user's bindings, in words for the user.
type Problem struct {
	Mode Mode
	Keys string
	Text string
	Warn bool // the binding is in force all the same
}

// Override gives the table with the user's bindings: from chord to
// "command [args]", or "" to unbind. The word "prefix" stands for the prefix
// key. check, if not nil, says what is wrong with a command and its arguments
// (ui/command.Check). Faulty rows are left out and reported.
func (t Table) Override(m Mode, user map[string]string, check func(name string, args []string) error) (Table, []Problem) {
	return t, nil
}

// Section is a group of help rows.
type Section struct {
	Title string
	Rows  []Row
}

// Row is a line of help: the keys that do it, and what it is.
type Row struct {
	Keys     []string // as shown, without the prefix when Prefixed
	Command  string
	Args     []string
	Text     string
	Prefixed bool
}

// Describe says which group a command belongs to and what it does, in a few
// words. ui/command.Describe is one.
type Describe func(name string, args []string) (group, text string, ok bool)

// Help gives the bindings of a mode grouped and in the order in which the
// groups first occur.
func (t Table) Help(m Mode, d Describe) []Section { return nil }
