// Package strict reads TOML documents of a fixed form: what the form doesn't have is a
// mistake, and a mistake is one line of text with the number of its own. It keeps no
// state; everything may be used from any goroutine.
package strict
