// Package ahp holds the Agent Host Protocol as values: wire types, error
// codes, version negotiation and the pure reducers that fold actions into
// channel state.
//
// It does no I/O, has no clock and starts no goroutine; everything in it may be
// called from any goroutine as long as the values passed in are not shared for
// writing. Reducers never change their input: they return a new state that may
// share unchanged parts with the old one.
//
// Unknown members are dropped, unknown action types are kept verbatim (Unknown)
// and reduce to nothing; neither is ever a decoding error. What AHP has no word
// for uses its extension prefix "x-": layouts live in channels
// "x-cotty-layout:/NAME" (layout.go), commands are named "x-cotty/…".
//
// The package does not know connections, sequencing or authorisation (package
// host), nor prediction and reconnects (package internal/client).
package ahp
