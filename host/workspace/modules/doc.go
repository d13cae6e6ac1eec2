// Package modules fills the submodules of a new worktree from the repositories that the person's clone
// has of them, and keeps what a task changes in them.
//
// # What is filled
//
// A submodule whose repository is in the clone (.git/modules, or the submodule's own .git),
// if it has the commit that the worktree's commit names. Neither network nor a protocol is
// used: git reads these repositories' trees. All other submodules stay empty directories, and so do
// submodules of submodules. Only files are filled in: a sandbox has no git directory for them.
//
// # What is kept
//
// What differs from what was filled in becomes a commit on a branch of the submodule's
// repository. git reads copies of the task's files, without anything named .git, so that nothing
// that an agent wrote is taken for a repository.
//
// # Concurrency
//
// Functions about a worktree are called while its workspace is locked. The list of filled submodules is
// a file of the workspace that is written once.
package modules
