// Package plaintext makes plain text of a terminal's output: what a reader of its
// lines would have seen, without colours and controls.
//
// Lines end with \n alone. A line that was drawn over (by \r, \b, or moves and
// erasures within it) is given as it was left. What was drawn on the alternate
// screen is left out, and moves between lines do nothing: the order is that of
// writing. Output without such things comes out byte for byte.
//
// A Writer is a value for one goroutine; it does no I/O and holds one line, of at
// most MaxLine bytes: a longer one is given in pieces.
package plaintext
