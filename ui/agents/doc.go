// Package agents is what a person does with the hosts' agents: the list of sessions and tasks,
// the chats in the layout, agents' questions and the answers, the review of their changes
// (ui/review), and alerts of chats that the person doesn't see. Only the event loop may use it.
//
// A chat draws itself and handles keys (ui/chat). This package subscribes to it and to its
// session, and does what it asks for. A session is subscribed while one of its chats or its
// changes show, while it waits for a person, and while it is chosen in the list.
//
// However a person comes to a question, all of it is shown before it can be answered, and the
// answer is sent only if the question is still the same.
package agents
