// Package agents is the host's sessions with agents as a person uses them: the list of
// sessions and tasks, the chats that the layout shows, what agents ask and the answers, the
// review of what they changed (ui/review), and what chats have to tell somebody who looks elsewhere. It belongs to the event
// loop.
//
// A chat draws itself and takes keys by itself (ui/chat); this package subscribes to
// it and to its session, and does what it asks for. Sessions are followed while one of
// their chats or changes shows, while they wait for a person, and while they are chosen in
// the list.
//
// Whatever the way to a question, the whole of it is shown before it can be answered,
// and the answer goes only if it is still what is asked.
package agents
