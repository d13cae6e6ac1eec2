// Package wire writes and reads the most frequent messages without reflection: a terminal's
// output and what is typed into it. It writes what ahp.Encode and package jsonrpc write, byte
// for byte, and reads only that; the caller leaves other spellings to the general decoder. A
// client on the unix socket that sends MethodUnquoted gets output and the texts of states
// (Apart) without quotes and escapes.
//
// The functions have no state and may be called from any goroutine.
package wire
