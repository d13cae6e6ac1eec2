// Package keys runs commands by keys: it has the table of bindings from the settings, incomplete
// chords, the hint about what can follow them, and the texts about keys in help, palette and
// messages. Only the event loop may use it.
//
// A key that belongs to no chord is for the focused program.
package keys
