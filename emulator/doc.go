// Package emulator is the terminal emulator: it turns bytes into a grid, scrollback, modes,
// damage, replies and titles, all as data.
//
// It defines the interface and the values that engines share; the engines are
// emulator/native (the default) and emulator/vt10x. An engine does no I/O, has
// no clock, log or goroutine, and is not safe for concurrent use: its owner
// (a host terminal, a pane's feed) guards it.
//
// Invariants of every engine:
//
//   - No input panics or takes more than linear time; every parameter, string
//     and count is capped. Content is never an error.
//   - Splitting a Write does not change its result.
//   - The cursor is always inside the grid.
//   - A fresh engine of the same size fed with Snapshot shows the same screen,
//     cursor, modes and history.
//   - A reply echoes nothing from the input, except numbers and names of letters and digits
//     that the protocol demands.
package emulator
