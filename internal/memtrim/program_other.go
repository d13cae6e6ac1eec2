//go:build !linux

package memtrim

// unmapProgram does nothing: elsewhere what isn't used is not counted or can't be
// found.
func unmapProgram() error { return nil }
