package ahp

// Names of tandemux's extension methods for agents, and of its notification about colours.
const (
	MethodPromote = "x-tandemux/promote"
	MethodAsk     = "x-tandemux/ask"
	MethodAnswer  = "x-tandemux/answer"
	MethodShow    = "x-tandemux/show"
	MethodAgent   = "x-tandemux/agent"
	MethodLogin   = "x-tandemux/login"
	MethodColors  = "x-tandemux/colors" // notification, client to host
)

// PromoteParams names a session's terminal that a client of the same person is to hold
// (x-tandemux/promote). The answer is the new claim.
type PromoteParams = SubscribeParams

// AskParams asks the person who holds the terminal Channel to give it to an agent (x-tandemux/ask).
// With a Command it asks instead whether that command may run: in Channel, or, if Channel is empty,
// in a new terminal.
type AskParams struct {
	Channel   URI    `json:"channel"`
	Claim     Claim  `json:"claim"`             // the claim the terminal would get: a session of the asking agent
	Reason    string `json:"reason,omitempty"`  // at most 1 KiB; with a Command the host writes it
	TimeoutMs int64  `json:"timeoutMs"`         // 1 to 3,600,000
	Command   string `json:"command,omitempty"` // a line in the shell's language; a yes allows one run
	Panes     bool   `json:"panes,omitempty"`   // asks for panes for the teammates of the agent in Channel; the answer is remembered
}

// The values of AskResult.Answer.
const (
	AskGranted = "granted"
	AskRefused = "refused"
	AskTimeout = "timeout" // nobody answered within TimeoutMs
	AskNobody  = "nobody"  // no person is connected
)

// AskResult is the answer to x-tandemux/ask, sent when the person has answered or the time is over.
type AskResult struct {
	Answer string `json:"answer"`
}

// Ask is an agent's question that waits for the person's answer (TerminalMeta.Ask).
type Ask struct {
	ID      string `json:"id"`
	Who     string `json:"who"` // the agent's name
	Reason  string `json:"reason"`
	Command string `json:"command,omitempty"` // the command that the agent wants to run
	Panes   bool   `json:"panes,omitempty"`   // the agent wants panes for its teammates; if neither is set, it wants the terminal
}

// AnswerParams answers the question ID (x-tandemux/answer). Only the person's own clients may.
type AnswerParams struct {
	Channel URI    `json:"channel"`
	ID      string `json:"id"` // of the Ask
	Grant   bool   `json:"grant"`
}

// ShowParams has a session's terminal shown to people (x-tandemux/show), in a pane beside another
// terminal of the session, its chat, or Beside. It changes neither focus nor what is typed where.
type ShowParams struct {
	Channel URI `json:"channel"`
	Beside  URI `json:"beside,omitempty"` // a terminal or chat that a layout shows
}

// ShowResult is the answer to x-tandemux/show: where the terminal shows, be it new there or not.
type ShowResult struct {
	Layout URI    `json:"layout"`
	Tab    string `json:"tab"`
	Pane   string `json:"pane"`
}

// AgentParams makes an agent available that the host did not have when it started
// (x-tandemux/agent): an agent that was configured or installed since, by name (Provider), or a
// command line, not both; with neither, the first agent there is. An agent that is available
// already is no error. A command line needs the right to administer the host.
type AgentParams struct {
	Channel  URI      `json:"channel"`
	Provider string   `json:"provider,omitempty"`
	Command  []string `json:"command,omitempty"`
}

// AgentResult is the answer to x-tandemux/agent.
type AgentResult struct {
	// Provider is the name to give to createSession.
	Provider string `json:"provider"`
}

// LoginParams starts an agent's login command in a terminal, or has the agent log in itself
// (x-tandemux/login). It needs the scope session, and for a terminal also what createTerminal
// needs.
type LoginParams struct {
	Channel  URI    `json:"channel"`
	Provider string `json:"provider"`
	// Method is the id of a way to log in; empty means the first that can be done here.
	Method string `json:"method,omitempty"`
	// Terminal is the URI of the terminal to make, Cols and Rows its size.
	Terminal URI `json:"terminal,omitempty"`
	Cols     int `json:"cols,omitempty"`
	Rows     int `json:"rows,omitempty"`
	// Session is one of the provider's that could not be created. It is created again once the
	// login is done: session/ready follows, or session/creationFailed.
	Session URI `json:"session,omitempty"`
}

// LoginResult is the answer to x-tandemux/login. With a terminal it comes at once, and the
// terminal's exit code 0 says that the login is done; without one it comes when the agent has
// logged in.
type LoginResult struct {
	Method   AgentAuth   `json:"method"`
	Terminal URI         `json:"terminal,omitempty"`
	Methods  []AgentAuth `json:"methods"` // every way to log in
}

// ColorsParams tells the colours of the client's own screen (x-tandemux/colors). The host gives
// them to programs that ask for colours in the terminals that the client holds. A colour is
// "#rrggbb", or "" if unknown.
type ColorsParams struct {
	Channel URI      `json:"channel"`
	FG      string   `json:"fg"`
	BG      string   `json:"bg"`
	Cursor  string   `json:"cursor"`
	Palette []string `json:"palette"` // the basic colours, at most 16
	// Pictures says that the screen can show pictures of the kitty graphics protocol.
	Pictures bool `json:"pictures,omitempty"`
}
