// Package merge merges work into the branch that is checked out in a repository, or into a directory,
// completely or not at all. If both sides changed the same, or uncommitted changes are in the way, the
// error is Conflicts, which names the files.
//
// The caller keeps other tasks from merging into the same place meanwhile; changes of people are
// detected by git and by the stamps of files. The package has no state.
package merge
