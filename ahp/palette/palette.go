package palette

import (
	"tandemux/ahp"
)

const (
	// Method runs a command of the palette on a layout, as one change of it that all clients see, or
	// in an interface. Like changing a layout it needs the scope admin, and a token that is bound to
	// no terminal.
	Method = "x-tandemux/do"
	// MethodClients lists the caller's interfaces: clients of the same principal that show a layout.
	MethodClients = "x-tandemux/clients"
	// MethodOrder is a request from the host to an interface: it passes on the Params of Method. A
	// client that does not answer it takes no commands.
	MethodOrder = "x-tandemux/order"
)

// Clients is the answer to MethodClients.
type Clients struct {
	Items []Client `json:"items"` // never null; sorted by layout, then client
}

// Client is a client that shows a layout.
type Client struct {
	ClientID string  `json:"clientId"`
	Layout   ahp.URI `json:"layout"`
}

type Params struct {
	Channel ahp.URI  `json:"channel"` // the layout
	Command string   `json:"command"` // such as "split-right"
	Args    []string `json:"args,omitempty"`
	// Interface is one of the caller's clients that show the layout; the command runs there, on the
	// focused pane: Pane gets the focus first. If it is empty, the host runs the command.
	Interface string `json:"interface,omitempty"`
	// Pane is the pane that the command is about: a pane's id, or the URI of a terminal in the layout;
	// empty means the focused pane. With names the marked pane in the same way.
	Pane string `json:"pane,omitempty"`
	With string `json:"with,omitempty"`
	// Terminal is shown where the command would show a new terminal. It may be one of another host. If
	// it is empty, the command creates one.
	Terminal ahp.URI `json:"terminal,omitempty"`
	// KeepFocus leaves the focus and the active tab as they are.
	KeepFocus bool `json:"keepFocus,omitempty"`
	// Yes answers the question that the palette would ask; without it that question is an error.
	Yes bool `json:"yes,omitempty"`
}

// Result is the answer to Method. For a popup it comes when the popup's program has ended.
type Result struct {
	// Tab, Pane and Terminal are those that were created, or else those that the command was about.
	Tab      string  `json:"tab,omitempty"`
	Pane     string  `json:"pane,omitempty"`
	Terminal ahp.URI `json:"terminal,omitempty"`
	Made     bool    `json:"made"`
	ExitCode *int    `json:"exitCode,omitempty"` // of a popup's program
	Said     string  `json:"said,omitempty"`     // what an interface has shown to its person
}

// MethodInterface asks for the interface's settings of the host's owner, with which another interface
// can have the same keys, commands and colours. Connections without the scope admin don't get the
// programs that keys start.
const MethodInterface = "x-tandemux/interface"

// Interface is the answer to MethodInterface.
type Interface struct {
	Prefix   string    `json:"prefix"` // the key that begins a chord
	Keys     []Binding `json:"keys"`
	Commands []Command `json:"commands"` // in the order of the help
	Dark     Theme     `json:"dark"`     // for dark screens
	Light    Theme     `json:"light"`
	// CommandMarks says that interfaces mark the lines where commands begin.
	CommandMarks bool `json:"commandMarks"`
}

// Binding is a chord, its keys separated by blanks, and the command that it runs.
type Binding struct {
	Mode    string   `json:"mode"` // normal, copy, chat, reading
	Keys    string   `json:"keys"` // such as "ctrl+space |"
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	Repeat  bool     `json:"repeat,omitempty"` // soon afterwards the last key alone repeats it
}

// Command is a command of the palette.
type Command struct {
	Name  string   `json:"name"`
	Title string   `json:"title"`
	Group string   `json:"group"`
	Help  string   `json:"help"`
	Args  []string `json:"args,omitempty"` // its arguments, optional ones in brackets
	// Do says that the host runs it (Method); other commands only an interface can run.
	Do bool `json:"do,omitempty"`
}

// Theme has colours by token: "#rrggbb", "0" to "15" for the terminal's own, or "default".
type Theme struct {
	Name   string            `json:"name"`
	Dark   bool              `json:"dark"`
	Colors map[string]string `json:"colors"`
}
