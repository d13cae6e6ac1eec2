package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"tandemux/ahp"
)

// Provider is one kind of agent that sessions can be opened with.
type Provider interface {
	// Info describes the agent. Models and ways to log in may be known only after the first Open.
	Info() Info
	// Open starts the agent and a session of it, within the provider's start time-out. The error is an
	// *Error, of KindAuthRequired if somebody has to log in first.
	Open(ctx context.Context, s Spec) (Session, error)
	// Authenticate logs in with a method of kind AuthAgent that an Error listed. The other kinds need
	// a person; see AuthMethod.
	Authenticate(ctx context.Context, methodID string) error
}

// Info describes a provider (AHP, Root Channel).
type Info struct {
	ID          string // AHP's "provider": short, unique in this host
	Name        string // shown to people
	Description string
	Version     string       // what the agent said about itself; empty before the first start
	Models      []Choice     // as of the last session; may be empty
	Auth        []AuthMethod // as of the last start
	// Images, Audio and Embedded say which attachments a prompt may have besides text and links.
	Images, Audio, Embedded bool
	// Fork says that a session can start as a copy of another one (Spec.Fork), as of the last start.
	Fork bool
	// Inner says that only the host starts sessions with it. Clients don't see it.
	Inner bool
	// Resource is what its users need a token for; nil if the host knows of nothing.
	Resource *Resource
}

// Resource is a protected resource as clients see it (RFC 9728), and the variable of the agent's
// environment for the token.
type Resource struct {
	URI      string   `json:"resource"`
	Name     string   `json:"resource_name,omitempty"`
	Servers  []string `json:"authorization_servers,omitempty"`
	Scopes   []string `json:"scopes_supported,omitempty"`
	Required bool     `json:"required"`
	Variable string   `json:"-"`
}

// Spec describes the session to open.
type Spec struct {
	// Session and Chat are the channels that the session is for.
	Session, Chat ahp.URI
	// Roots are the directories that the agent works in: absolute, at least one; the first is its
	// working directory.
	Roots []string
	// Servers are MCP servers for the agent.
	Servers []Server
	// Resume is the ID of an earlier session of this provider, or "". If the agent can't resume it, it
	// starts a new one, as Session.Resumed says.
	Resume string
	// Fork is the ID of another session of this provider, of which this one is to be a copy; Resume is
	// empty then. If that is not possible, Open fails.
	Fork string
	// Config are options to set at the start, by id. Unknown ones are ignored.
	Config map[string]string
	// Terminals and Files are for the agent to use; nil means that it is told that there are none.
	Terminals Terminals
	Files     Files
	// Clients has the tools of the session's clients; nil if there are none.
	Clients ClientTools
	// Env is added to the agent's environment, unless it is confined.
	Env []Var
	// Confine, if not nil, is where the agent's process must run. Roots and the paths of Terminals and
	// Files are the host's view; the agent's messages have its own view.
	Confine Confinement
	// Events receives what is about the session; never nil. It may be called before Open returns.
	Events Events
}

// Server is an MCP server for an agent.
type Server struct {
	Name    string
	Command string // absolute
	Args    []string
	Env     []Var
	// Program says that Command is a path of the host that Confine.Inside translates.
	Program bool
	// Commands is the server's tool that runs commands in terminals of the host; "" if it has none.
	Commands string
}

// Environment variables that name the session and chat for which an agent starts a program.
const SessionEnv, ChatEnv = "TANDEMUX_SESSION", "TANDEMUX_CHAT"

// Var is an environment variable.
type Var struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Session is an open session with an agent, for one chat.
type Session interface {
	// ID is the agent's id of the session, for Spec.Resume. It changes if an agent that can't resume
	// had to be started again.
	ID() string
	// Resumed reports whether the agent remembers the session Spec.Resume.
	Resumed() bool
	// Prompt runs a turn; see "The end of a turn" in the package's documentation. An agent whose
	// process has ended is started again first.
	Prompt(ctx context.Context, t Turn, s Sink) (Outcome, error)
	// SetOption sets one of the options that Events got. The agent's answer goes to Events before it
	// returns.
	SetOption(ctx context.Context, id, value string) error
	// Close ends the session and the agent's process, and waits for that, a few seconds at most. A
	// running turn fails.
	Close() error
}

