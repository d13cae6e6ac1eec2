package ahp

import (
	"encoding/json"

	"tandemux/ahp/guest"
)

// URI is an opaque channel or resource address, compared as an exact string
// and never normalised (AHP, Subscriptions).
type URI = string

// RootURI is the channel that always exists.
const RootURI URI = "ahp-root://"

// Schemes of the channels that tandemux mints or serves. Others are accepted for
// client-chosen terminals.
const (
	TerminalScheme = "ahp-terminal:"
	SessionScheme  = "ahp-session:"
	ChatScheme     = "ahp-chat:"
	LayoutScheme   = "x-tandemux-layout:"
)

// RootState is the state of RootURI (G8, G10).
type RootState struct {
	Agents         List[AgentInfo] `json:"agents"`
	ActiveSessions *int            `json:"activeSessions,omitempty"`
	Terminals      []TerminalInfo  `json:"terminals,omitzero"`
	Config         *RootConfig     `json:"config,omitempty"`
	Meta           *RootMeta       `json:"_meta,omitempty"`
}

// RootMeta is what AHP has no member for.
type RootMeta struct {
	// Layouts has how much each layout shows, of other hosts too; never none.
	Layouts Object[int] `json:"tandemux/layouts"`
}

// AgentInfo describes an agent provider. Members beyond these are dropped.
type AgentInfo struct {
	Provider    string               `json:"provider"`
	DisplayName string               `json:"displayName"`
	Description string               `json:"description"`
	Models      List[map[string]any] `json:"models"`
	// ProtectedResources are what its users need a token for (RFC 9728).
	ProtectedResources []json.RawMessage `json:"protectedResources,omitempty"`
	// Capabilities say what sessions of the agent can do beyond one chat.
	Capabilities json.RawMessage `json:"capabilities,omitempty"`
}

// RootConfig is the host's configuration as clients see it, without secrets.
type RootConfig struct {
	Schema Object[any] `json:"schema"`
	Values Object[any] `json:"values"`
}

// TerminalInfo is a terminal's row in RootState: enough to draw a terminal
// manager without subscribing to each terminal (G9).
type TerminalInfo struct {
	Resource  URI       `json:"resource"`
	Title     string    `json:"title"`
	Claim     Claim     `json:"claim"`
	Lifecycle Lifecycle `json:"lifecycle"`
	// Meta is tandemux's addition to the row; other hosts leave it out.
	Meta *TerminalMeta `json:"_meta,omitempty"`
}

// TerminalMeta is what AHP has no member for and a terminal list needs. All
// members are optional.
type TerminalMeta struct {
	// Name that somebody gave the terminal: unique on the host, and an address. A
	// client sets it with terminal/titleChanged; the row's title is the same then.
	Name string `json:"tandemux/name,omitempty"`
	// Title is what a terminal with a name would be called without it.
	Title    string `json:"tandemux/title,omitempty"`
	Detached bool   `json:"tandemux/detached,omitempty"` // the claim's client is not connected
	// Principal that the claim's client belongs to; empty for sessions.
	Principal string `json:"tandemux/principal,omitempty"`
	// Holder is what people call the principal behind the claim, where that is
	// not the host's owner: a token's name, for sessions too.
	Holder string `json:"tandemux/holder,omitempty"`
	Cwd    URI    `json:"tandemux/cwd,omitempty"` // a file URI
	// Layouts that show the terminal; none means background for a client claim.
	Layouts []URI `json:"tandemux/layouts,omitempty"`
	// HandBack is the session claim that a reclaim replaced, if any.
	HandBack *Claim `json:"tandemux/handBack,omitempty"`
	Pid      int    `json:"tandemux/pid,omitempty"`     // of its first process
	Created  int64  `json:"tandemux/created,omitempty"` // Unix ms
	Ending
	// Command as started; empty for the user's shell.
	Command []string `json:"tandemux/command,omitempty"`
	// CommandIsShell says that Command is an interactive shell that marks its commands.
	CommandIsShell bool `json:"tandemux/commandIsShell,omitempty"`
	// Agent names the agent whose session holds it, or that session if a person named it.
	Agent string `json:"tandemux/agent,omitempty"`
	// Ask is an agent's question for it that waits for the person.
	Ask *Ask `json:"tandemux/ask,omitempty"`
	// Scrollback is how many lines it keeps that have scrolled off, if its creator said.
	Scrollback *int `json:"tandemux/scrollback,omitempty"`
	// Fit says that it follows the size of the pane that shows it, whoever holds it.
	Fit bool `json:"tandemux/fit,omitempty"`
	// LastCommand is the newest, running or finished, its line cut to what a list has room for.
	LastCommand *CommandInfo  `json:"tandemux/lastCommand,omitempty"`
	Shares      []guest.Share `json:"tandemux/shares,omitempty"` // for who operates the host
}

