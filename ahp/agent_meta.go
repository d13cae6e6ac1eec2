package ahp

// tandemux's additions to a session's _meta, for what AHP has no member for. Each is replaced as a
// whole.

// AgentCan says what the session's agent can do, as far as that is known ("tandemux/can"). In a new
// session it is complete once the session is ready.
type AgentCan struct {
	// Steer says that a steering message is put into the running turn. Without it the message
	// begins the next turn, for which the running one is cancelled.
	Steer bool `json:"steer"`
	// Fork says that createChat accepts a Source, of kind fork or sideChat, whose turn is the
	// chat's last one.
	Fork bool `json:"fork"`
	// Images, Audio and Embedded say that the agent reads attachments of that kind; of others it
	// gets only the name.
	Images   bool `json:"images"`
	Audio    bool `json:"audio"`
	Embedded bool `json:"embedded"`
}

// AgentOption is a setting of a session ("tandemux/options"). SessionState.Config has its value
// under its ID.
type AgentOption struct {
	ID          string        `json:"id"`
	Name        string        `json:"name"`
	Description string        `json:"description,omitempty"`
	Category    string        `json:"category,omitempty"` // mode, model, thought_level, …
	Boolean     bool          `json:"boolean,omitempty"`
	Choices     []AgentChoice `json:"choices,omitempty"`
}

// AgentChoice is one of the values that an AgentOption can have.
type AgentChoice struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Group       string `json:"group,omitempty"`
}

// AgentCommand is a command of the agent's, written as "/name" in a message ("tandemux/commands").
type AgentCommand struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Hint        string `json:"hint,omitempty"`
}

// AgentPlanEntry is a step of an agent's plan ("tandemux/plans", by chat).
type AgentPlanEntry struct {
	Text     string `json:"text"`
	Priority string `json:"priority,omitempty"`
	Status   string `json:"status"` // pending, in_progress, completed
}

// AgentAuth is one way to log in ("tandemux/auth" in the _meta of an ErrorInfo).
type AgentAuth struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Kind        string            `json:"kind"`              // agent, terminal, env
	Command     []string          `json:"command,omitempty"` // of kind terminal: what to run in one
	Env         map[string]string `json:"env,omitempty"`
	Variables   []string          `json:"variables,omitempty"` // of kind env: what to set
}
