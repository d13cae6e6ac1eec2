// Package agent defines agents for the host: a Provider that opens sessions, a Session that runs
// turns, and the terminals and files that the host supplies. The terms are AHP's. How to speak to an
// agent is the provider's concern (package acp speaks the Agent Client Protocol to child processes).
//
// # Who owns what
//
// The host has the state of sessions and chats, gives ids to turns and parts, decides who may confirm,
// and stores the history. A provider has the agent: its process, its view of the session, its
// restarts. A Session is for one chat; a session with several chats has one for each. A provider
// always reports a tool call as a whole, so the host can compare it with what it has, and reports may
// be repeated.
//
// # Concurrency
//
// Prompt is called by one goroutine at a time for each Session; everything else may be called at any
// time. A provider calls the methods of a turn's Sink and of Events one after the other, in the order
// of what happened, except Confirm, which waits for a person: several calls may wait while other
// events go on. Methods of Sink and Events must not call back into the Session. They may block while
// the host is busy, which delays only the agent. Info, ID and Resumed must not block: the host calls
// them under its lock, so a provider must not hold anything that they need while it calls a Sink or
// Events.
//
// # The end of a turn
//
// Prompt returns when the turn has ended: with an Outcome if the agent said so, with an *Error if it
// failed. After that its Sink gets nothing more, and every Confirm of the turn has been given up. A
// turn is cancelled by the end of Prompt's context: the agent is told and may take a while to end it,
// then its process is ended. After Close a provider leaves no process behind.
//
// # What it doesn't do
//
// No policy: package guard decides which commands may run, the host who may confirm. No persistence:
// the host stores Session.ID.
package agent
