// Package copying has the commands about what terminals show: scrolling, copy mode with its
// counts and marks, searching, links, the commands that a shell has run, and the whole text in an
// editor or a file. Only the event loop may use it.
//
// The view (ui/pane) has the selection and the search, ui/clipboard what was copied. This package
// keeps only what was typed of an incomplete command.
package copying
