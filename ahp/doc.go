// Package ahp holds the Agent Host Protocol as values: wire types, error
// codes, version negotiation and the pure reducers that fold actions into
// channel state.
//
// It does no I/O, has no clock and starts no goroutine; everything in it may be
// called from any goroutine as long as the values passed in are not shared for
// writing. Reducers never change their input: they return a new state that may
// share unchanged parts with the old one.
//
// Profiles. Three generations of the protocol are spoken (version.go). Encode
// and EncodeAction write the shapes of a Profile; json.Marshal writes the
// newest. Decoding accepts all of them. On the wire a list is never null.
//
// Unknown members are dropped, unknown action types are kept verbatim (Unknown)
// and reduce to nothing; neither is ever a decoding error. What AHP has no word
// for uses its extension prefix "x-": layouts live in channels
// "x-tandemux-layout:/NAME" (layout.go), commands are named "x-tandemux/…".
//
// Volume. Terminal output is the hot path and has two functions of its own,
// AppendDataEnvelope and ParseDataEnvelope. ReduceTerminal copies the last
// part's text for each piece of output, which is quadratic over a long run:
// TerminalFold is the same function in linear time, with a bound. A host does
// not fold output at all; its terminals own their retention and put the content
// into snapshots.
//
// The package does not know connections, sequencing or authorisation (package
// host), nor prediction and reconnects (package internal/client).
package ahp
