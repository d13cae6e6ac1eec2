package find

import (
	"encoding/json"

	"tandemux/ahp"
)

// The methods of this package.
const (
	MethodHistory = "x-tandemux/history"
	MethodSearch  = "x-tandemux/search"
	MethodCancel  = "x-tandemux/cancel" // notification, client to host
)

// Command is a command that ran in a terminal, which may be gone.
type Command struct {
	Terminal    ahp.URI `json:"terminal" doc:"In which it ran; it may be gone"`
	Name        string  `json:"name,omitempty" doc:"That one's, if somebody named it"`
	Agent       string  `json:"agent,omitempty" doc:"Whose session held it; absent for people's"`
	ID          string  `json:"commandId" doc:"The only one in its terminal"`
	CommandLine string  `json:"commandLine" doc:"As it was typed"`
	Timestamp   int64   `json:"timestamp" doc:"When it began"`
	ExitCode    *int    `json:"exitCode,omitempty" doc:"Absent when it is not known"`
	DurationMs  *int64  `json:"durationMs,omitempty" doc:"Absent when its terminal ended first"`
	Cwd         ahp.URI `json:"cwd,omitempty" doc:"Its directory when it began"`
}

// HistoryParams asks for commands that ran in any terminal, newest first (x-tandemux/history): at most
// Limit commands whose lines contain all Words, ignoring case, that ran in Cwd if it is set, and that
// failed if Failed is set.
type HistoryParams struct {
	Channel ahp.URI  `json:"channel"`
	Words   []string `json:"words,omitempty"`
	Cwd     ahp.URI  `json:"cwd,omitempty"`
	Failed  bool     `json:"failed,omitempty"`
	Limit   int      `json:"limit,omitempty"` // 0 means 1000
}

// HistoryResult has the commands that are still known.
type HistoryResult struct {
	Items []Command `json:"items"`
	More  bool      `json:"more,omitempty" doc:"There are older ones"`
}

// SearchParams asks which lines of all terminals match Pattern (x-tandemux/search): a regular
// expression, or, if it is not a valid one, a literal text. Without upper case letters case is
// ignored.
type SearchParams struct {
	Channel ahp.URI `json:"channel"`
	Pattern string  `json:"pattern"`
	Limit   int     `json:"limit,omitempty"`   // lines in all; 0 means 1000
	Context int     `json:"context,omitempty"` // lines before and after each, at most 10
}

// SearchResult has the lines by terminal, newest first within a terminal.
type SearchResult struct {
	Items   []SearchHit `json:"items"`
	Partial bool        `json:"partial,omitempty" doc:"There are more, or the time was over before all was searched"`
}

// SearchHit is a line that matches.
type SearchHit struct {
	Terminal ahp.URI  `json:"terminal"`
	Line     int      `json:"line" doc:"How many lines are below it; what was wrapped is one"`
	Text     string   `json:"text"`
	Before   []string `json:"before,omitempty"`
	After    []string `json:"after,omitempty"`
}

// CancelParams says that the client no longer waits for the answer to a request (x-tandemux/cancel). A
// search then ends.
type CancelParams struct {
	Channel ahp.URI         `json:"channel"`
	ID      json.RawMessage `json:"id"` // the request's
}
