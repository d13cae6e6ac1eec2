// Package sessions has the host's sessions with agents: the bodies of session and chat
// channels, and the requests and actions that are about them.
//
// A session has chats, each with a session of an agent's of its own, which a provider
// opens (package agent). A turn that an agent is at is a prompting (turn.go): the
// provider's calls become actions under the lock, text joined as output is. What waits for
// a person or a client (tool_confirm.go, tool_client.go, input_request.go) waits on a
// channel, outside the lock, until it is answered or the turn ends. Nothing waits for a
// provider but goroutines of its own, and those give up after Limits.AgentGrace. The latest
// turns are the chat's state, those before wait in Chat.facts.Older (chat_window.go).
//
// Everything is guarded by core's lock but for what says otherwise. What ran when the host
// ended is ended by the next one (chat_revive.go), which says what is known of it.
//
// Sessions knows no terminal: what agents run in is Terminals', what they are shut in with
// a Sandbox, both the host's.
package sessions
