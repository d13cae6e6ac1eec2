// Package chat shows a conversation with an agent in a rectangle: its transcript
// above, what waits for an answer, and the prompt.
//
//	state of the chat (ahp) ─▶ Chat ─▶ transcript.View ─▶ cells
//	keys, mouse, paste ─────▶ Chat ─▶ Actions             what is to be done
//
// A Chat belongs to the event loop. It is given the chat's state (Reset), the
// actions that follow (Apply), and what of the session concerns it (SetSession).
// It sends nothing, knows no clock but the time that Draw is given, and starts
// nothing: what is to be done it asks its Actions for.
//
// # Where keys go
//
// The prompt has the keys; tab gives them to the transcript (Reading) and back. A
// question that waits takes them while the prompt is empty, but not in the instant
// after it appears: nobody approves by typing on. Which key does what is the
// keymap's business; Do runs what is bound, Type takes the rest.
//
// # Invariants
//
// Nothing is drawn outside of the rectangle. What is unsaid (a
// draft) is lost in no case: it is told to the host as AHP's draft.
//
// It does not: follow channels, decide which chats show, talk to agents.
package chat
