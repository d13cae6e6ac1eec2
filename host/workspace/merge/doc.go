// Package merge brings work home: into the branch that is checked out in a repository, or
// into a directory. Each is done wholly or not at all; where both sides changed the same,
// or uncommitted changes are in the way, the error is Conflicts, which names the files.
//
// Who calls it holds whatever keeps others from merging into the same place meanwhile; git
// and the stamps of files notice people. It keeps nothing.
package merge
