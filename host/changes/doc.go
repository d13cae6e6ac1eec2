// Package changes has the changesets of sessions: of each that works in a git work tree,
// what differs there from HEAD, or of one in a workspace of its own (Options.Workspace)
// from where that began; their review, and what can be done with them.
//
// A session lists its changeset once somebody looks at the session. The changeset is
// computed once somebody subscribes, and again with each subscription, when a tool call of
// the session has ended, and when a turn of any session in the same work tree has, one
// computation at a time and with a pause in between. Changes that others make meanwhile
// show with the next.
//
// Who undoes is not to lose work: what is undone is first kept under a reference
// (refs/tandemux/undone/), and nothing is undone or committed while an agent is
// at work in the tree, in the midst of a merge, or while git has the index locked.
//
// # Concurrency
//
// A Changes is guarded by the core's lock but for what is immutable. git and files are
// looked at by goroutines without it.
//
// # Invariants
//
// No repository makes git run a program (repository, package git). Contents are served of
// files that the changeset has, of their states there, and only where the files
// themselves are (Options.Files). What was reviewed is noted with what the file was: with
// other contents it is to be reviewed again.
//
// # What it does not do
//
// It knows neither tasks nor how workspaces are made. It stages nothing, runs no hooks of
// repositories, and does not enter submodules or repositories in the repository.
package changes
