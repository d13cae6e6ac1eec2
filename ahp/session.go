package ahp

import "encoding/json"

// Status is the state of a session or chat: an activity in bits 0–4 and flags above (AHP, Session
// Channel). Unknown bits are kept.
type Status uint32

// The activities, of which a status has exactly one, and the flags.
const (
	ActivityIdle        Status = 1
	ActivityError       Status = 2
	ActivityInProgress  Status = 8
	ActivityInputNeeded Status = 24 // in progress, and waiting for a person

	FlagRead     Status = 32
	FlagArchived Status = 64

	activityMask Status = 31
)

// Activity is the status without its flags.
func (s Status) Activity() Status { return s & activityMask }

// NeedsInput reports whether something waits for a person.
func (s Status) NeedsInput() bool { return s&ActivityInputNeeded == ActivityInputNeeded }

// WithActivity replaces the activity and keeps the flags.
func (s Status) WithActivity(a Status) Status { return s&^activityMask | a }

// WithFlag sets or clears a flag.
func (s Status) WithFlag(flag Status, set bool) Status {
	if set {
		return s | flag
	}
	return s &^ flag
}

// The values of SessionState.Lifecycle.
const (
	LifecycleCreating = "creating"
	LifecycleReady    = "ready"
	LifecycleFailed   = "failed" // "creationFailed" in 0.5
)

// SessionInfo has the members that SessionState and SessionSummary share.
type SessionInfo struct {
	Provider           string          `json:"provider"`
	Title              string          `json:"title"`
	Status             Status          `json:"status"`
	Activity           string          `json:"activity,omitempty"` // what it is doing, in words
	Origin             json.RawMessage `json:"origin,omitempty"`
	Project            *Project        `json:"project,omitempty"`
	WorkingDirectories []URI           `json:"workingDirectories,omitempty"`
	Annotations        json.RawMessage `json:"annotations,omitempty"`
}

// SessionState is the state of a session channel: its chats and what they share (AHP, Session
// Channel). What only agents and user interfaces read is kept as JSON.
type SessionState struct {
	SessionInfo
	Lifecycle      string             `json:"lifecycle"`
	CreationError  *ErrorInfo         `json:"creationError,omitempty"`
	ServerTools    []ToolDefinition   `json:"serverTools,omitzero"` // nil if unknown
	ActiveClients  List[ActiveClient] `json:"activeClients"`
	Chats          List[ChatSummary]  `json:"chats"`
	DefaultChat    URI                `json:"defaultChat,omitempty"`
	Config         *SessionConfig     `json:"config,omitempty"`
	Customizations []json.RawMessage  `json:"customizations,omitzero"` // nil if unknown
	Changesets     []json.RawMessage  `json:"changesets,omitzero"`     // nil if unknown
	InputNeeded    []InputNeeded      `json:"inputNeeded,omitempty"`
	Meta           json.RawMessage    `json:"_meta,omitempty"`

	SessionRow `json:"-"` // on the wire only in 0.5, in the nested summary
}

// SessionRow has the members of a SessionSummary that are not in the state.
type SessionRow struct {
	Resource                     URI
	CreatedAt, ModifiedAt        Instant
	Changes, Model, CurrentAgent json.RawMessage
}

// Project is what a session works on.
type Project struct {
	URI         URI    `json:"uri"`
	DisplayName string `json:"displayName"`
}

// SessionConfig has the settings of a session: a JSON schema and the values.
type SessionConfig struct {
	Schema json.RawMessage `json:"schema"` // {} when there is none
	Values Object[any]     `json:"values"`
}

// MarshalJSON writes {} for an absent schema.
func (c SessionConfig) MarshalJSON() ([]byte, error) {
	if isAbsent(c.Schema) {
		c.Schema = json.RawMessage("{}")
	}
	type plain SessionConfig
	return Encode(V1, plain(c))
}

// SessionSummary is a session's row in listSessions and in notifications about the list.
type SessionSummary struct {
	Resource URI `json:"resource"`
	SessionInfo
	CreatedAt    Instant         `json:"createdAt"`
	ModifiedAt   Instant         `json:"modifiedAt"`
	Changes      json.RawMessage `json:"changes,omitempty"`
	Chats        []SessionChat   `json:"chats,omitzero"` // nil if unknown; not in 0.5
	DefaultChat  URI             `json:"defaultChat,omitempty"`
	Meta         json.RawMessage `json:"_meta,omitempty"`
	Model        json.RawMessage `json:"-"` // 0.5 only
	CurrentAgent json.RawMessage `json:"-"` // 0.5 only
}

// SessionChat is a chat's row in a SessionSummary.
type SessionChat struct {
	Resource      URI             `json:"resource"`
	Title         string          `json:"title"`
	Status        Status          `json:"status"`
	Origin        *ChatOrigin     `json:"origin,omitempty"`
	Interactivity string          `json:"interactivity,omitempty"`
	Changes       json.RawMessage `json:"changes,omitempty"`
}

