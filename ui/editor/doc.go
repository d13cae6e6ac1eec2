// Package editor edits a text that is being written: the prompt of a chat, the
// fields of a form, the line that filters a list. Keys are readline's; the cursor
// moves and deletes by what a person sees as characters, of several runes too.
//
// A Text is a value of the event loop; the zero value is an empty text of several
// lines. It lays itself out in cells and draws nothing.
package editor
