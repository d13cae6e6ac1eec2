// Package keymap holds keys, chords, modes and the tables that bind chords to
// command names, with the presets "default", "tmux" and "screen" and the help
// and documentation made from them.
//
// Everything is a value: a Table is never changed after it was made, so it may
// be shared between goroutines. The package knows command names only as
// strings; ui/command owns what they mean, and its Check and Describe connect
// the two. It neither reads files nor decodes what a terminal sends: Press
// takes what a decoder made of that.
//
// Keys are canonical: presses that a person can't tell apart are equal values.
// A terminal reports shift with a letter as the upper-case letter, so "shift+a"
// is "A"; with ctrl, super, hyper or meta letters have no case, so "ctrl+A" is
// "ctrl+a" and shift is spelled out. ctrl+@ and ctrl+space are the same byte.
// What only the kitty keyboard protocol keeps apart stays apart here (ctrl+i and
// tab); Legacy says what such a key arrives as without it.
//
// Invariants of a Table: no chord is bound twice in a mode, none is the start of
// another, and in copy mode the prefix key still starts the Normal chords.
package keymap
