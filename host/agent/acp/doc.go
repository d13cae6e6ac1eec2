// Package acp is a client of agents that speak the Agent Client Protocol, version 1, over their stdin
// and stdout: it makes an agent.Provider of a command line.
//
// # What runs
//
// Each session has its own agent process, so an agent that crashes ends only one session. A process is
// started in its own process group and has a bounded time to answer initialize and session/new. When
// it ends, the whole group is ended; if the host dies, a watcher process ends the group. If a process
// has ended, or was ended because it did not cancel a turn, the next prompt starts another one, with
// session/resume or session/load if the agent supports one, else with a new session and a notice in
// the chat. The agent's stderr goes to a file of bounded size, and its last lines into the error of a
// failed turn.
//
// # Concurrency
//
// A link is a process and the connection to it. The connection's goroutine handles messages in order.
// Updates go straight to the turn's Sink, so an agent that sends too fast waits for the host. The
// agent's requests that may take time run in goroutines, of bounded number. A turn's mutex is held
// while its Sink is called, so nothing comes after Prompt has returned.
//
// # Tolerance and bounds
//
// Unknown updates, kinds, members and methods are ignored or answered with -32601. Lines on stdout
// that are not messages go to the log. An agent is ended, and its turn fails with the reason, if a
// message is longer than Config.MaxLine bytes, or maxGarbage bytes in a row are not a message. What a
// tool call contains is cut (toolcall.go); calls, terminals and requests beyond their bounds are
// refused.
//
// Message chunks between turns are dropped, because they belong to no turn, and so is what
// session/load replays, because the host has the history.
//
// # Extensions
//
// Supported are the extensions with which claude-agent-acp shows output of its own shell, and accepts
// messages while a turn runs.
package acp
