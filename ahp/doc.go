// Package ahp holds the Agent Host Protocol as values: wire types, error
// codes, version negotiation and the pure reducers that fold actions into
// channel state.
//
// It does no I/O, has no clock and starts no goroutine; everything in it may be
// called from any goroutine as long as the values passed in are not shared for
// writing. Reducers never change their input: they return a new state that may
// share unchanged parts with the old one.
//
// Profiles. Three generations of the protocol are spoken (version.go). Tags say the
// newest form, which json.Marshal writes, too; Encode writes those of a Profile, the
// older ones by functions for the types that differ (profile05.go). Decoding accepts
// all of them. A List is never null on the wire.
//
// Unknown members are dropped, unknown action types are kept verbatim (Unknown)
// and reduce to nothing; neither is ever a decoding error. What AHP has no word
// for uses its extension prefix "x-": layouts live in channels
// "x-tandemux-layout:/NAME" (state.go), commands are named "x-tandemux/…".
//
// Volume. Terminal output is the hot path and has functions of its own in package
// wire. ReduceTerminal copies the last part's text for each piece of output, which is
// quadratic over a long run: a TerminalFold is linear, with a bound.
//
// Families. What few clients use has packages below this one, with types and reducers,
// whose actions they Register.
//
// The package does not know connections, sequencing or authorisation (package
// host), nor prediction and reconnects (package internal/client).
package ahp
