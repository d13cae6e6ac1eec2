package host

import (
	"encoding/json"
	"strings"

	"tandemux/ahp"
	"tandemux/host/core"
)

// revived is a body that has something to do when all channels of an earlier host
// are there again, such as to end what that host was doing. It may apply actions.
type revived interface{ revived(tx core.Tx) }

// A kind makes bodies of channels that an earlier host left, from their state as
// AHP 1 has it. What was applied after that is reduced then.
type kind func(h *Host, ch *core.Channel, state json.RawMessage) (core.Body, error)

// kinds are the channels that outlive the host, by the scheme of their URIs.
// Terminals, whose scheme is any, are besides (adopt.go). A channel of these
// kinds is journalled from its first action on, or from Tx.Keep.
var kinds map[string]kind

func init() {
	kinds = map[string]kind{
		"ahp-root:":            reviveRoot,
		"x-tandemux-activity:": reviveActivity,
		ahp.LayoutScheme:       reviveLayout,
		ahp.SessionScheme: func(h *Host, ch *core.Channel, s json.RawMessage) (core.Body, error) {
			return h.sessions.ReviveSession(ch, s)
		},
		ahp.ChatScheme: func(h *Host, ch *core.Channel, s json.RawMessage) (core.Body, error) {
			return h.sessions.ReviveChat(ch, s)
		},
	}
}

// isKept reports whether a channel that is no terminal outlives the host.
func isKept(uri ahp.URI) bool {
	scheme, _, _ := strings.Cut(uri, ":")
	return kinds[scheme+":"] != nil
}

// kind is that of a channel; nil if this version has none.
func (h *Host) kind(uri ahp.URI) core.Kind {
	scheme, _, _ := strings.Cut(uri, ":")
	k := kinds[scheme+":"]
	if k == nil {
		return nil
	}
	return func(ch *core.Channel, state json.RawMessage) (core.Body, error) { return k(h, ch, state) }
}
