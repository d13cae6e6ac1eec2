package ahp

import "encoding/json"

// EncodeAction is the action's JSON object for a peer of profile p, its type
// member included. An Unknown is written verbatim.
func EncodeAction(p Profile, a Action) (json.RawMessage, error) { panic("not yet") }

// DecodeAction reads an action of any profile. A type that is not known gives
// an Unknown that keeps raw; unknown members are dropped. The result shares no
// memory with raw.
func DecodeAction(raw json.RawMessage) (Action, error) { panic("not yet") }

// ClientDispatchable reports whether an action type is known, and if so whether
// clients may dispatch it (ahp.md §5, §7.2).
func ClientDispatchable(actionType string) (known, ok bool) { panic("not yet") }

// Encode is v's JSON in the shapes of profile p: what the host uses for states,
// snapshots, envelopes and results.
func Encode(p Profile, v any) (json.RawMessage, error) { panic("not yet") }
