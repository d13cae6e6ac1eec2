// Package editor edits a text: the prompt of a chat, a field of a form, the filter of a list. The
// keys are readline's. The cursor moves and deletes by grapheme clusters.
//
// Only the event loop may use a Text. The zero value is an empty text of several lines. It lays
// itself out in cells and draws nothing.
package editor
