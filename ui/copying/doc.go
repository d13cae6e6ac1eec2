// Package copying is what a person does with what terminals show: scrolling, copy mode
// with its counts and marks, searching, links, the commands that a shell has run, and
// the whole text in an editor or a file. It belongs to the event loop.
//
// What is selected and found is the view's (ui/pane), what was copied the clipboard's
// (ui/clipboard); this package has the commands between them, and what was typed of a
// command that is not complete yet.
package copying
