// Package terminals has the terminals that the host's clients share, and their rules: how
// they are created and adopted from an earlier host, who holds them, what is typed into
// them and what they are called.
//
// A Terminal is the body of a channel: what the host knows of a terminal beyond package
// terminal. The terminal's reader calls wake when output is due, and Flush then takes the
// pending actions and applies them under the lock. A Watcher waits for what a terminal does.
//
// Core's lock guards everything except immutable members and follower, which the reader
// uses. Nothing under the lock waits for the keeper or a pty: what may wait is done before or
// after, and Wait waits for it. Only the claim holder's connection slows the pty down
// (throttle.go).
//
// The keeper has a terminal's journal before it starts the process, and the journal records
// that the terminal was removed before the process is ended. Input is journalled before it is
// typed (typed.go). Inherit takes over what an earlier host left. Terminals whose keeper died
// continue without one (keeper.go).
//
// Claims are decided by package claims, and commands are run by package commands. Layouts and
// sessions are known to Host only.
package terminals