// Turn is a message to the agent.
type Turn struct {
	ID          string // AHP's turnId
	Text        string
	Attachments []Attachment
}

// Attachment is something attached to a message.
type Attachment struct {
	Label string
	// URI of a file or another resource; empty if there is only Data.
	URI string
	// Type is the media type, if known.
	Type string
	// Data is embedded content; nil for a link. An agent that does not accept it gets a link, or
	// without a URI a text that names what is missing.
	Data []byte
}

// Outcome says how a turn that did not fail has ended.
type Outcome struct {
	Stop Stop
	// Message explains for people any Stop except StopEnd and StopCancelled.
	Message string
	// Usage is the usage that came with the end, or nil. It is applied when the turn has ended, and
	// not before, because whoever watches a budget could then still stop the turn.
	Usage *Usage
}

// Stop says why the agent stopped.
type Stop string

// The values of Stop.
const (
	StopEnd       Stop = "end"       // it is done
	StopCancelled Stop = "cancelled" // it was told to stop
	StopLimit     Stop = "limit"     // out of tokens or requests
	StopRefusal   Stop = "refusal"   // it refused to go on
	StopOther     Stop = "other"     // a reason that this version does not know
)

// Sink receives the events of one turn, in order; see "Concurrency" in the package's documentation.
type Sink interface {
	// Message is called with more of the agent's Markdown. Text after anything else begins a new part.
	Message(text string)
	// Reasoning is called with more of the agent's thinking, as Markdown.
	Reasoning(text string)
	// Notice is called with a message of the provider, such as that the agent was restarted or has
	// forgotten the conversation.
	Notice(text string)
	// Tool is called with a new tool call, or the current state of a known one. Its content is bounded
	// by the provider.
	Tool(c ToolCall)
	// Confirm asks whether a tool call may run, and waits for the answer. ctx ends with the turn; an
	// error, usually ctx's, means that the question was given up. The call was passed to Tool before.
	Confirm(ctx context.Context, c Confirmation) (Answer, error)
	// Usage replaces the turn's usage.
	Usage(u Usage)
	// Plan replaces the agent's plan.
	Plan(entries []PlanEntry)
}

// Events receives what is about the session as a whole, at any time. Each call replaces the previous
// value.
type Events interface {
	Title(title string)
	Options(options []Option)
	Commands(commands []Command)
}

// ToolCall is the current state of an agent's tool call (AHP, Chat Channel).
type ToolCall struct {
	ID     string // the agent's id, unique in the session
	Name   string // the tool's name if the agent says it, else Kind
	Title  string // what it does, for people; may be Markdown
	Kind   string // read, edit, delete, move, search, execute, think, fetch, switch_mode, other
	Status ToolStatus
	// Input and Output are the tool's own, as JSON; nil if unknown.
	Input, Output json.RawMessage
	Content       []Content
	Error         string // why it failed, if known
	// Partial says that a part of the input or the content was left out because it was too large.
	Partial   bool
	Locations []Location
	// Parent is the tool call that this one is part of, for example of a subagent.
	Parent string
}

// ToolStatus is the status of a tool call.
type ToolStatus uint8

// The values of ToolStatus, in the order in which a call goes through them.
const (
	ToolPending   ToolStatus = iota // not started: its input streams, or it waits for a person
	ToolRunning                     //
	ToolCompleted                   // it has a result
	ToolFailed                      // it ran and failed, or was not allowed
)

// Over reports whether the call has ended.
func (s ToolStatus) Over() bool { return s >= ToolCompleted }

// Location is a place in a file that a tool call is about.
type Location struct {
	Path string
	Line int // from 1; 0 for the whole file
}

// Content is a part of what a tool call shows. Exactly one of its members is set.
type Content struct {
	Text     string // Markdown, or plain text
	Diff     *Diff
	Terminal *TerminalContent
	Resource *Attachment
}

