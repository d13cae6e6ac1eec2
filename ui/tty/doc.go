// Package tty is the outer terminal: its raw mode, what is switched on in it
// and off again, what it can do, and what its bytes mean.
//
// Decoder turns bytes into Bubble Tea's messages with Bubble Tea's own decoder
// (ultraviolet's EventDecoder). Only the loop around it is ours, because
// Bubble Tea's TerminalReader holds a lone ESC back for 50 ms, decodes a paste
// character by character and hands each event over one by one: here ESC goes
// on at once, a paste goes on in the pieces it came in, and all events of one
// read are one message.
//
// Answers of the terminal about itself and its colours are messages too. While
// they are due, sequences and a lone ESC wait a moment for their rest; an answer
// about a colour is never taken for keys, however late it comes.
//
// Terminal owns the file descriptors. Restore may be called from any
// goroutine, any number of times; it is the one thing that has to happen on
// every way out. Caps is a value: what the terminal said about itself.
//
// The package draws nothing.
package tty
