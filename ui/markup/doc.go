// Package markup lays out styled text in lines of a width: Markdown, code, and texts of a chat.
//
//	text ─▶ Markdown ─▶ chunks ─▶ blocks (goldmark) ─▶ runs ─▶ lines ─▶ cells
//
// A Run is text of one style, a Line a row of runs. They have roles instead of colours, so
// another theme needs no new lines. Wrap breaks runs at blanks, WrapAnywhere at any cell.
//
// # Text that grows
//
// A Markdown grows at its end and is cut into chunks of top-level blocks. Closed chunks are never
// parsed again, so the cost of a piece of text does not depend on the length of the text. Only
// whole lines decide where chunks end, so the lines are the same however the text was cut into
// pieces (FuzzSplit). Chunks are parsed one by one, so a reference to a link that is defined in
// another chunk stays text.
//
// Only one goroutine at a time may use a value. No line is wider than its width. Append removes
// control characters; other functions need text without them. Highlighting is approximate.
package markup
