// Package files keeps what travels (host/workspace/travel) in JetStream's object store,
// tandemux_files: what a task begins with, and what came of it.
//
// A Store writes from a reader and reads by pieces: neither side has a file in memory. What
// is stored is what its Load says, by size and SHA-256, or it is not stored. A piece is read by its
// place, so that who asks for the next one may ask any node of the hub.
//
// Sweep removes what no task names, and pieces that a death left; what is younger than an hour
// stays, as somebody may be writing it. A Store may be used from any goroutine, and by several
// nodes at once. Who may read what, and how much somebody may store, is not known here.
package files
