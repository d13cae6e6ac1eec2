package host

import (
	"reflect"
	"slices"

	"cotty/ahp"
)

// root is the body of the root channel.
type root struct {
	h     *Host
	ch    *channel
	value ahp.RootState
}

func (r *root) reduce(a ahp.Action) { r.value = ahp.ReduceRoot(r.value, a) }
func (r *root) state() any          { return r.value }
func (r *root) settle()             { r.h.sendDueList() }

// infos is the list of terminals as of now, oldest first. The caller holds
// h.mu.
func (h *Host) infos() []ahp.TerminalInfo {
	shown := h.shownIn()
	list := make([]ahp.TerminalInfo, 0, len(h.terms))
	for _, t := range h.terms {
		meta := t.meta
		meta.Cwd = t.value.Cwd
		meta.Layouts = shown[t.ch.uri]
		meta.Holder = h.holderName(t)
		list = append(list, ahp.TerminalInfo{
			Resource: t.ch.uri, Title: t.value.Title, Claim: t.value.Claim,
			Lifecycle: t.value.Lifecycle, Meta: &meta,
		})
	}
	return list
}

// shownIn maps terminals to the layouts that show them.
func (h *Host) shownIn() map[ahp.URI][]ahp.URI {
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
