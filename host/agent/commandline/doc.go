// Package commandline runs messages that are command lines: "!" and a line for the shell, which runs
// in a terminal of the session instead of a turn of its agent.
//
// Run reports it as a provider reports a tool call, so a chat has only one kind of turn. The agent is
// told with its next message (Attach), from the chat's turns, so nothing is stored here.
//
// It starts nothing itself and does not decide who may run commands: its caller does.
package commandline
