package ahp

import (
	"encoding/json"

	"tandemux/ahp/guest"
)

// URI is an opaque address of a channel or resource. It is compared as an exact string and never
// normalised (AHP, Subscriptions).
type URI = string

// RootURI is the root channel, which always exists.
const RootURI URI = "ahp-root://"

// Schemes of the channels that tandemux names or serves. Clients may name terminals with others.
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

// RootMeta is tandemux's addition to RootState.
type RootMeta struct {
	// Layouts has the number of terminals, other hosts' included, that each layout shows, if any.
	Layouts Object[int] `json:"tandemux/layouts"`
}

// AgentInfo describes an agent provider.
type AgentInfo struct {
	Provider    string               `json:"provider"`
	DisplayName string               `json:"displayName"`
	Description string               `json:"description"`
	Models      List[map[string]any] `json:"models"`
	// ProtectedResources are resources for which a user of the agent needs a token (RFC 9728).
	ProtectedResources []json.RawMessage `json:"protectedResources,omitempty"`
	// Capabilities says what the agent's sessions can do beyond a single chat.
	Capabilities json.RawMessage `json:"capabilities,omitempty"`
}

// RootConfig is the host's configuration as clients see it, without secrets.
type RootConfig struct {
	Schema Object[any] `json:"schema"`
	Values Object[any] `json:"values"`
}

// TerminalInfo is a terminal's row in RootState, enough to list terminals without subscribing to
// each (G9).
type TerminalInfo struct {
	Resource  URI       `json:"resource"`
	Title     string    `json:"title"`
	Claim     Claim     `json:"claim"`
	Lifecycle Lifecycle `json:"lifecycle"`
	// Meta is tandemux's addition; other hosts leave it out.
	Meta *TerminalMeta `json:"_meta,omitempty"`
}

// TerminalMeta is tandemux's addition to TerminalInfo. All members are optional.
type TerminalMeta struct {
	// Name is a name that somebody gave the terminal. It is unique on the host and works as an
	// address. A client sets it with terminal/titleChanged; the row's title is then the same.
	Name string `json:"tandemux/name,omitempty"`
	// Title is the title that a terminal with a name would have without it.
	Title    string `json:"tandemux/title,omitempty"`
	Detached bool   `json:"tandemux/detached,omitempty"` // the claim's client is not connected
	// Principal is the identity that the claim's client belongs to; empty for sessions.
	Principal string `json:"tandemux/principal,omitempty"`
	// Holder is the name of the claim's principal, such as a token's, if that is not the host's
	// owner. Sessions have it too.
	Holder string `json:"tandemux/holder,omitempty"`
	Cwd    URI    `json:"tandemux/cwd,omitempty"` // a file URI
	// Layouts are the layouts that show the terminal. A terminal with a client's claim and none is
	// in the background.
	Layouts []URI `json:"tandemux/layouts,omitempty"`
	// HandBack is the session's claim that a person's claim has replaced, if any.
	HandBack *Claim `json:"tandemux/handBack,omitempty"`
	Pid      int    `json:"tandemux/pid,omitempty"`     // of the terminal's first process
	Created  int64  `json:"tandemux/created,omitempty"` // Unix ms
	Ending
	// Command is the argument vector that was started; empty for the user's shell.
	Command []string `json:"tandemux/command,omitempty"`
	// CommandIsShell says that Command is an interactive shell that marks its commands.
	CommandIsShell bool `json:"tandemux/commandIsShell,omitempty"`
	// Agent names the agent whose session holds the terminal, or the session if a person named it.
	Agent string `json:"tandemux/agent,omitempty"`
	// Ask is an agent's question about the terminal that waits for the person.
	Ask *Ask `json:"tandemux/ask,omitempty"`
	// Scrollback is how many lines above the screen are kept, if the terminal's creator set it.
	Scrollback *int `json:"tandemux/scrollback,omitempty"`
	// Fit says that the terminal follows the size of the pane that shows it, whoever holds it.
	Fit bool `json:"tandemux/fit,omitempty"`
	// LastCommand is the newest command, running or finished. Its line is cut to fit a list.
	LastCommand *CommandInfo  `json:"tandemux/lastCommand,omitempty"`
	Shares      []guest.Share `json:"tandemux/shares,omitempty"` // only for connections that may operate the host
}

