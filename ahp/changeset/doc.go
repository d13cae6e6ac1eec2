// Package changeset is AHP's family of changesets: changes of files that belong to a
// session, their review, and what can be done with them. A session lists its own
// (Changeset); each is a channel with a State.
//
// Reduce shares what it does not change with the state that it was given, and changes
// nothing of that. The package knows neither git nor files (package host/changes).
package changeset
