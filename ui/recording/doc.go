// Package recording is which terminals a person records in the interface, and into
// which files. It belongs to the event loop.
package recording
