// Package agent is what the host knows of agents: a Provider that opens
// sessions, a Session that runs turns, and what the host supplies to them,
// terminals and files. The words are AHP's; how an agent is spoken to is the
// provider's affair (package acp speaks the Agent Client Protocol to child
// processes).
//
// # Who owns what
//
// The host owns the state of sessions and chats, gives ids to turns and parts,
// decides who may confirm, and keeps the history. A provider owns the agent: its
// process, its own idea of the session, its restarts. A Session stands for one
// chat: a host that lets a session have several chats opens one for each. What a
// provider reports about a tool call is always the call as a whole, so that the
// host may compare it with what it has, and reports may be repeated.
//
// # Concurrency
//
// Prompt is called by one goroutine at a time for each Session; all else may be
// called at any time. A provider calls the methods of a turn's Sink and of Events
// one after the other, in the order in which things happened, except Confirm,
// which waits for a person: several may wait at once, and other events go on
// meanwhile. Sink's and Events' methods must not call back into the Session; they
// may block for as long as the host is behind, which holds up the agent alone.
// Info, ID and Resumed answer at once: the host asks under its lock, so that a
// provider must hold nothing that they need while it calls a Sink or Events.
//
// # The end of a turn
//
// Prompt returns when the turn has ended, one way or another: with an Outcome when
// the agent said so, with an *Error when it failed. After that its Sink gets
// nothing more, and every Confirm of the turn has been given up. A turn is
// cancelled by the end of Prompt's context: the agent is told and gets a while to
// end it, then its process is ended. A provider never leaves a process behind
// after Close.
//
// # What it doesn't do
//
// No policy: what a command may be is package guard's, who may confirm is the
// host's. No persistence: Session.ID is what the host has to keep.
package agent
