// Package keepsake keeps on disk what is to outlive the machine: which layouts
// there are and what they look like, and of each terminal in them its working
// directory, its title and what ran in it. Nothing of what terminals show is
// written.
//
// A Keeper follows a host as any other client does (it is a client.Sink) and
// writes the file a moment after something changed: whole or not at all, 0600,
// bounded. While nothing changes it does nothing. Restore makes the terminals of
// a file anew, under their old names, so that the layouts' documents fit.
//
// A host that ends makes everything vanish, which must not be taken for the
// person's wish: after Stop nothing is written any more.
//
// One goroutine writes (Run); the Sink's methods are called from the connection's.
package keepsake
