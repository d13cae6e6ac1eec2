// Package look makes the cell styles and line-drawing characters of a theme, once for all parts
// of the interface. A Look is a value and never changes; a change of the theme or of the outer
// terminal's capabilities makes a new one.
package look
