// Package core is the one writer of the host's state: a sequence of numbered actions,
// the channels that they change, and the channels' subscribers.
//
// A Tx stands for the lock that guards all state. Core.Lock and Core.Do make a Tx, and
// functions that need the lock take one. No goroutine keeps a Tx after Unlock or gives it
// to another one. Nothing under the lock waits for a client, a pty or the keeper.
//
// A Channel is one subscribable state, which its Body holds. Tx.Apply takes the next
// number, has the body reduce the action, writes the action to the channel's journal
// (package journal), adds it to the replay log and queues it to the subscribers. It is
// encoded once for each version of the wire format. A body may gather changes before it
// applies them; Settle applies them, so that a snapshot and the actions after it together
// are the whole state.
//
// A Link is a connection. A Client is what is remembered of a clientId beyond its
// connections: which of its numbered dispatches were decided, and how. Where a connection
// supports pings, Changes and Unread tell whether its peer had seen a change when it sent
// something.
//
// An action is in the journal before subscribers see it. A checkpoint is made when the
// journal is nearly full, or the channel is quiet. Once another host has taken over the
// journals, no state changes here any more.
//
// Core knows no particular kind of channel, no policy and no request.
package core
