// Package recording has the terminals that a person records in the interface. Only the event loop
// may use it.
package recording
