// Package agentterm gives the agents of sessions what they work with: terminals that the
// session holds, files below its directories, and MCP servers, in its sandbox if it has one.
//
// What an agent uses is guarded by core's lock, until the agent releases it. A person may
// take the terminal meanwhile: then the agent is told that its command runs on without it.
package agentterm
