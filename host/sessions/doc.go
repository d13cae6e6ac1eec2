// Package sessions has the host's sessions with agents: the bodies of session and chat channels, and
// their requests and actions.
//
// A session has chats, each with its own agent's session, which a provider opens (package agent). A
// turn that an agent works on is a prompting (turn.go): the agent's calls become actions under the
// core's lock; its text is gathered as output is. What waits for a person or a client
// (tool_confirm.go, tool_client.go, input_request.go) waits on a Go channel, without the lock, until
// it is answered or the turn ends. Only goroutines of their own wait for a provider, for
// Limits.AgentGrace at most. The latest turns are in the chat's state, older ones in Chat.facts.Older
// (chat_window.go).
//
// Everything is guarded by the core's lock unless a comment says otherwise. The next host ends what
// ran when a host ended, and says what is known about it (chat_revive.go).
//
// The package knows no terminals and no sandboxes: they are behind the interfaces Terminals and
// Sandbox, which the host implements.
package sessions
