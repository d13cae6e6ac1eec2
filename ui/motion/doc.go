// Package motion is how a cursor goes through the text of a terminal by characters, words,
// paragraphs and brackets, as vi's does. It has no state.
package motion
