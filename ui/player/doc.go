// Package player plays recordings in a terminal: a Player is a recording, a place
// in it and what the screen shows there; Run is the program around it.
//
// What a recording prints goes to an emulator of our own and from there, as cells,
// to the outer terminal, never as it is: a recording that somebody sent can't
// set titles or the clipboard, ask the terminal to type, or leave it in a mode.
// Its terminal is drawn with its own size, cut where the outer one is smaller.
//
// A Player belongs to one goroutine, Run's loop; it has no clock: the time is an
// argument. Going back plays from the beginning again, which takes what writing
// the output takes. A paused player and one at the end wake for nothing.
package player
