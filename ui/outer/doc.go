// Package outer is the terminal in which the interface shows: its capabilities and colours as far
// as it has answered, the look that follows from them and from the themes, and the output to it.
// Only the event loop may use it.
package outer
