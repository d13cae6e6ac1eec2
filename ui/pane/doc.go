// Package pane shows a terminal in a rectangle.
//
// A Feed is a terminal as this client sees it: an emulator fed with the host's
// actions. The connection's goroutine writes to it; the event loop reads it.
// Its lock is held for one write or one drawing. It tells, at most once until
// the next drawing, that there is something to draw.
//
// A View is a pane's window on a feed. Only the event loop may use it; several views
// may show one feed. A View embeds a window, which knows which line shows at which
// row, and that embeds lines, the feed's text with its folds. The marks of commands
// (signs), copy mode's cursor and a search have states of their own.
//
// Lines are counted in two ways. A screen line is the emulator's y: 0 is the
// top of the screen, -1 the newest line of history. A line is an absolute
// number that a line of text keeps as it scrolls: y plus the number of lines
// that have scrolled off since the feed was reset. Selections, search matches
// and what a scrolled-back view shows are lines, so that output does not move
// them.
//
// A search reads the text once: an index keeps that of the history, which does
// not change, from the first search until the view follows the output again.
// What shows is searched as it is drawn. Lines that were wrapped are one stretch
// of text for searches, clicks and links.
//
// Commands of the terminal's shell are marks in the feed's emulator, set where
// the host's actions and the parts of a snapshot say that output begins and
// ends. They keep their places through scrolling and reflow; nothing is read off
// the screen to find them.
//
// The package decides nothing about claims and sends nothing.
package pane
