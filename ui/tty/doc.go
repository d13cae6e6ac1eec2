// Package tty is the outer terminal: raw mode, the modes that are switched on and off again, its
// capabilities, and the decoding of its input.
//
// Decoder turns bytes into Bubble Tea's messages with Bubble Tea's own decoder (ultraviolet's
// EventDecoder). Only the loop around it is ours, because Bubble Tea's TerminalReader holds a
// single ESC back for 50 ms, decodes a paste character by character and sends each event by
// itself. Here ESC is sent at once, a paste in the pieces in which it arrives, and all events of
// one read are one message.
//
// Answers of the terminal about itself and its colours are messages too. While they are due,
// sequences and a single ESC wait a moment for their rest. An answer about a colour is never
// taken for keys, however late it arrives.
//
// Terminal owns the file descriptors. Restore may be called from any goroutine, any number of
// times, and must be called on every way out. Caps is a value.
//
// The package draws nothing.
package tty
