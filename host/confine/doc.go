// Package confine shuts a session's agents and terminals in its sandbox: what is started in
// it is wrapped, paths are as seen there, and who is inside reaches the host by a socket of
// the session's own, as a guest who reaches nothing but what runs there.
//
// A Sandbox's confinement is asked for when something is started first, without the lock,
// and what it listens at is guarded by core's lock. How walls are made is Options.Make's.
package confine
