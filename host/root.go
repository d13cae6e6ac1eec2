package host

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"tandemux/ahp"
)

// root is the body of the root channel.
type root struct {
	h     *Host
	ch    *channel
	value ahp.RootState
}

func (r *root) reduce(a ahp.Action) { r.value = ahp.ReduceRoot(r.value, a) }
func (r *root) state(tx Tx) any     { return r.value }
func (r *root) settle(tx Tx)        { r.h.sendDueList(tx) }

// private implements private: the clients that may come back.
func (r *root) private() any {
	all := slices.SortedFunc(maps.Values(r.h.clients), func(a, b *client) int {
		if here := len(a.conns) > 0; here != (len(b.conns) > 0) {
			return map[bool]int{true: -1, false: 1}[here]
		}
		return b.seen.Compare(a.seen)
	})
	list := make([]clientRecord, 0, min(len(all), maxKnown))
	for _, cl := range all[:min(len(all), maxKnown)] {
		list = append(list, cl.record())
	}
	return list
}

// changed implements private: clients are noted one by one (noteClient).
func (r *root) changed() bool { return false }

// know implements private.
func (r *root) know(raw json.RawMessage) error {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	for _, cl := range list {
		if err := r.h.knowClient(cl); err != nil {
			return err
		}
	}
	return nil
}

// reviveRoot makes the root channel that an earlier host left. The list of
// terminals is made anew.
func reviveRoot(h *Host, ch *channel, state json.RawMessage) (body, error) {
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

// revived implements revived: the list as it is now.
func (r *root) revived(tx Tx) { r.h.sendList(tx) }

// infos is the list of terminals as of now, oldest first.
func (h *Host) infos(tx Tx) []ahp.TerminalInfo {
	shown := h.shownIn(tx)
	list := make([]ahp.TerminalInfo, 0, len(h.terms))
	for _, t := range h.terms {
		meta := t.meta
		meta.Cwd = t.value.Cwd
		meta.Layouts = shown[t.ch.uri]
		meta.Holder = t.holderName(tx)
		if meta.Name != "" {
			meta.Title = t.auto
		}
		if c := t.value.Claim; c.Kind == ahp.ClaimClient {
			cl := h.clients[c.ClientID]
			meta.Detached = cl == nil || len(cl.conns) == 0
		}
		list = append(list, ahp.TerminalInfo{
			Resource: t.ch.uri, Title: t.value.Title, Claim: t.value.Claim,
			Lifecycle: t.value.Lifecycle, Meta: &meta,
		})
	}
	return list
}

// shownIn maps terminals to the layouts that show them.
func (h *Host) shownIn(tx Tx) map[ahp.URI][]ahp.URI {
	shown := map[ahp.URI][]ahp.URI{}
	for _, l := range h.layouts {
		for _, t := range l.value.Terminals {
			if !slices.Contains(shown[t], l.ch.uri) {
				shown[t] = append(shown[t], l.ch.uri)
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
