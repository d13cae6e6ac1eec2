package ahp

import "encoding/json"

// LayoutState is the state of a layout channel: an opaque document of the user
// interface, replaced whole. A writer names the next revision, so of two
// concurrent writers one is refused and applies its change again. The host
// never looks into Doc; Terminals is the writer's list of what the layout
// shows, from which the host derives TerminalMeta.Layouts.
type LayoutState struct {
	Rev       int64           `json:"rev"` // 0 for a layout never written
	Doc       json.RawMessage `json:"doc"` // a JSON object, or null when never written
	Terminals List[URI]       `json:"terminals"`
}

// MaxLayoutBytes bounds LayoutState.Doc.
const MaxLayoutBytes = 256 << 10
