// Package core is the one writer of the host's state: a sequence of numbered actions,
// the channels that they change, and who is told.
//
// A Tx stands for the lock. Whoever has one is alone with all state: Core.Lock and
// Core.Do make them, what needs the lock takes one, and nobody keeps one or gives it to
// another goroutine. Nothing under the lock waits for a client, a pty or the keeper.
//
// A Channel is one subscribable state. Its Body says what the state is: Tx.Apply takes the
// next number, has the body reduce the action, writes it to the channel's journal, adds it
// to the replay log and queues it to the subscribers, each of them encoded once for each
// profile of wire shapes. What a body has gathered and not told yet is brought in by its
// Settle, so that a snapshot and the actions after it together are the whole.
//
// A Link is a connection as channels see it, a Client what is remembered of a clientId
// beyond its connections: which of its numbered dispatches were decided, and how.
//
// What a peer cannot have known when it sent something is known where its connection can
// be asked how far it has read (Changes, Unread).
//
// What subscribers are told is in the channel's journal (package journal) before; a
// checkpoint is made when the journal is full enough, or the channel is quiet. Once another
// host has taken the journals over, nothing changes here any more.
//
// Core knows no kind of channel, no policy and no request: those are its users'.
package core
