package ahp

import (
	"encoding/json"
	"slices"
)

// reduceCustomizations applies the actions about customizations and MCP servers. A customization is
// kept as JSON with an id; containers, such as plugins, have customizations as children.
func reduceCustomizations(s *SessionState, a Action) {
	switch a := a.(type) {
	case SessionCustomizationsChanged:
		s.Customizations = nonNil(a.Customizations)
	case SessionCustomizationUpdated:
		id := customizationHead(a.Customization).ID
		changed := changeCustomization(s.Customizations, id, func(json.RawMessage) json.RawMessage { return a.Customization })
		if changed == nil {
			changed = append(slices.Clip(s.Customizations), a.Customization)
		}
		s.Customizations = changed
	case SessionCustomizationRemoved:
		if changed := changeCustomization(s.Customizations, a.ID, func(json.RawMessage) json.RawMessage { return nil }); changed != nil {
			s.Customizations = changed
		}
	case SessionCustomizationToggled:
		with := map[string]any{}
		if a.Enabled != nil {
			with["enabled"] = *a.Enabled
		}
		if !isAbsent(a.Enablement) {
			with["enablement"] = a.Enablement
		}
		s.mergeCustomization(a.ID, "", with)
	case SessionMcpServerStateChanged:
		var channel any
		if a.Channel != "" {
			channel = a.Channel
		}
		s.mergeCustomization(a.ID, "mcpServer", map[string]any{"state": a.State, "channel": channel})
	case SessionMcpServerStartRequested:
		s.mergeCustomization(a.ID, "mcpServer", map[string]any{"state": map[string]string{"kind": "starting"}})
	case SessionMcpServerStopRequested:
		s.mergeCustomization(a.ID, "mcpServer", map[string]any{"state": map[string]string{"kind": "stopped"}})
	}
}

type customization struct {
	Type     string            `json:"type"`
	ID       string            `json:"id"`
	Children []json.RawMessage `json:"children"`
}

func customizationHead(raw json.RawMessage) (c customization) {
	Unmarshal(raw, &c) //nolint:errcheck // without an id it is left alone
	return c
}

// mergeCustomization sets members of the customization with the id, if its type is kind or kind is
// "".
func (s *SessionState) mergeCustomization(id, kind string, with map[string]any) {
	changed := changeCustomization(s.Customizations, id, func(raw json.RawMessage) json.RawMessage {
		if kind != "" && customizationHead(raw).Type != kind {
			return raw
		}
		return withMembers(raw, with)
	})
	if changed != nil {
		s.Customizations = changed
	}
}

// changeCustomization returns a copy of list in which change has replaced the customization with
// the id, at the top or inside a container, or removed it if change returns nil. It returns nil if
// there is no such customization.
func changeCustomization(list []json.RawMessage, id string, change func(json.RawMessage) json.RawMessage) []json.RawMessage {
	for i, raw := range list {
		c, by := customizationHead(raw), raw
		if c.ID == id && id != "" {
			by = change(raw)
		} else if children := changeCustomization(c.Children, id, change); children != nil {
			by = withMembers(raw, map[string]any{"children": children})
		} else {
			continue
		}
		list = slices.Clone(list)
		if by == nil {
			return slices.Delete(list, i, i+1)
		}
		list[i] = by
		return list
	}
	return nil
}

// withMembers returns a customization with members set, or removed where their value is null.
func withMembers(raw json.RawMessage, with map[string]any) json.RawMessage {
	changes, err := Encode(V1, with)
	if err != nil {
		return raw
	}
	if merged, ok := mergeMembers(raw, changes, "id"); ok {
		return merged
	}
	return raw
}