// Ending is how a terminal's process ended, as far as its exit code does not say.
type Ending struct {
	Signal string `json:"tandemux/signal,omitempty"` // that ended the process, such as "SIGKILL"
	Ended  string `json:"tandemux/ended,omitempty"`  // why the host ended it, empty when it didn't
	// Orphaned: the keeper that started it is gone. It may run on; its end will not be known.
	Orphaned bool `json:"tandemux/orphaned,omitempty"`
}

// RunsShell reports whether the terminal was started with a shell, whose commands
// are told one by one; else Command is its one command.
func (m *TerminalMeta) RunsShell() bool { return len(m.Command) == 0 || m.CommandIsShell }

// Lifecycle says whether the terminal's process runs. The zero value means
// running.
type Lifecycle struct {
	Status   string `json:"status"`             // StatusRunning or StatusExited
	ExitCode *int   `json:"exitCode,omitempty"` // absent when ended by a signal
}

// The values of Lifecycle.Status.
const (
	StatusRunning = "running"
	StatusExited  = "exited"
)

// Exited reports whether the process has ended.
func (l Lifecycle) Exited() bool { return l.Status == StatusExited }

// TerminalState is the state of a terminal channel (G11, R7).
type TerminalState struct {
	Title                    string     `json:"title"`
	Cwd                      URI        `json:"cwd,omitempty"`
	Cols                     int        `json:"cols,omitempty"`
	Rows                     int        `json:"rows,omitempty"`
	Content                  List[Part] `json:"content"`
	Lifecycle                Lifecycle  `json:"lifecycle"`
	Claim                    Claim      `json:"claim"`
	SupportsCommandDetection bool       `json:"supportsCommandDetection,omitempty"`
	IsPty                    *bool      `json:"isPty,omitempty"`
	Meta                     StateMeta  `json:"_meta,omitzero"`
}

// StateMeta is what this host says of a terminal besides.
type StateMeta struct {
	Echo Echo `json:"tandemux/echo,omitempty"`
}

// Echo is by what typed characters show at a terminal's cursor, as far as the host can
// tell.
type Echo string

// The values of Echo.
const (
	NoEcho     Echo = ""
	EchoTty    Echo = "tty"    // the pty echoes, and gives lines (ECHO, ICANON)
	EchoPrompt Echo = "prompt" // a shell that marks its prompt edits a command line there
)

// The values of Part.Type.
const (
	PartUnclassified = "unclassified"
	PartCommand      = "command"
)

// Part is one stretch of a terminal's output: a command's, or whatever lies
// between commands (G12–G15). The raw stream is the concatenation of Text over
// all parts.
type Part struct {
	Type string `json:"type"`

	Value string `json:"value,omitempty"` // unclassified

	CommandID   string `json:"commandId"`   // command, and all below
	CommandLine string `json:"commandLine"` //
	Output      string `json:"output"`      //
	Timestamp   int64  `json:"timestamp"`   // Unix ms, host's clock
	IsComplete  bool   `json:"isComplete"`
	ExitCode    *int   `json:"exitCode,omitempty"`
	DurationMs  *int64 `json:"durationMs,omitempty"`
}

// Text is the part's share of the raw stream.
func (p Part) Text() string { return *p.Share() }

// The values of Claim.Kind (R3).
const (
	ClaimClient  = "client"
	ClaimSession = "session"
)

// Claim says who holds a terminal: a client, or a session, with the chat, turn
// and tool call while one runs (G18–G20).
type Claim struct {
	Kind       string `json:"kind"`
	ClientID   string `json:"clientId,omitempty"`
	Session    URI    `json:"session,omitempty"`
	Chat       URI    `json:"chat,omitempty"` // absent in 0.5
	TurnID     string `json:"turnId,omitempty"`
	ToolCallID string `json:"toolCallId,omitempty"`
}

// Check reports what is wrong with a claim that a client sent (R3–R6).
func (c Claim) Check() error {
	switch {
	case c.Kind == ClaimClient && c.ClientID == "":
		return InvalidParams("a client claim needs clientId")
	case c.Kind == ClaimSession && c.Session == "":
		return InvalidParams("a session claim needs session")
	case c.Kind != ClaimClient && c.Kind != ClaimSession:
		return InvalidParams("claim kind %q is neither %q nor %q", clip(c.Kind), ClaimClient, ClaimSession)
	}
	return nil
}

// LayoutState is the state of a layout channel: an opaque document of the user
// interface, replaced whole. A writer names the next revision, so of two
// concurrent writers one is refused and applies its change again. The host
// never looks into Doc; Terminals is the writer's list of what the layout
// shows, from which the host derives TerminalMeta.Layouts.
type LayoutState struct {
	Rev       int64           `json:"rev"` // 0 for a layout never written
	Doc       json.RawMessage `json:"doc"` // a JSON object, or null when never written
	Terminals List[URI]       `json:"terminals"`
}

// MaxLayoutBytes bounds LayoutState.Doc.
const MaxLayoutBytes = 256 << 10
