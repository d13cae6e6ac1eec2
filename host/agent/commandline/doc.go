// Package commandline carries out messages that are command lines: "!" and a line for the
// shell, which runs in a terminal of the session in place of a turn of its agent.
//
// Run reports it as a provider reports a tool call, so that a chat has one kind of turn. The
// agent is told with the next message that it gets (Attach): from the chat's turns, so
// nothing is kept here.
//
// It starts nothing itself, and does not decide who may: those are its caller's.
package commandline
