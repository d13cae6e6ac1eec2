package palette

import (
	"tandemux/ahp"
)

const (
	// Method runs a command of the palette on a layout, as one change that those who show
	// it follow, or in an interface. It needs what changing a layout does: scope admin, and
	// nobody's bound token.
	Method = "x-tandemux/do"
	// MethodClients lists the caller's interfaces: the clients of the same principal
	// that show a layout.
	MethodClients = "x-tandemux/clients"
	// MethodOrder is a request of the host's: it hands an interface what Method has for it.
	// A client that answers none is no interface that takes commands.
	MethodOrder = "x-tandemux/order"
)

// Clients answers MethodClients.
type Clients struct {
	Items []Client `json:"items"` // never null; by layout, then client
}

// Client is one that shows a layout.
type Client struct {
	ClientID string  `json:"clientId"`
	Layout   ahp.URI `json:"layout"`
}

type Params struct {
	Channel ahp.URI  `json:"channel"` // the layout
	Command string   `json:"command"` // such as "split-right"
	Args    []string `json:"args,omitempty"`
	// Interface is the client that it is done in, one of the caller's that shows the layout;
	// empty is none. There it is done to the focused pane: Pane gets the focus first.
	Interface string `json:"interface,omitempty"`
	// Pane is what it is done to: a pane's id, or a terminal of the layout by its URI;
	// empty is the focused one. With is, in the same way, the marked one.
	Pane string `json:"pane,omitempty"`
	With string `json:"with,omitempty"`
	// Terminal, of this host or of another one whose name its URI carries, is put where the
	// command would put one that it makes; empty: it makes one.
	Terminal ahp.URI `json:"terminal,omitempty"`
	// KeepFocus leaves the focus and the active tab as they are.
	KeepFocus bool `json:"keepFocus,omitempty"`
	// Yes answers what the palette would ask; else that is an error.
	Yes bool `json:"yes,omitempty"`
}

// Result answers it, for a popup when its program has ended.
type Result struct {
	// Tab, Pane and Terminal are those that were made, else what it was done to.
	Tab      string  `json:"tab,omitempty"`
	Pane     string  `json:"pane,omitempty"`
	Terminal ahp.URI `json:"terminal,omitempty"`
	Made     bool    `json:"made"`
	ExitCode *int    `json:"exitCode,omitempty"` // of a popup's program
	Said     string  `json:"said,omitempty"`     // what an interface has told its person
}

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
