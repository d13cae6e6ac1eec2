package host

import (
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/core"
)

// root is the body of the root channel.
type root struct {
	h     *Host
	value ahp.RootState
}

func (r *root) Reduce(a ahp.Action)  { r.value = ahp.ReduceRoot(r.value, a) }
func (r *root) State(tx core.Tx) any { return r.value }
func (r *root) Settle(tx core.Tx)    { r.h.terminals.SendDue(tx) }

// reviveRoot makes the root channel that an earlier host left. The list of
// terminals is made anew.
func (h *Host) reviveRoot(_ *core.Channel, state json.RawMessage) (core.Body, error) {
	r := &root{h: h}
	if err := json.Unmarshal(state, &r.value); err != nil {
		return nil, err
	}
	if r.value.Agents == nil {
		r.value.Agents = []ahp.AgentInfo{}
	}
	return r, nil
}
