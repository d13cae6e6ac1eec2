package palette

// MethodInterface tells how the host's owner has the interface: what another one needs to
// have the same keys, commands and colours. Who lacks the scope admin is not told the
// programs that keys start.
const MethodInterface = "x-tandemux/interface"

// Interface answers it.
type Interface struct {
	Prefix   string    `json:"prefix"` // the key that begins chords
	Keys     []Binding `json:"keys"`
	Commands []Command `json:"commands"` // in the order of the help
	Dark     Theme     `json:"dark"`     // for dark screens
	Light    Theme     `json:"light"`
	// CommandMarks says that commands are marked at their lines.
	CommandMarks bool `json:"commandMarks"`
}

// Binding is a chord of keys, with a blank between them, and what it does.
type Binding struct {
	Mode    string   `json:"mode"` // normal, copy, chat, reading
	Keys    string   `json:"keys"` // such as "ctrl+space |"
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	Repeat  bool     `json:"repeat,omitempty"` // soon after it its last key alone does it again
}

// Command is one of the palette.
type Command struct {
	Name  string   `json:"name"`
	Title string   `json:"title"`
	Group string   `json:"group"`
	Help  string   `json:"help"`
	Args  []string `json:"args,omitempty"` // what it takes, optional ones in brackets
	// Do says that x-tandemux/do does it; of others each interface does what it can.
	Do bool `json:"do,omitempty"`
}

// Theme has colours by their tokens: "#rrggbb", "0" to "15" of a terminal's own, or
// "default".
type Theme struct {
	Name   string            `json:"name"`
	Dark   bool              `json:"dark"`
	Colors map[string]string `json:"colors"`
}
