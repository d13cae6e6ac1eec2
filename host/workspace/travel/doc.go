// Package travel takes files from the machine of a person to a host's, and what came of them
// home, as files of a fixed form: a git bundle of a repository's commit, or a tar.zst of
// a directory that is no repository. A Load says what such a file is, and its digest.
//
//	Pack      at the person's: what a task's workspace begins with
//	Unpack    at the host: a repository, or a directory, that a workspace is made of
//	Result    at the host: what its branch has beyond that, a thin bundle; or the directory
//	Home      at the person's: what came back, compared and merged as a task's of this machine is
//
// # What comes along
//
// Of a repository the history of one commit and nothing else: no hooks, no configuration, no
// other branch, nothing that is not committed. Of a directory all but git's own files. What
// is unpacked is anybody's: bundles name one branch, whose objects git checks as it stores
// them; archives are read by package filetree. Both are bounded, and what can't be taken
// wholly leaves nothing.
//
// # What it does not do
//
// It sends and stores nothing, and trusts no name that comes with a file: callers say where
// it goes. Functions may be called from any goroutine; who unpacks into a directory, or merges
// into a repository, does so alone.
package travel
