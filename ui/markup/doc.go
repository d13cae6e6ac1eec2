// Package markup makes lines of styled text for a width: of Markdown, of code, and
// of whatever a chat has to say.
//
//	text ─▶ Markdown ─▶ chunks ─▶ blocks (goldmark) ─▶ runs ─▶ lines ─▶ cells
//
// A Run is text of one look, a Line a row of runs. They name roles, not colours:
// another theme needs no new lines. Wrap breaks runs at blanks, WrapAnywhere where
// blanks matter.
//
// # Text that grows
//
// A Markdown grows at its end and is cut into chunks, the blocks at its top: chunks
// that are closed are never looked at again, so what a piece of text costs does not
// depend on how much came before. Where chunks end follows from the whole lines
// alone, so the lines are the same however the text was cut into pieces (FuzzSplit).
// Chunks are parsed one by one; therefore a reference to a link that is defined in
// another chunk stays text.
//
// Values belong to one goroutine. No line is wider than its width. Text of others is
// stripped of control characters by Append; other functions take text that was.
// Highlighting is a help for the eye, not a parser.
package markup
