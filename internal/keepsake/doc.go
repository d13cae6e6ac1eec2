// Package keepsake keeps on disk what is to outlive the machine: which layouts
// there are and what they look like, and of each terminal in them its working
// directory, its title and what ran in it. What terminals show is written only
// with the person's leave (SetPast): then each terminal that a layout shows has a
// scribe, which writes its text down when it has been quiet for a while, at most
// once a minute, and when the host ends. These files are bounded one by one and in
// all; the oldest go first.
//
// A Keeper follows a host as any other client does (it is a client.Sink) and
// writes the file a moment after something changed: whole or not at all, 0600,
// bounded. While nothing changes it does nothing. Restore makes the terminals of
// a file anew, under their old names, so that the layouts' documents fit.
//
// A host that ends makes everything vanish, which must not be taken for the
// person's wish: after Stop nothing is written any more.
//
// One goroutine (Run) writes the layouts and gives terminals their scribes, each a
// goroutine of its own; the Sink's methods are called from the connection's. mu is
// held while a file is written, so that Stop and SetPast are final.
package keepsake
