// Package keys is what a person's keys do: the table of bindings that follows from
// their settings, chords that are not complete yet, what can follow them, and how keys
// are told to people in help, palette and messages. It belongs to the event loop.
//
// A key that is no part of a chord is given back: it is the focused program's.
package keys
