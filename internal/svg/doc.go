// Package svg draws a terminal's screen as an SVG image: colours of a palette or
// those that the program chose, styles, underlines of all kinds, wide and
// combined characters, hyperlinks and the cursor.
//
// Text is text, so that it can be searched, selected and read aloud; each run is
// stretched to its cells, so that no font moves what follows. Lines and blocks
// (U+2500–U+259F) are shapes, as fonts leave gaps between rows. The image needs
// nothing from outside: no font, script or style sheet is loaded. What a program
// printed can't become markup, and only links with http, https and mailto are
// kept.
//
// Pure: values in, bytes out. The emulator is the caller's and is only read.
package svg
