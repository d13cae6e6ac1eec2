package host

import (
	"encoding/json"
	"reflect"
	"slices"

	"tandemux/ahp"
	"tandemux/host/core"
)

// root is the body of the root channel.
type root struct {
	h     *Host
	ch    *core.Channel
	value ahp.RootState
}

func (r *root) Reduce(a ahp.Action)  { r.value = ahp.ReduceRoot(r.value, a) }
func (r *root) State(tx core.Tx) any { return r.value }
func (r *root) Settle(tx core.Tx)    { r.h.sendDueList(tx) }

// reviveRoot makes the root channel that an earlier host left. The list of
// terminals is made anew.
func reviveRoot(h *Host, ch *core.Channel, state json.RawMessage) (core.Body, error) {
	r := &root{h: h, ch: ch}
	if err := json.Unmarshal(state, &r.value); err != nil {
		return nil, err
	}
	if r.value.Agents == nil {
		r.value.Agents = []ahp.AgentInfo{}
	}
	h.root = r
	return r, nil
}

// infos is the list of terminals as of now, oldest first.
func (h *Host) infos(tx core.Tx) []ahp.TerminalInfo {
	shown := h.shownIn(tx)
	list := make([]ahp.TerminalInfo, 0, len(h.terms))
	for _, t := range h.terms {
		meta := t.meta
		meta.Cwd = t.value.Cwd
		meta.Layouts = shown[t.ch.URI]
		meta.Holder = t.holderName(tx)
		if meta.Name != "" {
			meta.Title = t.auto
		}
		if c := t.value.Claim; c.Kind == ahp.ClaimClient {
			cl := tx.Client(c.ClientID)
			meta.Detached = cl == nil || !cl.Here()
		}
		list = append(list, ahp.TerminalInfo{
			Resource: t.ch.URI, Title: t.value.Title, Claim: t.value.Claim,
			Lifecycle: t.value.Lifecycle, Meta: &meta,
		})
	}
	return list
}

// shownIn maps terminals to the layouts that show them.
func (h *Host) shownIn(tx core.Tx) map[ahp.URI][]ahp.URI {
	shown := map[ahp.URI][]ahp.URI{}
	for _, l := range h.layouts {
		for _, t := range l.value.Terminals {
			if !slices.Contains(shown[t], l.ch.URI) {
				shown[t] = append(shown[t], l.ch.URI)
			}
		}
	}
	for _, uris := range shown {
		slices.Sort(uris)
	}
	return shown
}

func sameInfos(a, b []ahp.TerminalInfo) bool {
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}
