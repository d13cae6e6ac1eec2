// Package motion moves a cursor through a terminal's text by characters, words, paragraphs and
// brackets, as in vi. It has no state.
package motion
