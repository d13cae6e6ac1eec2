// Package mcp is the front for agents that speak the Model Context Protocol:
// tools over a host's terminals, on the official Go SDK. It is a thin
// translation. Each tool is a row of one table (tool.go) and does its work by
// requests and actions of AHP, on a connection that the caller made for one
// agent: who the agent is, what it holds, what it may start and how much of it,
// is decided by the host, for this front as for all others. The texts of the
// documents' refusals (T14–T16, T21) come from there as well.
//
// A Server is for one agent; HTTP keeps one for each principal that comes by the
// host's listeners. It keeps no state but the number of the next tool
// call and may be used by any number of MCP sessions and goroutines.
//
// # Claims
//
// What an agent starts is claimed for its session ({session}, or {session, chat}
// when it runs below the host), with the tool call's id while run_command runs,
// so that a person sees at the pane what is done there and why. Owner and
// visibility, as the tools name them, derive from the claim: owner "user" is a
// claim of kind client, and a terminal is visible when a client holds it or a
// layout shows it.
//
// # Ids
//
// The tools name a terminal pty-ID, where ID is the last part of its URI; the
// URI itself and the bare id are accepted.
//
// # Answers
//
// An answer is text, JSON in one line; what a program printed is a second text, as it is.
// A call lasts no longer than clients wait (patience), and what it began goes on. One that
// is cancelled, over HTTP also by hanging up (pending), interrupts its command.
//
// # What it does not do
//
// It authenticates nobody (the carrier has), knows no policy, and runs nothing
// itself. It never gives out control sequences unless it is asked for them.
package mcp
