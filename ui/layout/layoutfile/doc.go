// Package layoutfile is a layout as people keep it, in TOML: what to start and where, without
// the terminals that happen to run. Saving makes a File of a layout, Loading tabs of a File;
// what a pane starts and which terminal it gets is the caller's, by a function.
//
// All is pure, bounded by package layout's limits, and may be used from any goroutine.
package layoutfile
