// Package modules fills the submodules of a new worktree from the repositories that the
// person's own clone has of them, and keeps what a task makes in them.
//
// # What is filled
//
// A submodule whose repository is in the clone (.git/modules, or the submodule's own .git),
// with the commit that the worktree's commit names. No network and no protocol is used: git
// reads these repositories' trees. All others stay empty directories, and so do submodules
// of submodules. What is there are files alone: a sandbox sees no git directory of them.
//
// # What is kept
//
// What differs from what was filled in becomes a commit on a branch of the submodule's
// repository. The task's files are copied before git looks at them, without anything that is
// named .git: nothing that an agent wrote is taken for a repository.
//
// # Concurrency
//
// Functions on one worktree are called under its workspace's lock. The list of what was
// filled is a file of the workspace's, written once.
package modules
