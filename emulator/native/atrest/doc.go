// Package atrest has the form in which lines lie in history, which is a fraction of the
// size of cells (line.go), and writes text straight into it (text.go): lines that nobody
// sees on the screen, as in a flood, need no cells.
//
// A Text knows of its lines what package native does when it prints them on blank rows; what
// is rare, it refuses, and native prints it; native's tests hold the two together. Values
// belong to one engine and are not safe for concurrent use. Where lines are kept, and which
// may be written so, is package native's.
package atrest
