// Package cli is what the commands of tandemux have in common: how they and their flags
// are made of structs (Command), exit codes and the errors that choose them, output as
// text, tables or JSON, questions with yes or no, and times, sizes and counts in words.
// Text that programs or other people wrote is made harmless before it reaches a terminal.
//
// It knows cobra, and nothing of hosts; what JSON looks like is internal/jsonform's. It keeps no state; everything may be used
// from any goroutine.
package cli