// Diff is a change of a file.
type Diff struct {
	Path string
	Old  *string // nil if the file is new
	New  string
}

// TerminalContent is a terminal in a tool call: one of the host's, with a URI, or one that the agent
// runs itself and only shows.
type TerminalContent struct {
	URI ahp.URI // empty for an agent's own terminal
	// Output is the end of the output, Truncated says that its beginning is missing. Output, Truncated
	// and Exit are set for an agent's own terminal, and once the command has ended.
	Title     string
	Output    string
	Truncated bool
	Exit      *Exit // nil while it runs, or if unknown
}

// Confirmation is the question whether a tool call may run.
type Confirmation struct {
	Call    ToolCall
	Options []Choice // Group is one of the groups Confirm…
	// Editable is the member of Call.Input, a text, that a person may change before the call runs;
	// empty if none.
	Editable string
	// ByPerson says that only a person may answer, not the session's policy.
	ByPerson bool
}

// Answer is the answer to a Confirmation, of a person or the session's policy.
type Answer struct {
	Option string // its id
	// Input, if a person has changed it, replaces Call.Input. It differs only in Editable.
	Input json.RawMessage
}

// The groups of a Confirmation's options.
const (
	ConfirmAllowOnce    = "allow_once"
	ConfirmAllowAlways  = "allow_always"
	ConfirmRejectOnce   = "reject_once"
	ConfirmRejectAlways = "reject_always"
)

// Types that clients get unchanged: a choice, a command of the agent's, a step of its plan.
type (
	Choice    = ahp.AgentChoice
	Command   = ahp.AgentCommand
	PlanEntry = ahp.AgentPlanEntry
)

// OptionOf returns the first option of the first group that has one.
func OptionOf(options []Choice, groups ...string) (id string, ok bool) {
	for _, g := range groups {
		if i := slices.IndexFunc(options, func(o Choice) bool { return o.Group == g }); i >= 0 {
			return options[i].ID, true
		}
	}
	return "", false
}

// Option is a setting of the session: the mode, the model, and others that the agent offers.
type Option struct {
	ahp.AgentOption // boolean ones have the values "true" and "false" and no Choices
	Value           string
}

// Usage is what a turn has used; 0 means unknown.
type Usage struct {
	InputTokens, OutputTokens, CacheReadTokens int64
	// ContextUsed of the ContextSize tokens of the agent's context are used.
	ContextUsed, ContextSize int64
	Cost                     float64
	Currency                 string // of Cost, such as "USD"
}

// Terminals starts commands for an agent in the host's terminals.
type Terminals interface {
	// Create starts a command. The error is written for the agent. A command that can't be started
	// gives a terminal that has ended, with the reason in its output (P17).
	Create(ctx context.Context, s TerminalSpec) (Terminal, error)
}

// TerminalSpec describes the command to start.
type TerminalSpec struct {
	// TurnID and ToolCallID say what the terminal is for; empty if unknown, until Terminal.Bind.
	TurnID, ToolCallID string
	// Command is a program, with Args. Without Args it may be a command line of a shell.
	Command string
	Args    []string
	Env     []Var
	Dir     string // absolute; empty means the first root
	// OutputLimit bounds what Output returns, in bytes, or is NoOutput; 0 means 1 MiB
	// (docs/contributing/decisions.md §27).
	OutputLimit int
}

// NoOutput is the OutputLimit for no output.
const NoOutput = -1

// Terminal is a terminal that an agent has started. Its methods may be called from any goroutine.
type Terminal interface {
	URI() ahp.URI
	// Bind sets the tool call that uses the terminal. With a turnID it also gives a terminal in the
	// background to the call, unless it was taken from that call.
	Bind(turnID, toolCallID string)
	// Output returns the output so far, the end of it if it is longer than the limit, and how the
	// command ended, nil while it runs.
	Output() (text string, truncated bool, exit *Exit)
	// Wait waits for the end of the command. The error is ErrDetached if a person has taken the
	// terminal or sent it to the background; the agent should then go on without it.
	Wait(ctx context.Context) (Exit, error)
	// Kill ends the command, after five seconds by force, and waits for that. The terminal remains. It
	// does nothing if the command has ended; if a person has the terminal that is an error.
	Kill(ctx context.Context) error
	// Release ends the agent's use of the terminal, and the command if it still runs, unless a person
	// has taken the terminal or sent it to the background. The host keeps the terminal to show it. It
	// may be called repeatedly.
	Release()
}

