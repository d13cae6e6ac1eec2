// Package overlay holds what is shown on top of the panes: the hint after the
// prefix, help, the terminal list, the command palette, prompts and
// confirmations.
//
// An Overlay belongs to the event loop, as do the functions that it is given:
// they run while it handles a key. It keeps what it needs to draw itself into
// any area, and no more; what it lists it asks for again whenever it draws.
package overlay
