// Package resources is AHP's requests about files, and its channels of watches: who may
// ask, what is on record, and how long a watch lasts. What is done with files is package
// files'.
//
// Who may start a terminal may read and watch files: they could in there. To change them
// takes a scope of its own besides (auth.ScopeWrite), and each change is in the audit log,
// without what was written.
//
// A watch is a channel with a random name, made by createResourceWatch. It lasts until its
// last subscriber leaves, and while it has had none as long as the connection that made it;
// it does not outlive the host. Its state never changes. Bodies are guarded by core's lock.
package resources