// Ending says how a terminal's process ended, beyond its exit code.
type Ending struct {
	Signal string `json:"tandemux/signal,omitempty"` // the signal that ended the process, such as "SIGKILL"
	Ended  string `json:"tandemux/ended,omitempty"`  // why the host ended it; empty if it did not
	// Orphaned says that the process's keeper is gone. It may still run; its end will not be known.
	Orphaned bool `json:"tandemux/orphaned,omitempty"`
}

// RunsShell reports whether the terminal was started with a shell whose commands are reported one
// by one. If not, Command is its only command.
func (m *TerminalMeta) RunsShell() bool { return len(m.Command) == 0 || m.CommandIsShell }

// Lifecycle says whether the terminal's process runs. The zero value means that it does.
type Lifecycle struct {
	Status   string `json:"status"`             // absent if a signal ended it
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

// StateMeta is tandemux's addition to TerminalState.
type StateMeta struct {
	Echo Echo `json:"tandemux/echo,omitempty"`
}

// Echo says what shows typed characters at a terminal's cursor, as far as the host can tell.
type Echo string

// The values of Echo.
const (
	NoEcho     Echo = ""
	EchoTty    Echo = "tty"    // the pty echoes, and its input is line by line (ECHO, ICANON)
	EchoPrompt Echo = "prompt" // a shell that marks its prompt is reading a command line
)

// The values of Part.Type.
const (
	PartUnclassified = "unclassified"
	PartCommand      = "command"
)

// Part is a section of a terminal's output: that of a command, or what lies between commands
// (G12–G15). The raw stream is the concatenation of all parts' Text.
type Part struct {
	Type string `json:"type"`

	Value string `json:"value,omitempty"` // unclassified

	CommandID   string `json:"commandId"`   // command, and all below
	CommandLine string `json:"commandLine"` //
	Output      string `json:"output"`      //
	Timestamp   int64  `json:"timestamp"`   // Unix ms by the host's clock
	IsComplete  bool   `json:"isComplete"`
	ExitCode    *int   `json:"exitCode,omitempty"`
	DurationMs  *int64 `json:"durationMs,omitempty"`
}

// Text returns the part's part of the raw stream.
func (p Part) Text() string { return *p.Share() }

// The values of Claim.Kind (R3).
const (
	ClaimClient  = "client"
	ClaimSession = "session"
)

// Claim says who holds a terminal: a client, or a session, with chat, turn and tool call while a
// call runs (G18–G20).
type Claim struct {
	Kind       string `json:"kind"`
	ClientID   string `json:"clientId,omitempty"`
	Session    URI    `json:"session,omitempty"`
	Chat       URI    `json:"chat,omitempty"` // absent in 0.5
	TurnID     string `json:"turnId,omitempty"`
	ToolCallID string `json:"toolCallId,omitempty"`
}

// Check returns an error if a claim that a client sent is not valid (R3–R6).
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

// LayoutState is the state of a layout channel: the user interface's document, which is replaced as
// a whole. A writer names the next revision, so one of two concurrent writers is refused and has to
// apply its change again. The host does not read Doc. Terminals are those that the layout shows,
// from which the host makes TerminalMeta.Layouts.
type LayoutState struct {
	Rev       int64           `json:"rev"` // 0 for a layout never written
	Doc       json.RawMessage `json:"doc"` // a JSON object, or null when never written
	Terminals List[URI]       `json:"terminals"`
}

// MaxLayoutBytes bounds LayoutState.Doc, in bytes.
const MaxLayoutBytes = 256 << 10
