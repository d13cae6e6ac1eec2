// Package review is the screen on which a person looks at what an agent changed, comments
// on lines, and brings the work home: a View (package diff) joined with the host.
//
//	session ─▶ changeset (AHP) ─▶ files ─▶ contents before and now ─▶ View
//	task without one ─▶ the host's comparison, as a patch ───────────▶ View
//	comments ◀─▶ annotations (AHP), which the agent is given with the next message
//
// A Review is an overlay and belongs to the event loop. While it is open it follows the
// session's changeset and annotations; Close ends that. What it asks on top of itself, a
// comment or whether to merge, is an overlay of its own that gets the keys first.
//
// Invariants: a comment shows once the host has it. Nothing is merged, updated or given
// up before that was said and answered with yes. The contents of two files are not asked
// for at once.
//
// It keeps no changes and no comments: both are the host's.
package review
