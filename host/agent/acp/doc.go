// Package acp runs agents that speak the Agent Client Protocol, version 1, over
// their stdin and stdout, and is their client: it makes an agent.Provider of a
// command line.
//
// # What runs
//
// Each session has an agent process of its own: one that crashes takes no other
// session along. A process is started in its own group with a bounded time to
// answer initialize and session/new; at its end the whole group is ended, and if
// the host dies without a word, a watcher, a shell that does nothing but wait for
// that, ends it. A process that has ended, or was ended because it would not
// cancel a turn, is started again by the next prompt, with session/resume or
// session/load where the agent can, else with a new session and a notice in the
// chat. What an agent writes to stderr goes to a file of bounded size, and its
// last lines into the error of the turn that failed.
//
// # Concurrency
//
// A link is a process and the connection to it. The connection's goroutine
// handles messages in order: updates go straight to the turn's Sink, so an agent
// that floods waits for the host; requests of the agent that may take time have
// goroutines of their own, a bounded number. A turn's mutex is held while its
// Sink is called, so that nothing comes after Prompt has returned.
//
// # Tolerance and bounds
//
// Unknown updates, kinds, members and methods are ignored or answered with
// -32601; they end nothing. Lines on stdout that aren't messages go to the log.
// Beyond these bounds an agent is ended, and its turn fails with the reason: a
// message of more than Config.MaxLine bytes, and maxGarbage bytes in a row that
// are no message. What a tool call holds is cut (toolcall.go), and what exceeds
// the number of calls, terminals and requests is refused.
//
// Chunks of messages between turns are dropped: there is no turn that they
// belong to. So is what session/load replays: the host keeps the history.
//
// # Extensions
//
// That by which claude-agent-acp shows what its own shell prints, and that by which it
// takes messages while a turn runs, are understood.
package acp