// Summary returns the session's row with what its state knows.
func (s SessionState) Summary() SessionSummary {
	chats := make([]SessionChat, 0, len(s.Chats))
	for _, c := range s.Chats {
		if c.Origin != nil { // only subscribers get the selection
			c.Origin = &ChatOrigin{Kind: c.Origin.Kind, Chat: c.Origin.Chat, TurnID: c.Origin.TurnID, ToolCallID: c.Origin.ToolCallID}
		}
		chats = append(chats, SessionChat{c.Resource, c.Title, c.Status, c.Origin, c.Interactivity, c.Changes})
	}
	return SessionSummary{
		SessionInfo: s.SessionInfo, Chats: chats, DefaultChat: s.DefaultChat, Resource: s.Resource, CreatedAt: s.CreatedAt,
		ModifiedAt: s.ModifiedAt, Changes: s.Changes, Model: s.Model, CurrentAgent: s.CurrentAgent,
	}
}

// ActiveClient is a client that takes part in a session. The agent may use its tools.
type ActiveClient struct {
	ClientID       string               `json:"clientId"`
	DisplayName    string               `json:"displayName,omitempty"`
	Tools          List[ToolDefinition] `json:"tools"`
	Customizations []json.RawMessage    `json:"customizations,omitempty"`
}

// ToolDefinition describes a tool as MCP does.
type ToolDefinition struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  json.RawMessage `json:"annotations,omitempty"`
	Meta         json.RawMessage `json:"_meta,omitempty"`
}

type ErrorInfo struct {
	ErrorType string          `json:"errorType"`
	Message   string          `json:"message"`
	Stack     string          `json:"stack,omitempty"`
	Meta      json.RawMessage `json:"_meta,omitempty"`
}

// The values of InputNeeded.Kind.
const (
	NeedChatInput           = "chatInput"
	NeedToolConfirmation    = "toolConfirmation"
	NeedToolClientExecution = "toolClientExecution"
	NeedToolAuthentication  = "toolAuthentication"
)

// InputNeeded is something in a chat of the session that waits for a person or a client.
type InputNeeded struct {
	ID       string        `json:"id"`
	Chat     URI           `json:"chat"`
	Kind     string        `json:"kind"`
	Request  *InputRequest `json:"request,omitempty"`  // chatInput
	TurnID   string        `json:"turnId,omitempty"`   // all kinds but chatInput, as all below
	ClientID string        `json:"clientId,omitempty"` // toolClientExecution
	ToolCall *ToolCall     `json:"toolCall,omitempty"`
}

// Actions of session channels (AHP, Session Channel).
type (
	// SessionReady says that the session is created. Host only, as is the next action.
	SessionReady          struct{}
	SessionCreationFailed struct {
		Error ErrorInfo `json:"error"`
	}
	// SessionChatAdded adds or replaces a chat's row. Host only, as are the other actions about
	// chats.
	SessionChatAdded struct {
		Summary ChatSummary `json:"summary"`
	}
	SessionChatRemoved struct {
		Chat URI `json:"chat"`
	}
	// SessionChatUpdated sets members of a chat's row; null clears one.
	SessionChatUpdated struct {
		Chat    URI             `json:"chat"`
		Changes json.RawMessage `json:"changes"`
	}
	// SessionChatsReordered moves the rows Chats together to Destination.
	SessionChatsReordered struct {
		Chats       List[URI]       `json:"chats"`
		Destination json.RawMessage `json:"destination"`
	}
	SessionDefaultChatChanged struct {
		DefaultChat URI `json:"defaultChat,omitempty"`
	}
	SessionTitleChanged struct {
		Title string `json:"title"`
	}
	SessionIsReadChanged struct {
		IsRead bool `json:"isRead"`
	}
	SessionIsArchivedChanged struct {
		IsArchived bool `json:"isArchived"`
	}
	// SessionActivityChanged sets or clears the text about what goes on. Host only.
	SessionActivityChanged struct {
		Activity string `json:"activity,omitempty"`
	}
	SessionChangesetsChanged struct {
		Changesets []json.RawMessage `json:"changesets,omitzero"`
	}
	SessionServerToolsChanged struct {
		Tools List[ToolDefinition] `json:"tools"`
	}
	// SessionActiveClientSet adds or replaces an active client. Each client sends it for itself.
	SessionActiveClientSet struct {
		ActiveClient ActiveClient `json:"activeClient"`
	}
	SessionActiveClientRemoved struct {
		ClientID string `json:"clientId"`
	}
	SessionWorkingDirectorySet struct {
		Directory URI `json:"directory"`
	}
	SessionWorkingDirectoryRemoved struct {
		Directory URI `json:"directory"`
	}
	SessionWorkingDirectoryReplaced struct {
		Old URI `json:"oldDirectory"`
		New URI `json:"newDirectory"`
	}
	// SessionInputNeededSet says what waits in a chat. Host only, as is the next action.
	SessionInputNeededSet struct {
		Request InputNeeded `json:"request"`
	}
	SessionInputNeededRemoved struct {
		ID string `json:"id"`
	}
	SessionCustomizationsChanged struct {
		Customizations List[json.RawMessage] `json:"customizations"`
	}
	SessionCustomizationUpdated struct {
		Customization json.RawMessage `json:"customization"`
	}
	SessionCustomizationRemoved struct {
		ID string `json:"id"`
	}
	// SessionCustomizationToggled has Enabled in 0.5, and Enablement later.
	SessionCustomizationToggled struct {
		ID         string          `json:"id"`
		Enabled    *bool           `json:"enabled,omitempty"`
		Enablement json.RawMessage `json:"enablement,omitempty"`
	}
	SessionMcpServerStateChanged struct {
		ID      string          `json:"id"`
		State   json.RawMessage `json:"state"`
		Channel URI             `json:"channel,omitempty"`
	}
	SessionMcpServerStartRequested struct {
		ID string `json:"id"`
	}
	SessionMcpServerStopRequested struct {
		ID string `json:"id"`
	}
	SessionMcpServerBackgroundRequested struct {
		ID string `json:"id"`
	}
	// SessionConfigChanged merges Config into the values, or replaces them if Replace is set.
	SessionConfigChanged struct {
		Config  Object[any] `json:"config"`
		Replace bool        `json:"replace,omitempty"`
	}
	SessionMetaChanged struct {
		Meta json.RawMessage `json:"_meta,omitempty"`
	}
	// SessionModelChanged and SessionAgentChanged exist only in 0.5.
	SessionModelChanged struct {
		Model json.RawMessage `json:"model"`
	}
	SessionAgentChanged struct {
		Agent json.RawMessage `json:"agent,omitempty"`
	}
)

