// Package wire has the fast ways of what is sent most: a terminal's output, and what
// is typed into it. Each writes or reads one form of one message, byte for byte as
// ahp.Encode and package jsonrpc write it, without reflection; whatever is spelled
// otherwise is left to the general decoder. A client on the unix socket gets output without
// quotes and escapes, if it says so (MethodUnquoted), and the texts of states (Apart).
//
// Functions only, without state; they may be called from any goroutine. It knows no
// other message, and no connection.
package wire
