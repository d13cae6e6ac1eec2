package keeper

// ProtocolVersion is the newest version of the protocol that this package
// speaks.
const ProtocolVersion = 1

// Spec says what to start.
type Spec struct {
	// ID names the child, chosen by the host: not empty, at most 256 bytes,
	// not in use.
	ID string `json:"id"`
	// Argv is the command and its arguments, no shell. A name without a slash
	// is looked up in the PATH of Env.
	Argv []string `json:"argv"`
	// Env is the whole environment, "K=V" each; nothing is inherited from the
	// keeper.
	Env []string `json:"env"`
	// Dir is the working directory, absolute.
	Dir string `json:"dir"`
	// Cols and Rows are set before the child starts; 1..65535.
	Cols int `json:"cols"`
	Rows int `json:"rows"`
}

// Exit says how a child ended.
type Exit struct {
	ID string `json:"id"`
	// Code is the exit status, 0..255; 128+n when signal n ended the child.
	Code int `json:"code"`
	// Signal that ended the child, such as "SIGKILL"; empty when it exited by
	// itself.
	Signal string `json:"signal,omitempty"`
}

// Info describes a child.
type Info struct {
	ID      string   `json:"id"`
	Pid     int      `json:"pid"`
	Argv    []string `json:"argv"`
	Dir     string   `json:"dir"`     // as started
	Started int64    `json:"started"` // Unix milliseconds
	Exit    *Exit    `json:"exit,omitempty"`
}
