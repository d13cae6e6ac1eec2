// Package player plays recordings in a terminal. A Player is a recording, a position in it, and
// the screen at that position; Run is the program around it.
//
// The output of a recording goes to an emulator and from there, as cells, to the outer terminal.
// So a recording that somebody sent can't set titles or the clipboard, make the terminal answer,
// or leave it in some mode. Its screen is drawn with its own size, cut where the outer terminal
// is smaller.
//
// Only one goroutine, Run's loop, may use a Player. It has no clock: the time is an argument.
// Going back plays from the beginning again, which costs as much as writing the output. A Player
// that is paused or at the end never wakes.
package player
