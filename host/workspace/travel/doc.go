// Package travel sends files from a person's machine to a host, and the result back, as a single file:
// a git bundle of a repository's commit, or a tar.zst of a directory that is not a repository. A Load
// describes such a file, with its digest.
//
//	Pack…     on the person's machine: packs what a task's workspace begins with
//	Unpack    on the host: makes the repository or directory that a workspace is made of
//	Result    on the host: packs what the branch has in addition (a thin bundle), or the directory
//	Home      on the person's machine: compares and merges the result like a local task's
//
// # What is sent
//
// Of a repository the history of one commit and nothing else: no hooks, no configuration, no other
// branch, nothing uncommitted. Of a directory everything but git's own files. What is unpacked is
// untrusted: bundles have one branch, whose objects git checks when it stores them; archives are read
// by package filetree. Both are bounded, and unpacking leaves nothing behind if it fails.
//
// # What it does not do
//
// It does not transfer or store anything, and uses no name that comes with a file: callers say where it
// goes. Functions may be called from any goroutine, but only one at a time may unpack into a directory
// or merge into a repository.
package travel
