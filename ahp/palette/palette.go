package palette

import "tandemux/ahp"

// Method runs a command of the palette on a layout, as one change that those who show it
// follow. It needs what changing a layout does: scope admin, and nobody's bound token.
const Method = "x-tandemux/do"

// Params are its params.
type Params struct {
	Channel ahp.URI  `json:"channel"` // the layout
	Command string   `json:"command"` // such as "split-right"
	Args    []string `json:"args,omitempty"`
	// Pane is what it is done to: a pane's id, or a terminal of the layout by its URI;
	// empty is the focused one. With is, in the same way, the marked one.
	Pane string `json:"pane,omitempty"`
	With string `json:"with,omitempty"`
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
}
