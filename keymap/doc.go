// Package keymap holds keys, chords, modes and the tables that bind chords to
// command names, with the presets "default", "tmux" and "screen" and the help
// and documentation made from them.
//
// Everything is a value: a Table is never changed after it was made, so it may
// be shared between goroutines. The package knows command names only as
// strings; ui/command owns what they mean, and its Describe and Check connect
// the two. It neither reads files nor decodes what a terminal sends: Press
// takes what a decoder made of it.
package keymap
