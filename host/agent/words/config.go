package words

import (
	"encoding/json"

	"tandemux/ahp"
)

// ConfigConfirm is the property of a session with the policy of confirmation.
const ConfigConfirm = "tandemux/confirm"

// ConfigSchema describes what can be set for a session: tandemux's policy, and what its
// agent offers.
func ConfigSchema(options []ahp.AgentOption) json.RawMessage {
	properties := map[string]any{ConfigConfirm: map[string]any{
		"type": "string", "title": "Confirm tool calls", "default": ahp.ConfirmAsk, "enum": ahp.Confirms, "sessionMutable": true,
		"enumLabels":  []string{"Ask about all", "Approve what only reads", "Approve all"},
		"description": "Which of the tool calls that the agent asks about wait for a person",
	}}
	for _, o := range options {
		p := map[string]any{"type": "string", "title": o.Name, "description": o.Description, "sessionMutable": true}
		if o.Boolean {
			p["type"] = "boolean"
		} else {
			var ids, labels []string
			for _, ch := range o.Choices {
				ids, labels = append(ids, ch.ID), append(labels, ch.Name)
			}
			p["enum"], p["enumLabels"] = ids, labels
		}
		properties[o.ID] = p
	}
	b, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	if err != nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return b
}