// Exit says how a command ended. If no member is set that is unknown.
type Exit struct {
	Code   *int
	Signal string // such as "SIGTERM"
}

// Files gives an agent access to the files within its roots. Errors are written for the agent, and
// wrap fs.ErrNotExist if that is the reason.
type Files interface {
	// Read returns limit lines from a line on (from 1; 0 means the first), or all if limit is 0.
	Read(ctx context.Context, path string, line, limit int) (string, error)
	// Write replaces or creates a file.
	Write(ctx context.Context, path, content string) error
}

// AuthMethod is a way to log in. With AuthTerminal, exit code 0 of the command means success.
type AuthMethod = ahp.AgentAuth

// The values of AuthMethod.Kind, which say who logs in.
const (
	AuthAgent    = "agent"    // the agent, by Provider.Authenticate
	AuthTerminal = "terminal" // a person, in a terminal that runs Command
	AuthEnv      = "env"      // a person, by setting Variables before the agent starts
)

// DefaultStart is how long an agent may take to be ready. Real ones take up to five seconds, more on a
// slow machine.
const DefaultStart = 60 * time.Second

// ClientTools runs tools of the session's clients; the host supplies it as Spec.Clients. The tools
// change with the clients.
type ClientTools interface {
	// List returns the current tools.
	List() []ahp.ToolDefinition
	// Call runs a tool in the active turn and waits for the result. id is the agent's, unique in the
	// session. The host reports the call, so the provider must not pass it to Sink.Tool. An error
	// means that there is no such tool or the turn has ended; a failure of the tool is a result.
	Call(ctx context.Context, id, name string, input json.RawMessage) (ahp.ToolResult, error)
}

// Asker is implemented by the host's Sinks. Ask asks a person questions and waits for the answer. ctx
// ends with the turn.
type Asker interface {
	Ask(ctx context.Context, r ahp.InputRequest) (ahp.ChatInputCompleted, error)
}

// Steerer is implemented by Sessions that accept messages while a turn runs, from about the call of
// Prompt on. If a Session does not, or returns an error, the message waits and begins the next turn.
type Steerer interface {
	// Steers reports whether the agent accepts such messages. It must not block.
	Steers() bool
	Steer(ctx context.Context, t Turn) error
}

// ErrDetached says that a person has taken a terminal from an agent, or sent it to the background. The
// command runs on, and the agent should go on, too.
var ErrDetached = errors.New("terminal detached from its agent")

// Detached tells an agent that, at the end of the output.
const Detached = "A person has taken this terminal over, or sent it to the background. The command runs on; go on without waiting for it."

// The values of Error.Kind, which are AHP's ErrorInfo.errorType.
const (
	KindAuthRequired = "authRequired" // Auth lists the ways to log in
	KindNotFound     = "agentNotFound"
	KindStart        = "agentStart"    // it did not start, or not in time
	KindCrashed      = "agentCrashed"  // its process ended
	KindProtocol     = "agentProtocol" // it sent something invalid, or too much
	KindTimeout      = "agentTimeout"  // it did not do something in time
	KindAgent        = "agentError"    // it returned an error
	KindClosed       = "sessionClosed"
)

// Error says why a session could not be opened, or a turn failed.
type Error struct {
	Kind string
	// Message says what was being done, what was wrong and what to do.
	Message string
	Auth    []AuthMethod // only of KindAuthRequired
}

func Errorf(kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string { return e.Message }

// Refusal is an error of Terminals and Files that says what the agent may not do.
type Refusal struct{ Text string }

func (r *Refusal) Error() string { return r.Text }
