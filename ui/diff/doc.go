// Package diff shows changes in files for a person: a list of files that unfold to their lines,
// with comments on lines.
//
//	two texts or a patch ─▶ Text ─▶ View (rows, cursor, search) ─▶ cells
//
// Only the event loop may use a View. It fetches nothing: Wanted says which file's lines are
// needed, and SetText sets them. It lays out only what shows, so a large diff costs as much as a
// small one.
//
// Invariants: text from files, including their names, is drawn with approval.Escape, so that it
// can't move the cursor or hide anything. A Text is bounded and says what it leaves out. The
// cursor stays on its line when other lines come and go.
//
// The package knows no hosts and no keys (see package review).
package diff
