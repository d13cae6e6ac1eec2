// Package typing is what goes from the person to terminals: keys, pastes and reports of
// the focus, as the programs expect them, gathered during an update and sent at its
// end. It belongs to the event loop.
//
// Input that takes more than one message, such as a long paste, is a flow: a piece
// goes when the host has taken the one before, so that a program that reads slowly gets
// all of it and in order. What is typed while the connection is lost is kept for a
// short time and sent when it is back; what is not sent is counted and said. Which
// terminal gets it is the layout's focus, and every other pane of the tab where that
// is wanted.
package typing
