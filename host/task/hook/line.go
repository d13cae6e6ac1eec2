package hook

import (
	"bytes"
	"encoding/json"
)

// The types of a Line.
const (
	Message    = "message"     // Text, Data or Content: something said
	Reasoning  = "reasoning"   // Text: something thought
	State      = "state"       // Merge, Replace or Delete: the task's state
	Progress   = "progress"    // Percent, Text
	Log        = "log"         // Level, Text
	ToolCall   = "tool-call"   // ID, Name, Title, Input
	ToolResult = "tool-result" // ID, Output, Error
	Usage      = "usage"       // InputTokens, OutputTokens
	Failure    = "error"       // Text: the call has failed, whatever its exit code
)

// Line is what a program says.
type Line struct {
	Type string `json:"type"`
	Text string `json:"text"`

	Data    json.RawMessage `json:"data"`
	Content json.RawMessage `json:"content"`

	Merge   json.RawMessage `json:"merge"`
	Replace json.RawMessage `json:"replace"`
	Delete  bool            `json:"delete"`

	Percent *int   `json:"percent"`
	Level   string `json:"level"`

	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Title  string          `json:"title"`
	Input  json.RawMessage `json:"input"`
	Output json.RawMessage `json:"output"`
	Error  string          `json:"error"`

	InputTokens  int64 `json:"inputTokens"`
	OutputTokens int64 `json:"outputTokens"`
}

// parse reads a line; one that is no word to the task is a line of log.
func parse(text []byte) Line {
	if text = bytes.TrimSpace(text); len(text) > 0 && text[0] == '{' {
		var l Line
		if json.Unmarshal(text, &l) == nil && l.Type != "" {
			return l
		}
	}
	return Line{Type: Log, Level: "info", Text: string(bytes.ToValidUTF8(text, []byte("\uFFFD")))}
}
