// Package host is the multiplexer's server: one writer for all state, and one
// sequence of numbered actions. People, agents and scripts reach it over AHP through
// package front.
//
// # One writer
//
// All state changes in turns of package core, one at a time: root and layouts are bodies
// of channels here, terminals, activity and sessions those of packages of these names.
// Nothing under the lock waits for a client, a pty or the keeper: queues refuse instead of
// blocking, and what blocks (spawning, killing, encoding snapshots, files) is done outside.
//
// # Channels
//
//	ahp-root://              agents, and the list of terminals
//	ahp-terminal:/ID, …      one per terminal; clients choose the URI
//	ahp-session:/ID, …       one per session with an agent; a catalogue of chats
//	ahp-chat:/ID             one per chat: turns, and the one that runs
//	x-tandemux-layout:/NAME     what a user interface shows; made on first use
//
// Two kinds of action are neither logged nor
// broadcast: refusals and the echoes of terminal/input go to their sender only,
// the latter because typed keys may be a password. The root list is sent at
// once when the last one is older than activity.Interval, and otherwise when that
// has passed; there is no timer while nothing changes.
//
// # Connections
//
// They are package requests'; what can be asked and dispatched are rows of two tables
// (method.go).
//
// A connection's queue is bounded; one that would overflow is closed with a
// reason, and the client resynchronises by reconnect. It never delays the pty,
// the sequencer or another viewer. Only the claim holder's connection slows its
// pty down, up to the point where it takes nothing any more (package terminals).
//
// # Who may do what
//
// The front makes a principal of every connection: the operator on the unix
// socket (same uid, by peer credentials), a token's on TCP. Scopes say what a
// principal may ever do, claims what it may do to one terminal (package claims). A
// clientId belongs to the principal that first used it.
//
// # What outlives it
//
// What a channel's subscribers are told is in its journal before: memory that the
// keeper holds (packages core and journal). A channel is journalled when its kind is in
// Host.kinds, by which a next host makes its body of the state. A terminal's journal is
// the keeper's before its process is, and says that the terminal is no more before the
// process ends.
//
// A new host takes over in New, before it serves (restore.go): channels
// with their replay logs, clients with what they may not do twice (record.Origins),
// terminals with what was read and not applied yet, and input that was accepted
// and not typed. serverSeq goes on above all that was seen. Damage
// costs the tail of one journal, a journal that is full or lost costs what would
// be in it; the host serves on and says so in its log and in x-tandemux/host. A host
// that another one has replaced tells nobody anything any more (Host.superseded).
// Pipes that feed commands and subscriptions end with their connections; so do
// guests' names, who greet anew. What can't be written to the state directory is
// written when there is room, and its owner warned until then (package activity).
//
// # Panics
//
// One is contained where a message is handled, a front's request is answered, or
// a terminal's output is taken. Anywhere else it ends the host.
//
// # What it does not do
//
// It owns no pty and no child process (package keeper), does not read VT
// streams (package terminal), writes nothing that terminals show to a disk, and
// knows no user interface: a layout is an opaque document.
package host
