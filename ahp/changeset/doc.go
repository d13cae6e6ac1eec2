// Package changeset has AHP's changesets as values: the changes of files that belong to a session,
// their review, and the operations on them. A session lists its changesets (Changeset); each is a
// channel with a State.
//
// Reduce shares what it does not change with the state it was given, and never changes that state. The
// package knows neither git nor files (package host/changes does).
package changeset
