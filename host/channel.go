package host

import (
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/core"
)

// kinds are the channels that outlive the host, by the scheme of their URIs. Terminals,
// whose scheme is any, are besides (adopt.go). A channel of these kinds is journalled
// from its first action on, or from Tx.Keep.
func kinds(h *Host) map[string]core.Kind {
	return map[string]core.Kind{
		"ahp-root:":            h.reviveRoot,
		"x-tandemux-activity:": h.activity.Revive,
		ahp.LayoutScheme:       h.layouts.revive,
		ahp.SessionScheme:      func(ch *core.Channel, s json.RawMessage) (core.Body, error) { return h.sessions.ReviveSession(ch, s) },
		ahp.ChatScheme:         func(ch *core.Channel, s json.RawMessage) (core.Body, error) { return h.sessions.ReviveChat(ch, s) },
	}
}
