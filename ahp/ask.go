package ahp

// tandemux's extensions for agents, and for programs' colours.
const (
	MethodPromote = "x-tandemux/promote"
	MethodAsk     = "x-tandemux/ask"
	MethodAnswer  = "x-tandemux/answer"
	MethodShow    = "x-tandemux/show"
	MethodAgent   = "x-tandemux/agent"
	MethodLogin   = "x-tandemux/login"
	MethodColors  = "x-tandemux/colors" // notification, client to host
)

// PromoteParams gives a session's terminal to a client of the person's. The answer is the new claim.
type PromoteParams = SubscribeParams

// AskParams asks the person who holds a terminal for it, or, with a Command, whether that
// may run, there or where Channel is empty in a terminal of its own (x-tandemux/ask).
type AskParams struct {
	Channel   URI    `json:"channel"`
	Claim     Claim  `json:"claim"`             // what it is to become: a session of the asking agent's
	Reason    string `json:"reason,omitempty"`  // at most 1 KiB; with a Command the host's
	TimeoutMs int64  `json:"timeoutMs"`         // 1 to 3,600,000
	Command   string `json:"command,omitempty"` // a line as a shell reads it; a yes is for once
	Panes     bool   `json:"panes,omitempty"`   // asks for panes, for teammates of who leads there; the answer is kept
}

// The values of AskResult.Answer.
const (
	AskGranted = "granted"
	AskRefused = "refused"
	AskTimeout = "timeout" // nobody answered
	AskNobody  = "nobody"  // nobody is there
)

// AskResult answers it, when the person has answered or time is over.
type AskResult struct {
	Answer string `json:"answer"`
}

// Ask is a question that waits for the person (TerminalMeta.Ask).
type Ask struct {
	ID      string `json:"id"`
	Who     string `json:"who"` // the agent's name
	Reason  string `json:"reason"`
	Command string `json:"command,omitempty"` // that it wants to run
	Panes   bool   `json:"panes,omitempty"`   // it wants panes for its teammates; else, without a Command, the terminal
}

// AnswerParams answers a question (x-tandemux/answer); the person's clients may.
type AnswerParams struct {
	Channel URI    `json:"channel"`
	ID      string `json:"id"` // of the Ask
	Grant   bool   `json:"grant"`
}

// ShowParams shows a session's terminal to people, in a pane beside another of the
// session's, its chat, or Beside; nobody's focus or keys move (x-tandemux/show).
type ShowParams struct {
	Channel URI `json:"channel"`
	Beside  URI `json:"beside,omitempty"` // a terminal or chat that a layout shows
}

// ShowResult answers it: where the terminal shows, also where it did already.
type ShowResult struct {
	Layout URI    `json:"layout"`
	Tab    string `json:"tab"`
	Pane   string `json:"pane"`
}

// AgentParams makes an agent available that the host did not have when it started: one
// that was configured or installed since, by its name, or a command line, not both; neither
// is the first that there is (x-tandemux/agent). An agent that is there already is no error. A command line
// needs the right to administer the host.
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

// LoginParams starts an agent's own command for logging in, in a terminal, or has the agent
// do it (x-tandemux/login). Scope session, for a terminal also what createTerminal needs.
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

// ColorsParams say what colours the client's own screen shows (x-tandemux/colors). The
// host tells them to programs that ask, in the terminals that the client holds. A colour
// is "#rrggbb", or "" where it is unknown.
type ColorsParams struct {
	Channel URI      `json:"channel"`
	FG      string   `json:"fg"`
	BG      string   `json:"bg"`
	Cursor  string   `json:"cursor"`
	Palette []string `json:"palette"` // the basic colours, 16 at most
	// Pictures: the screen shows pictures of the kitty graphics protocol.
	Pictures bool `json:"pictures,omitempty"`
}
