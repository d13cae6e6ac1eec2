// Package ahp holds the Agent Host Protocol as values: wire types, error
// codes, version negotiation and the pure reducers that fold actions into
// channel state.
//
// It does no I/O, has no clock and starts no goroutine; everything in it may be
// called from any goroutine as long as the values passed in are not shared for
// writing. Reducers never change their input: they return a new state that may
// share unchanged parts with the old one.
//
// Profiles. The package speaks three generations of the protocol (version.go). Struct tags
// have the newest form, which json.Marshal writes; Encode writes the form of a Profile,
// older forms by functions for the types that differ (profile05.go). Decoding accepts all
// forms. A List is never null on the wire.
//
// Unknown members are dropped. Unknown action types are kept verbatim (Unknown), and
// reducing them changes nothing. Neither is a decoding error. What AHP does not define uses
// its extension prefix "x-": layouts live in channels "x-tandemux-layout:/NAME" (state.go),
// commands are named "x-tandemux/…".
//
// Volume. Terminal output is the hot path; package wire has functions for it.
// ReduceTerminal copies the last part's text for each piece of output, which is quadratic
// over a long run. TerminalFold is linear, with a bound.
//
// Families. Types and reducers that few clients use are in packages below this one, which
// Register their actions.
//
// The package does not know connections, sequencing or authorisation (package
// host), nor prediction and reconnects (package internal/client).
package ahp
