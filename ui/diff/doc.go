// Package diff is what changed in files as a person reads it: a list of files that unfold
// to their lines, with the comments on those.
//
//	two texts or a patch ─▶ Text ─▶ View (rows, cursor, search) ─▶ cells
//
// A View is a value of the event loop. It asks for nothing: Wanted says of which file the
// lines are to be brought, SetText brings them. It lays out only what shows, so that a
// large diff costs what a small one does.
//
// Invariants: what came from files, names too, is drawn with what is no text written out
// (approval.Escape), so that it moves no cursor and hides nothing. A Text is bounded and
// says what it leaves out. The cursor stays on its line when others come and go.
//
// The package knows no hosts and no keys (package review).
package diff
