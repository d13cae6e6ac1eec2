package ahp

// MethodAgent makes an agent available that the host did not have when it
// started: one that was configured or installed since, by its name, or a command
// line (x-tandemux/agent). An agent that is there already is no error. A command
// line needs the right to administer the host.
const MethodAgent = "x-tandemux/agent"

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

// MethodLogin starts an agent's own command for logging in, in a terminal
// (x-tandemux/login), or where the agent does it by itself has it do so. Scope
// session, and for a terminal what createTerminal needs.
const MethodLogin = "x-tandemux/login"

// LoginParams are its params.
type LoginParams struct {
	Channel  URI    `json:"channel"`
	Provider string `json:"provider"`
	// Method is the id of one of the ways; empty: the first that can be done here.
	Method string `json:"method,omitempty"`
	// Terminal is the URI of the terminal to make, Cols and Rows its size.
	Terminal URI `json:"terminal,omitempty"`
	Cols     int `json:"cols,omitempty"`
	Rows     int `json:"rows,omitempty"`
	// Session, one of the provider's that could not be created, is begun again
	// when the login is done: session/ready follows, or session/creationFailed.
	Session URI `json:"session,omitempty"`
}

// LoginResult answers it: at once where there is a terminal, whose exit code 0
// says that it is done, else when the agent has logged in.
type LoginResult struct {
	Method   AgentAuth   `json:"method"`
	Terminal URI         `json:"terminal,omitempty"`
	Methods  []AgentAuth `json:"methods"` // all there are
}
