package ahp

// MethodAgent makes an agent available that the host did not have when it
// started: one that was configured or installed since, by its name, or a command
// line (x-cotty/agent). An agent that is there already is no error. A command
// line needs the right to administer the host.
const MethodAgent = "x-cotty/agent"

// AgentParams are its params: one of Provider and Command is given.
type AgentParams struct {
	Channel  URI      `json:"channel"`
	Provider string   `json:"provider,omitempty"`
	Command  []string `json:"command,omitempty"`
}

// AgentResult answers it.
type AgentResult struct {
	// Provider is what createSession calls it.
	Provider string `json:"provider"`
}
