// Package look makes cell styles and line-drawing characters of a theme, once,
// for all components. A Look is a value and never changes; a change of theme
// or of the outer terminal's abilities makes a new one.
package look
