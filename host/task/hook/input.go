package hook

import (
	"encoding/json"
	"strings"
	"time"

	"tandemux/host/task/store"
)

// Input is what a hook gets on its stdin.
type Input struct {
	Hook   string          `json:"hook"`
	Task   store.Task      `json:"task"`
	Agent  Agent           `json:"agent"`
	Params json.RawMessage `json:"params"`
	State  json.RawMessage `json:"state"`
	Event  *Event          `json:"event,omitempty"`
}

// Agent is whose hook it is.
type Agent struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version int    `json:"version"`
}

// Event is an event; Text is all of its texts.
type Event struct {
	ID      string       `json:"id"`
	Content []store.Part `json:"content"`
	Text    string       `json:"text"`
	Data    any          `json:"data,omitempty"`
	Created time.Time    `json:"created_at"`
}

// NewEvent is an event as a hook gets it; nil for none.
func NewEvent(e *store.Event) *Event {
	if e == nil {
		return nil
	}
	h := &Event{ID: e.ID, Content: e.Content, Created: e.Created, Text: Text(e.Content)}
	for _, p := range e.Content {
		if p.Type == "data" {
			h.Data = p.Data
		}
	}
	return h
}

// Text is all texts of a content.
func Text(parts []store.Part) string {
	var texts []string
	for _, p := range parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}
