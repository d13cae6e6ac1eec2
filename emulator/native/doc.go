// Package native is tandemux's own terminal engine; see package emulator for what every engine
// promises.
//
// Package control's state machine turns bytes into sequences (parse.go feeds it). Tables say what
// each sequence does to the grid (control.go, csi.go, dcs.go, modes.go); sequences that don't
// concern the grid are handled by package control. Text goes to print.go. There are fast paths for
// runs of ASCII (print.go) and of other text (text.go), for complete control sequences, and for an
// SGR that was seen before, whose result is remembered (control.SGRMemo). Lines of a flood wait
// until the screen is read; most then go into history without being drawn (late.go). Fast paths
// must have the same result as the slow ones, which fast_test.go and FuzzWrite compare.
//
// The grid is rows of 8-byte cells (cell.go) whose styles and grapheme clusters are interned
// (style.go, clusters.go). Rows that scroll off the main screen are encoded (atrest, line.go) into the
// history's blocks (history.go), about a byte a character. The history does not refer to the
// intern tables, so these stay small, and unused entries are found by looking at the two screens
// only. A resize encodes the screen in the same way and wraps the lines anew (resize.go). A
// caller's marks (mark.go) are kept with the rows of the screen and, for the history, in a list by
// line number.
//
// It emulates a VT420 as xterm does and reports only what it has: no printer, locator, macros,
// user-defined keys, pages, VT52 mode or 8-bit controls. If a program asks for another size
// (emulator.Resizes), the engine reports that, and the caller resizes the engine.
//
// Lines of double width and height (double.go) have half of the columns. Line returns each column
// as two cells, like a wide character. The upper line of double height shows the text, the lower
// one is blank.
//
// Choices where terminals differ: text is kept in grapheme clusters after a reset (mode 2027 is
// set then; without it each character takes its own columns). A character is as wide as wcwidth
// says, a cluster as its characters together but at most two columns (emulator.RuneWidth,
// ClusterWidth); a variation selector only widens what can be an emoji (U+FE0E, for the form as
// text, narrows nothing: programs and most terminals count two columns), halfwidth kana marks keep
// a cell of their own, and prepended marks do not join what follows; ambiguous width is one; 8-bit
// C1 controls are not interpreted; ED 2 leaves the history alone; erasing does not end the wait to
// wrap; any control keeps REP from repeating; HPB and VPB are implemented (ECMA-48); the answer to
// DECRQCRA is zero unless it is allowed; reverse wrap follows xterm since patch 383; a screen made
// taller takes lines back from history unless the screen was cleared since they went there.
//
// A tab that is printed in empty cells is kept in the first of them, with the number of columns
// that it took, so that it can be copied.
//
// Pictures, by the kitty graphics protocol (graphics.go), sixel or iTerm2's sequence, are kept up
// to a bound (pictures.go) and placed as text: each cell stands for a part of the picture
// (image.go), so that pictures scroll, are erased and reflow as text does. Unlike in kitty,
// printing over a picture or erasing in it removes that part. Pictures are not decoded here, only
// measured (package picture). Files and shared memory are read by Options.Read. Animations are kept
// as they came, for a terminal that plays them (motion.go). Offsets within the first cell (X, Y) and
// relative placements are ignored. A snapshot has the newest pictures (savedpicture.go).
//
// An Engine is not safe for concurrent use.
package native
