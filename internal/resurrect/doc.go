// Package resurrect saves to disk what should survive a reboot, and brings it back: the layouts, and for
// each terminal in them its working directory, its title and the command that ran in
// it. The text of terminals is saved only if the user allows it (SetHistory). Each
// terminal that a layout shows then has a recorder, which saves the text when the
// terminal has been quiet for a while, at most once a minute, and when the host
// ends. Each of these files and their total size are bounded; the oldest are
// removed first.
//
// A Saver is a client of the host like any other (a client.Sink). It writes the
// file shortly after a change, atomically, with mode 0600; without changes it does
// nothing. Restore creates the terminals of a file again, under their old URIs, so
// that the layouts still name them.
//
// When a host ends, all terminals and layouts disappear. That is not the user's
// doing and must not be saved: after Stop nothing is written.
//
// One goroutine (Run) writes the layouts and starts the recorders, each a goroutine
// of its own; the connection's goroutine calls the Sink's methods. mu is held while
// a file is written, so nothing is written once Stop or SetHistory has returned.
package resurrect
