// Package overlay holds what is shown on top of the panes: the one list that all
// lists are, with its filter, columns, actions and preview, prompts, questions with
// an agent's answers, confirmations, menus, the numbers of panes, and the hint after the prefix. What a list shows
// and does is a Source of its owner's.
//
// An Overlay belongs to the event loop, as do the functions that it is given:
// they run while it handles a key. It keeps what it needs to draw itself into
// any area, and no more; what it lists it asks for again whenever it draws.
package overlay
