package host

import (
	"maps"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/requests"
	"tandemux/host/sessions"
)

// actions are those that clients may dispatch.
func (h *Host) actions() map[string]requests.Action {
	all := sessions.Actions()
	maps.Copy(all, h.sessions.Annotations.Actions())
	maps.Copy(all, h.terminals.Actions())
	maps.Copy(all, h.changes.Actions())
	maps.Copy(all, map[string]requests.Action{
		ahp.LayoutChanged{}.ActionType(): {
			Scope: auth.ScopeAdmin, Needs: []string{"rev"}, Fits: requests.Is[*layout], Do: h.layouts.change,
		},
		ahp.RootConfigChanged{}.ActionType(): {
			Scope: auth.ScopeAdmin, Fits: requests.Is[*root], Refusal: "this host has no configuration that clients can change",
		},
	})
	return all
}
