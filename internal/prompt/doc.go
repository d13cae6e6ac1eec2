// Package prompt is `tandemux prompt`: one turn with an agent, whose answer is printed as
// it comes, and the questions that are put to a person line by line meanwhile (Asker,
// which `tandemux answer` uses too).
//
// The connection's reader puts what it is told into an inbox; everything else happens in
// the command's goroutine.
package prompt
