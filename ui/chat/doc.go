// Package chat shows a conversation with an agent in a rectangle: its transcript
// above, what waits for an answer, and the prompt.
//
//	state of the chat (ahp) ─▶ Chat ─▶ transcript.View ─▶ cells
//	keys, mouse, paste ─────▶ Chat ─▶ Actions             what is to be done
//
// Only the event loop may use a Chat. It is given the chat's state (Reset), the actions that
// follow (Apply), and what concerns it of the session (SetSession). It sends nothing and starts
// nothing: it asks its Actions. It has no clock: its methods take the time.
//
// # Where keys go
//
// The prompt gets the keys; tab moves them to the transcript (Reading) and back. A question that
// waits gets them while the prompt is empty, but not right after it appears, so that nobody
// approves by typing on. The keymap says which key does what; Do runs bound commands, Type takes
// all other keys.
//
// # Invariants
//
// Nothing is drawn outside of the rectangle. A draft is never lost: it is sent to the host as
// AHP's draft.
//
// The package doesn't subscribe to channels, decide which chats show, or talk to agents.
package chat
