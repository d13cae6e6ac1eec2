// Package overlay has what is shown on top of the panes: the one kind of list, with its filter,
// columns, actions and preview; prompts; questions of agents; confirmations; menus; the numbers
// of panes; and the hint after the prefix key. A list's owner gives it a Source of what it shows
// and does.
//
// Only the event loop may use an Overlay. The functions that it is given run while it handles a
// key. It fits into any area, and asks for what it lists whenever it draws.
package overlay
