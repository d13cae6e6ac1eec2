package ahp

// tandemux's additions to a session's _meta: what agents offer that AHP has no
// member for. Each is a list that is replaced whole.

// AgentCan says what the agent of a session can do beyond what all can, as far as
// that is known: a new session's is complete when it is ready ("tandemux/can").
type AgentCan struct {
	// Steer: a steering message goes into the turn that runs. Otherwise it begins
	// the next turn, which is at once when the one that runs is cancelled.
	Steer bool `json:"steer"`
	// Fork: createChat takes a source, of kind fork or sideChat, whose turn is the
	// chat's last.
	Fork bool `json:"fork"`
	// Images, Audio and Embedded: attachments of that kind are taken as such, not
	// only by name.
	Images   bool `json:"images"`
	Audio    bool `json:"audio"`
	Embedded bool `json:"embedded"`
}

// AgentOption is something about a session that can be set: SessionState.Config
// has its value by its id ("tandemux/options").
type AgentOption struct {
	ID          string        `json:"id"`
	Name        string        `json:"name"`
	Description string        `json:"description,omitempty"`
	Category    string        `json:"category,omitempty"` // mode, model, thought_level, …
	Boolean     bool          `json:"boolean,omitempty"`
	Choices     []AgentChoice `json:"choices,omitempty"`
}

// AgentChoice is one of an option's values.
type AgentChoice struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Group       string `json:"group,omitempty"`
}

// AgentCommand is a command of the agent's, written "/name" in a message
// ("tandemux/commands").
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

// AgentAuth is a way to log in ("tandemux/auth" of an ErrorInfo's _meta).
type AgentAuth struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Kind        string            `json:"kind"`              // agent, terminal, env
	Command     []string          `json:"command,omitempty"` // terminal: to be run in one
	Env         map[string]string `json:"env,omitempty"`
	Variables   []string          `json:"variables,omitempty"` // env: to be set
}
