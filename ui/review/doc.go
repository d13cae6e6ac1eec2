// Package review is the screen on which a person reads an agent's changes, comments on lines, and
// merges the work: a View (package diff) connected to the host.
//
//	session ─▶ changeset (AHP) ─▶ files ─▶ contents before and now ─▶ View
//	task without one ─▶ the host's comparison, as a patch ───────────▶ View
//	comments ◀─▶ annotations (AHP), which the agent is given with the next message
//
// A Review is an overlay; only the event loop may use it. While it is open it is subscribed to
// the session's changeset and annotations; Close unsubscribes. What it asks, such as a comment or
// whether to merge, is an overlay above it that gets the keys first.
//
// Invariants: a comment shows when the host has it. Merging, updating and giving up an update are
// described first and need a yes. The contents of files are fetched one file at a time.
//
// The host keeps the changes and the comments.
package review
