// Package layoutfile stores a layout for people in TOML: what to start and where, without
// terminals. Saving makes a File of a layout, Loading makes tabs of a File. A function of the
// caller's says what a pane starts and which terminal it gets.
//
// The package is pure and keeps package layout's limits. It may be used from any goroutine.
package layoutfile
