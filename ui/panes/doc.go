// Package panes is what is on the screen and where: the layout's document with its
// tabs, the places that follow from it, a view for each pane, the terminals that are
// followed for them, and what a person does to all of that. It belongs to the event
// loop.
//
// The document that is shown is the newest confirmed one with the operations on top
// that the host has not answered yet; one dispatch is under way at a time. Operations
// name panes and terminals, not places, as they may be done again on another
// document. The mark, typing into all panes of a tab and the going to another layout
// are this client's alone.
//
// Panes draw nothing and know no keys: what follows from their changes elsewhere is
// done by Hooks.
package panes
