// Package termcmd is the commands about terminals and those who use them: new, ls, send,
// read, wait, watch, claim and what else is done to one terminal; layouts as files,
// sessions with agents, and tokens. Each is a client of a host, over internal/endpoint,
// and prints what that answers.
//
// The package keeps no state; a command runs in one goroutine, and what watch is told of
// comes from its connection's.
package termcmd
