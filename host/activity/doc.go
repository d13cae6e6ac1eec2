// Package activity has the channel on which the host tells people what they may want to
// look at: terminals that ask for attention, what agents were not allowed, who shows a
// layout, and what the host's owner has to see to.
//
// Activity is the channel's body, guarded by core's lock but for what is written to the
// disk again (trouble.go). Rows and refusals that have changed wait for Interval, so that a
// program that rings all the time costs its viewers no more than the list of terminals
// does. A Terminal is what the channel has to know of one to say so.
//
// It knows no terminals and no layouts: their owners say what has changed.
package activity
