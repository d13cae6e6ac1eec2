// Package agentterm gives the agents of sessions what they work with: terminals that the session
// holds, files below its directories, and MCP servers, in its sandbox if it has one.
//
// An agent's use of a terminal is guarded by the core's lock. It lasts until the agent releases it. If
// a person takes the terminal meanwhile, the agent is told that its command runs on without it.
package agentterm
