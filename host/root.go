package host

import (
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/annotations"
	"tandemux/host/core"
	"tandemux/host/terminals"
)

// root is the body of the root channel.
type root struct {
	terminals *terminals.Terminals
	value     ahp.RootState
}

func (r *root) Reduce(a ahp.Action)  { r.value = ahp.ReduceRoot(r.value, a) }
func (r *root) State(tx core.Tx) any { return r.value }
func (r *root) Settle(tx core.Tx)    { r.terminals.SendDue(tx) }

// kinds are the channels that outlive the host, by the scheme of their URIs; that of a
// session or chat may be another one. Terminals are besides (package terminals). A channel
// of these kinds is journalled from its first action on, or from Tx.Keep.
func (h *Host) kinds() map[string]core.Kind {
	return map[string]core.Kind{
		"ahp-root:": func(_ *core.Channel, state json.RawMessage) (core.Body, error) {
			r := &root{terminals: h.terminals, value: ahp.RootState{Agents: []ahp.AgentInfo{}}}
			return r, json.Unmarshal(state, &r.value)
		},
		"x-tandemux-activity:": h.activity.Revive,
		ahp.LayoutScheme:       h.layouts.revive,
		annotations.Kind: func(ch *core.Channel, s json.RawMessage) (core.Body, error) {
			return h.sessions.Annotations.Revive(ch, s)
		},
		ahp.SessionScheme: func(ch *core.Channel, s json.RawMessage) (core.Body, error) { return h.sessions.ReviveSession(ch, s) },
		ahp.ChatScheme:    func(ch *core.Channel, s json.RawMessage) (core.Body, error) { return h.sessions.ReviveChat(ch, s) },
	}
}
