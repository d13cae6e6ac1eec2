// Package terminals has the terminals that the host's clients share, and their rules: how
// they are created and adopted from an earlier host, who holds them, what is typed into
// them and what they are called.
//
// A Terminal is the body of a channel: what the host knows beyond what package terminal
// does. It is pulled: the terminal's reader wakes it when output is due, and Flush takes
// the lock and applies what has gathered. Who waits for what a terminal does is a Watcher.
//
// Everything is guarded by core's lock, but for what is immutable and follower, which the
// reader asks. Nothing under the lock waits for the keeper or a pty: what takes its time is
// done before or after, and Wait waits for it. The claim holder's connection slows its pty
// down (throttle.go); nobody else's does.
//
// A terminal's journal is the keeper's before its process is, and says that the terminal
// is no more before the process ends. What is typed is in the journal before it is on its
// way (typed.go). Inherit takes over what an earlier host left, and what a keeper that died
// leaves goes on without one (keeper.go).
//
// It decides nothing about claims (package claims), runs no commands (package commands),
// knows no layouts and no sessions: those are beside it (Host).
package terminals
