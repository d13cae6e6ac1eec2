package words

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/params"
)

// Bounds of what agents say, in bytes or numbers.
const (
	MaxText        = 256 << 10 // bytes of one text of a tool's input or result
	MaxError       = 4 << 10
	MaxContents    = 64  // of a tool call
	MaxChoices     = 200 // of an option, or a question
	maxLocations   = 32
	maxAuthMethods = 16
	MaxNamed       = 80
)

// Error converts a provider's error to AHP's form.
func Error(err error) ahp.ErrorInfo {
	var e *agent.Error
	if !errors.As(err, &e) {
		return ahp.ErrorInfo{ErrorType: agent.KindAgent, Message: params.ClipTo(err.Error(), MaxError)}
	}
	info := ahp.ErrorInfo{ErrorType: e.Kind, Message: params.ClipTo(e.Message, MaxError)}
	if len(e.Auth) == 0 {
		return info
	}
	if meta, err := json.Marshal(map[string]any{"tandemux/auth": AuthWays(e.Auth)}); err == nil {
		info.Meta = meta
	}
	return info
}

// Options converts an agent's options to AHP's form.
func Options(options []agent.Option) []ahp.AgentOption {
	list := make([]ahp.AgentOption, 0, len(options))
	for _, o := range options {
		o.Choices = o.Choices[:min(len(o.Choices), MaxChoices)]
		list = append(list, o.AgentOption)
	}
	return list
}

// AuthWays converts ways to log in to AHP's form.
func AuthWays(list []agent.AuthMethod) []ahp.AgentAuth {
	return append([]ahp.AgentAuth{}, list[:min(len(list), maxAuthMethods)]...)
}

// Turn converts a message to the provider's form.
func Turn(id string, m ahp.Message) agent.Turn {
	t := agent.Turn{ID: id, Text: m.Text}
	for _, a := range m.Attachments {
		switch a.Type {
		case ahp.AttachResource:
			t.Attachments = append(t.Attachments, agent.Attachment{Label: a.Label, URI: a.URI, Type: a.ContentType})
		case ahp.AttachEmbedded:
			if data, err := base64.StdEncoding.DecodeString(a.Data); err == nil {
				t.Attachments = append(t.Attachments, agent.Attachment{Label: a.Label, Type: a.ContentType, Data: data})
			}
		case ahp.AttachSimple:
			if a.ModelRepresentation != "" {
				t.Attachments = append(t.Attachments, agent.Attachment{Label: a.Label, Type: "text/plain", Data: []byte(a.ModelRepresentation)})
			}
		}
	}
	return t
}

// With names the annotations that are attached to a message.
func With(m ahp.Message) (text string) {
	for _, a := range m.Attachments {
		if a.Type == ahp.AttachAnnotations {
			text += " (with " + params.ClipTo(a.Label, MaxNamed) + ")"
		}
	}
	return text
}

// Agent converts what is known about an agent to AHP's form.
func Agent(info agent.Info) ahp.AgentInfo {
	a := ahp.AgentInfo{
		Provider: info.ID, DisplayName: info.Name, Description: info.Description, Models: []map[string]any{},
		Capabilities: json.RawMessage(`{"multipleChats":{}}`),
	}
	if info.Fork {
		a.Capabilities = json.RawMessage(`{"multipleChats":{"fork":true,"sideChat":true}}`)
	}
	if info.Resource != nil {
		if b, err := json.Marshal(info.Resource); err == nil {
			a.ProtectedResources = []json.RawMessage{b}
		}
	}
	for _, m := range info.Models[:min(len(info.Models), MaxChoices)] {
		a.Models = append(a.Models, map[string]any{"id": m.ID, "provider": info.ID, "name": cmp.Or(m.Name, m.ID)})
	}
	return a
}

// Usage converts a turn's usage to AHP's form.
func Usage(u agent.Usage) ahp.Usage {
	w := ahp.Usage{InputTokens: known(u.InputTokens), OutputTokens: known(u.OutputTokens), CacheReadTokens: known(u.CacheReadTokens)}
	more := map[string]any{}
	if u.ContextSize > 0 {
		more["tandemux/contextUsed"], more["tandemux/contextSize"] = u.ContextUsed, u.ContextSize
	}
	if u.Cost > 0 {
		more["tandemux/cost"], more["tandemux/currency"] = u.Cost, params.ClipTo(u.Currency, 16)
	}
	if len(more) > 0 {
		if b, err := json.Marshal(more); err == nil {
			w.Meta = b
		}
	}
	return w
}

func known(n int64) *int64 {
	if n <= 0 {
		return nil
	}
	return &n
}

// ConfigConfirm is the setting of a session with the confirmation policy.
const ConfigConfirm = "tandemux/confirm"

// ConfigSchema returns the JSON schema of a session's settings: the confirmation policy, and its
// agent's options.
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