func (SessionReady) ActionType() string                   { return "session/ready" }
func (SessionCreationFailed) ActionType() string          { return "session/creationFailed" }
func (SessionChatAdded) ActionType() string               { return "session/chatAdded" }
func (SessionChatRemoved) ActionType() string             { return "session/chatRemoved" }
func (SessionChatUpdated) ActionType() string             { return "session/chatUpdated" }
func (SessionChatsReordered) ActionType() string          { return "session/chatsReordered" }
func (SessionDefaultChatChanged) ActionType() string      { return "session/defaultChatChanged" }
func (SessionTitleChanged) ActionType() string            { return "session/titleChanged" }
func (SessionIsReadChanged) ActionType() string           { return "session/isReadChanged" }
func (SessionIsArchivedChanged) ActionType() string       { return "session/isArchivedChanged" }
func (SessionActivityChanged) ActionType() string         { return "session/activityChanged" }
func (SessionChangesetsChanged) ActionType() string       { return "session/changesetsChanged" }
func (SessionServerToolsChanged) ActionType() string      { return "session/serverToolsChanged" }
func (SessionActiveClientSet) ActionType() string         { return "session/activeClientSet" }
func (SessionActiveClientRemoved) ActionType() string     { return "session/activeClientRemoved" }
func (SessionWorkingDirectorySet) ActionType() string     { return "session/workingDirectorySet" }
func (SessionWorkingDirectoryRemoved) ActionType() string { return "session/workingDirectoryRemoved" }

func (SessionWorkingDirectoryReplaced) ActionType() string { return "session/workingDirectoryReplaced" }
func (SessionInputNeededSet) ActionType() string           { return "session/inputNeededSet" }
func (SessionInputNeededRemoved) ActionType() string       { return "session/inputNeededRemoved" }
func (SessionCustomizationsChanged) ActionType() string    { return "session/customizationsChanged" }
func (SessionCustomizationUpdated) ActionType() string     { return "session/customizationUpdated" }
func (SessionCustomizationRemoved) ActionType() string     { return "session/customizationRemoved" }
func (SessionCustomizationToggled) ActionType() string     { return "session/customizationToggled" }
func (SessionMcpServerStateChanged) ActionType() string    { return "session/mcpServerStateChanged" }

func (SessionMcpServerStartRequested) ActionType() string { return "session/mcpServerStartRequested" }

func (SessionMcpServerStopRequested) ActionType() string { return "session/mcpServerStopRequested" }

func (SessionMcpServerBackgroundRequested) ActionType() string {
	return "session/mcpServerBackgroundRequested"
}
func (SessionConfigChanged) ActionType() string { return "session/configChanged" }
func (SessionMetaChanged) ActionType() string   { return "session/metaChanged" }
func (SessionModelChanged) ActionType() string  { return "session/modelChanged" }
func (SessionAgentChanged) ActionType() string  { return "session/agentChanged" }
