package ahp

import "encoding/json"

// Action is one change of a channel's state. DecodeAction reads the types below, and those of
// packages that Register theirs, from JSON; EncodeAction writes them with their type member.
type Action interface {
	// ActionType returns the member "type" of the wire form, such as "terminal/data".
	ActionType() string
}

// Actions of the root channel.
type (
	// RootAgentsChanged replaces the list of agents. Host only.
	RootAgentsChanged struct {
		Agents List[AgentInfo] `json:"agents"`
	}
	// RootActiveSessionsChanged replaces the number of sessions. Host only.
	RootActiveSessionsChanged struct {
		ActiveSessions int `json:"activeSessions"`
	}
	// RootTerminalsChanged replaces the list of terminals (G10). Host only.
	RootTerminalsChanged struct {
		Terminals List[TerminalInfo] `json:"terminals"`
		Meta      *RootMeta          `json:"_meta,omitempty"`
	}
	// RootConfigChanged merges Config into the values, or replaces them if Replace is set.
	RootConfigChanged struct {
		Config  Object[any] `json:"config"`
		Replace bool        `json:"replace,omitempty"`
	}
)

// Actions of terminal channels (G22–G36, R14–R25).
type (
	// TerminalData is output of the pty. Host only.
	TerminalData struct {
		Data string `json:"data"`
	}
	// TerminalInput is written to the pty; it changes no state.
	TerminalInput struct {
		Data string `json:"data"`
	}
	// TerminalResized sets the size. A client requests it, the host announces it (R16).
	TerminalResized struct {
		Cols int  `json:"cols"`
		Rows int  `json:"rows"`
		Own  bool `json:"-"` // the program in the terminal requested it, no client
	}
	// TerminalClaimed transfers the claim (G5). Seen is the last serverSeq that the client knew, or
	// 0.
	TerminalClaimed struct {
		Claim Claim `json:"claim"`
		Seen  int64 `json:"x-tandemux/seen,omitempty"`
	}
	TerminalTitleChanged struct {
		Title string `json:"title"`
	}
	// TerminalCwdChanged reports a new working directory. Host only.
	TerminalCwdChanged struct {
		Cwd URI `json:"cwd"`
	}
	// TerminalExited reports the end of the process. Host only.
	TerminalExited struct {
		ExitCode *int `json:"exitCode,omitempty"`
	}
	// TerminalCommandDetectionAvailable sets SupportsCommandDetection. Host only.
	TerminalCleared struct{}
	// TerminalCommandDetectionAvailable sets the feature flag. Host only.
	TerminalCommandDetectionAvailable struct{}
	// TerminalEchoChanged replaces StateMeta.Echo. Host only.
	TerminalEchoChanged struct {
		By Echo `json:"by"`
	}
	// TerminalCommandExecuted begins a command's part of the content. Host only.
	TerminalCommandExecuted struct {
		CommandID   string `json:"commandId"`
		CommandLine string `json:"commandLine"`
		Timestamp   int64  `json:"timestamp"` // Unix ms
	}
	// TerminalCommandFinished completes the command's part. Host only.
	TerminalCommandFinished struct {
		CommandID  string `json:"commandId"`
		ExitCode   *int   `json:"exitCode,omitempty"`
		DurationMs *int64 `json:"durationMs,omitempty"`
	}
)

// LayoutChanged replaces a layout's document; see LayoutState.
type LayoutChanged struct {
	Rev       int64           `json:"rev"` // must be the state's Rev + 1
	Doc       json.RawMessage `json:"doc"`
	Terminals List[URI]       `json:"terminals"`
}

// Unknown is an action of a type that this version does not know.
type Unknown struct {
	Type string
	Raw  json.RawMessage
}

func (RootAgentsChanged) ActionType() string         { return "root/agentsChanged" }
func (RootActiveSessionsChanged) ActionType() string { return "root/activeSessionsChanged" }
func (RootTerminalsChanged) ActionType() string      { return "root/terminalsChanged" }
func (RootConfigChanged) ActionType() string         { return "root/configChanged" }
func (TerminalData) ActionType() string              { return "terminal/data" }
func (TerminalInput) ActionType() string             { return "terminal/input" }
func (TerminalResized) ActionType() string           { return "terminal/resized" }
func (TerminalClaimed) ActionType() string           { return "terminal/claimed" }
func (TerminalTitleChanged) ActionType() string      { return "terminal/titleChanged" }
func (TerminalCwdChanged) ActionType() string        { return "terminal/cwdChanged" }
func (TerminalExited) ActionType() string            { return "terminal/exited" }
func (TerminalCleared) ActionType() string           { return "terminal/cleared" }
func (TerminalCommandDetectionAvailable) ActionType() string {
	return "terminal/commandDetectionAvailable"
}
func (TerminalCommandExecuted) ActionType() string { return "terminal/commandExecuted" }
func (TerminalCommandFinished) ActionType() string { return "terminal/commandFinished" }
func (TerminalEchoChanged) ActionType() string     { return "x-tandemux/echoChanged" }
func (LayoutChanged) ActionType() string           { return "x-tandemux/layoutChanged" }
func (u Unknown) ActionType() string               { return u.Type }
