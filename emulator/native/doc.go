// Package native is tandemux's own terminal engine; see package emulator for what
// every engine promises.
//
// Bytes go through a state machine (parse.go) that knows nothing of the grid,
// to tables of what each sequence does (control.go, csi.go, osc.go, dcs.go,
// modes.go). Text goes to print.go, runs of it by ways of their own: ASCII there,
// the rest in text.go. A whole control sequence is parsed without the machine, and
// an SGR that came before is not parsed at all (memo.go); these ways and the slow
// ones must come to the same, which fast_test.go and FuzzWrite compare.
//
// The grid is rows of 8-byte cells (cell.go) whose styles and grapheme clusters
// are interned (style.go, grapheme.go). Rows that leave the main screen are
// encoded (line.go) into the history's blocks (history.go), about a byte a
// character; nothing in there refers to the intern tables, which are therefore
// small and swept by looking at the two screens only. Resizing brings the
// screen into the same form and breaks it anew (resize.go). A caller's marks
// (mark.go) lie on rows, and beside the history by the number of their line.
//
// It is a VT420 as xterm is one, and says so as far as it is: no printer, no
// locator, no macros, no keys of the user's own, no pages, no double-sized lines,
// no VT52, no 8-bit controls. The size is never the child's to change: DECCOLM
// clears the screen and no more.
//
// Choices where terminals differ: text is kept in grapheme clusters after a reset
// (mode 2027 is set then; without it each character takes its own columns). A
// character is as wide as wcwidth says, a cluster as its characters together but
// at most two columns (emulator.RuneWidth, ClusterWidth); a variation selector
// only widens what can be an emoji (U+FE0E, for the form as text, narrows nothing:
// programs and most terminals count two columns), halfwidth kana marks keep a cell of their own,
// and prepended marks do not join what follows;
// ambiguous width is one; 8-bit C1 controls are not interpreted; ED 2 leaves
// the history alone; erasing does not end the wait to wrap; any control keeps
// REP from repeating; HPB and VPB are there (ECMA-48); DECRQCRA tells zero
// unless Options say otherwise (checksum.go); reverse wrap follows xterm since
// patch 383; a screen made taller takes lines back from history unless the
// screen was cleared since they went there.
//
// A tab that is printed in empty cells is kept in the first of them, with the number of
// columns that it took, so that it can be copied.
//
// Pictures of the kitty graphics protocol (graphics.go) are kept, bounded
// (pictures.go), and shown as text: cells that each stand for a part of one
// (image.go), so that they scroll, are erased and reflow as text does. Unlike in
// kitty, what is printed over a picture or erased in it is gone. Nothing is
// decoded here; files and shared memory are refused; animations are their first
// frame; an offset within the first cell (X, Y) and relative placements are left
// out. A snapshot carries the newest images (savedpicture.go). Sixel is a box of
// its size.
//
// An Engine is not safe for concurrent use.
package native
