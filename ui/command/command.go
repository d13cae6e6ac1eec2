package command

// Command is a row of the table.
type Command struct {
	Name  string // stable, lower case with hyphens
	Title string // for palette, hint and help: imperative, no full stop
	Group string
	Help  string // one sentence
	Args  []Arg
	// Mode is "" for commands that run any time and "copy" for those that need
	// copy mode.
	Mode string
	// Disabled says why the command can't run now, "" when it can. Never nil.
	Disabled func(Context) string
}

// Arg is an argument of a command, in order.
type Arg struct {
	Name     string
	Kind     Kind
	Optional bool
	Min, Max int      // bounds of an Int
	Choices  []string // of a Choice
}

// Kind is an argument's type.
type Kind uint8

const (
	Text Kind = iota
	Int
	Choice
)

// Holder says who holds the focused pane's terminal, seen from this person.
type Holder uint8

const (
	Nobody     Holder = iota // no focused pane, or its terminal is gone
	Me                       // this client
	MyOther                  // another client of the same person
	Other                    // another person's client
	Agent                    // a session, with a tool call running
	Background               // a session, without a tool call
)

// Context is what the commands need to know to say whether they can run now.
// The root model fills it; the zero value is an unconnected, empty layout.
type Context struct {
	Args []string // of the command asked about

	Connected bool
	Tabs      int
	Tab       int  // index of the active tab
	LastTab   bool // a tab was active before
	Panes     int  // in the active tab
	LastPane  bool // a pane was focused before
	Zoomed    bool

	// A neighbour of the focused pane exists in that direction.
	Left, Down, Up, Right bool
	// There is room to split the focused pane.
	RoomRight, RoomDown bool

	Holder     Holder
	Exited     bool // the focused terminal's process has ended
	HandBack   bool // a session had the focused terminal before this person took it
	Scroll     int  // lines that the focused pane is scrolled back
	History    int  // lines that it could be
	FullScreen bool // its program uses the alternate screen
	Copying    bool // copy mode is on
}

// All gives the commands in the order of the help.
func All() []Command { return nil }

// Find gives the command of that name.
func Find(name string) (Command, bool) { return Command{}, false }

// Check says what is wrong with a command line: an unknown name (with a
// suggestion), missing, surplus or malformed arguments.
func Check(name string, args []string) error { return nil }

// Describe is a keymap.Describe.
func Describe(name string, args []string) (group, text string, ok bool) { return "", "", false }

// Why says why the command can't run now: "" when it can.
func Why(name string, args []string, c Context) string { return "" }
