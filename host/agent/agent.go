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
	// Info describes the agent. It may grow after the first Open: models and
	// ways to log in are known only then.
	Info() Info
	// Open starts the agent and a session of it. It returns within the
	// provider's start time-out; the error is an *Error, of KindAuthRequired when
	// somebody has to log in first.
	Open(ctx context.Context, s Spec) (Session, error)
	// Authenticate logs in by a method of AuthAgent that an Error listed. Methods
	// of other kinds need a person: see AuthMethod.
	Authenticate(ctx context.Context, methodID string) error
}

// Info describes a provider (AHP, Root Channel).
type Info struct {
	ID          string // AHP's "provider": short, unique in this host
	Name        string // for people
	Description string
	Version     string       // what the agent said of itself; empty before
	Models      []Choice     // as of the last session; may be empty
	Auth        []AuthMethod // as of the last start
	// Images, Audio and Embedded tell which attachments a prompt may carry
	// beyond text and links.
	Images, Audio, Embedded bool
	// Fork tells that a session can begin as a copy of another (Spec.Fork), as of
	// the last start.
	Fork bool
	// Inner tells that only the host begins sessions with it: clients are not told of it.
	Inner bool
	// Resource is what its users need a token for; nil: nothing that the host knows of.
	Resource *Resource
}

// Resource is a protected resource as clients are told of it (RFC 9728), and the variable
// of the agent's environment that takes the token.
type Resource struct {
	URI      string   `json:"resource"`
	Name     string   `json:"resource_name,omitempty"`
	Servers  []string `json:"authorization_servers,omitempty"`
	Scopes   []string `json:"scopes_supported,omitempty"`
	Required bool     `json:"required"`
	Variable string   `json:"-"`
}

// Spec says what session to open.
type Spec struct {
	// Session and Chat are the channels that the session serves.
	Session, Chat ahp.URI
	// Roots are the directories that the agent works in: absolute, at least one;
	// the first is its working directory.
	Roots []string
	// Servers are MCP servers that the agent is to use.
	Servers []Server
	// Resume is the ID of an earlier session of this provider, empty for a new
	// one. An agent that can't resume starts afresh: Session.Resumed says so.
	Resume string
	// Fork is the ID of another session of this provider, which this one begins as
	// a copy of; then Resume is empty. Where that can't be done Open fails.
	Fork string
	// Config are options to set at the start, by id. Unknown ones are ignored.
	Config map[string]string
	// Terminals and Files are what the agent may use; nil: it is told that there
	// are none.
	Terminals Terminals
	Files     Files
	// Clients are tools of the session's clients; nil: there are none.
	Clients ClientTools
	// Env is put over its environment, unless it is confined.
	Env []Var
	// Confine, if not nil, is where the agent's process must run: Roots and the paths
	// of Terminals and Files are the host's view, what the agent is told and says is
	// its own.
	Confine Confinement
	// Events gets what concerns the session; never nil. It may be called before
	// Open returns.
	Events Events
}

// Server is a program that is an MCP server for an agent.
type Server struct {
	Name    string
	Command string // absolute
	Args    []string
	Env     []Var
	// Program says that Command is a path of the host's that Confine knows inside.
	Program bool
	// Commands is its tool that runs commands in terminals of the host's; "": none.
	Commands string
}

// Variables of what an agent starts, that say for which session and chat it is.
const SessionEnv, ChatEnv = "TANDEMUX_SESSION", "TANDEMUX_CHAT"

// Var is a variable of an environment, or a header.
type Var struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Session is an open session with an agent, for one chat.
type Session interface {
	// ID is the agent's own name of the session, for Spec.Resume. It changes when
	// an agent that can't resume had to be started again.
	ID() string
	// Resumed reports whether the agent remembers the session of Spec.Resume.
	Resumed() bool
	// Prompt runs a turn; see the package's "The end of a turn". An agent whose
	// process has ended is started again first.
	Prompt(ctx context.Context, t Turn, s Sink) (Outcome, error)
	// SetOption changes one of the options that Events told; the agent's answer
	// comes by Events, before it returns.
	SetOption(ctx context.Context, id, value string) error
	// Close ends the session and the agent's process, and waits for that: a few
	// seconds at most. A turn that runs fails.
	Close() error
}

// Turn is what a person, or whoever acts for one, asks of the agent.
type Turn struct {
	ID          string // AHP's turnId
	Text        string
	Attachments []Attachment
}

// Attachment is something a message carries besides its text.
type Attachment struct {
	Label string
	// URI of a file or another resource; empty when Data is all there is.
	URI string
	// Type is the content type, when known.
	Type string
	// Data is embedded content; nil for a link. Agents that can't take it get a
	// link, or where there is no URI a text that names what is missing.
	Data []byte
}

// Outcome says how a turn ended that did not fail.
type Outcome struct {
	Stop Stop
	// Message explains any Stop but StopEnd and StopCancelled, for people.
	Message string
	// Usage came with the end, if it is not nil: it is known when the turn has ended, and
	// not a moment before, when whoever minds it would still stop the turn.
	Usage *Usage
}

// Stop is why the agent stopped.
type Stop string

// The values of Stop.
const (
	StopEnd       Stop = "end"       // it is done
	StopCancelled Stop = "cancelled" // it was told to stop
	StopLimit     Stop = "limit"     // out of tokens or requests
	StopRefusal   Stop = "refusal"   // it will not
	StopOther     Stop = "other"     // a reason that this version doesn't know
)

// Sink gets the events of one turn, in order. See the package's "Concurrency".
type Sink interface {
	// Message is more of the agent's Markdown. A message that follows anything
	// else begins a new part; the host decides.
	Message(text string)
	// Reasoning is more of the agent's thinking, in Markdown.
	Reasoning(text string)
	// Notice is something that the provider has to say: that the agent was
	// restarted, or has forgotten the conversation.
	Notice(text string)
	// Tool tells of a new tool call or of the present state of a known one.
	// Content is bounded by the provider.
	Tool(c ToolCall)
	// Confirm asks whether a tool call may run, and waits for the answer. An error,
	// mostly ctx's, means that the question was given up; ctx ends with the turn.
	// Call was told by Tool before.
	Confirm(ctx context.Context, c Confirmation) (Answer, error)
	// Usage replaces what is known of the turn's use of tokens.
	Usage(u Usage)
	// Plan replaces the agent's plan.
	Plan(entries []PlanEntry)
}

// Events gets what concerns the session as a whole, at any time. Each replaces
// what was told before.
type Events interface {
	Title(title string)
	Options(options []Option)
	Commands(commands []Command)
}

// ToolCall is a tool call of the agent as it stands (AHP, Chat Channel).
type ToolCall struct {
	ID     string // unique in the session, the agent's own
	Name   string // the tool's name where the agent tells it, else Kind
	Title  string // what it does, for people; may be Markdown
	Kind   string // read, edit, delete, move, search, execute, think, fetch, switch_mode, other
	Status ToolStatus
	// Input and Output are the tool's own, as JSON; nil when unknown.
	Input, Output json.RawMessage
	Content       []Content
	Error         string // why it failed, where that is known
	// Partial says that of the input or the content something was left out that was
	// too large.
	Partial   bool
	Locations []Location
	// Parent is the tool call that this one belongs to, as of a sub-agent.
	Parent string
}

// ToolStatus is how far a tool call is.
type ToolStatus uint8

// The values of ToolStatus, in the order in which a call goes through them.
const (
	ToolPending   ToolStatus = iota // not begun: its input streams, or it waits for a person
	ToolRunning                     //
	ToolCompleted                   // the result is there
	ToolFailed                      // it ran and failed, or was not allowed
)

// Over reports whether nothing more can happen.
func (s ToolStatus) Over() bool { return s >= ToolCompleted }

// Location is a place in a file that a tool call concerns.
type Location struct {
	Path string
	Line int // from 1; 0 when it concerns the whole file
}

// Content is part of what a tool call shows: exactly one of its members is set.
type Content struct {
	Text     string // Markdown, or plain text
	Diff     *Diff
	Terminal *TerminalContent
	Resource *Attachment
}

// Diff is a change of a file.
type Diff struct {
	Path string
	Old  *string // nil when the file is new
	New  string
}

// TerminalContent is a terminal in a tool call: one of the host's, by URI, or one
// that the agent runs by itself and only shows.
type TerminalContent struct {
	URI ahp.URI // empty when the agent's own
	// What it is, and of the agent's own, or of one whose command has ended, the end of the
	// output, whether that lacks its beginning, and how it ended.
	Title     string
	Output    string
	Truncated bool
	Exit      *Exit // nil while it runs, or unknown
}

// Confirmation is a question whether a tool call may run.
type Confirmation struct {
	Call    ToolCall
	Options []Choice // Group is one of the Confirm groups
	// Editable is the member of Call.Input, a text, that a person may change before
	// the call runs; empty where nothing can be changed.
	Editable string
	// ByPerson says that nothing but a person may answer: the session's policy does not.
	ByPerson bool
}

// Answer is a person's to a Confirmation, or the session's policy's.
type Answer struct {
	Option string // its id
	// Input, where a person has changed it, replaces Call.Input: it differs in
	// Editable alone.
	Input json.RawMessage
}

// Groups of a Confirmation's options.
const (
	ConfirmAllowOnce    = "allow_once"
	ConfirmAllowAlways  = "allow_always"
	ConfirmRejectOnce   = "reject_once"
	ConfirmRejectAlways = "reject_always"
)

// What clients get as it is: one of several choices, a command of the agent's, a step
// of its plan.
type (
	Choice    = ahp.AgentChoice
	Command   = ahp.AgentCommand
	PlanEntry = ahp.AgentPlanEntry
)

// OptionOf is the first option of the first group that has one.
func OptionOf(options []Choice, groups ...string) (id string, ok bool) {
	for _, g := range groups {
		if i := slices.IndexFunc(options, func(o Choice) bool { return o.Group == g }); i >= 0 {
			return options[i].ID, true
		}
	}
	return "", false
}

// Option is something about the session that a person may set: the mode, the
// model, and what else the agent offers.
type Option struct {
	ahp.AgentOption // Boolean ones have the values "true" and "false" and no Choices
	Value           string
}

// Usage is what a turn used; zero means unknown.
type Usage struct {
	InputTokens, OutputTokens, CacheReadTokens int64
	// ContextUsed of ContextSize tokens are in the agent's context.
	ContextUsed, ContextSize int64
	Cost                     float64
	Currency                 string // of Cost, such as "USD"
}

// Terminals starts commands for an agent in the host's own terminals.
type Terminals interface {
	// Create starts a command; the error is fit for the agent to read. A command
	// that can't be started is a terminal that has ended, with the reason in its
	// output (P17).
	Create(ctx context.Context, s TerminalSpec) (Terminal, error)
}

// TerminalSpec says what to start.
type TerminalSpec struct {
	// TurnID and ToolCallID are whom the terminal is for, empty where unknown:
	// Terminal.Bind tells later.
	TurnID, ToolCallID string
	// Command is a program, with Args; without any it may be a line of a shell's.
	Command string
	Args    []string
	Env     []Var
	Dir     string // absolute; empty: the first root
	// OutputLimit in bytes of what Output gives, or NoOutput; 0: 1 MiB
	// (docs/contributing/decisions.md §27).
	OutputLimit int
}

// NoOutput is the OutputLimit of an agent that wants none.
const NoOutput = -1

// Terminal is a terminal that an agent has started. Its methods may be called
// from any goroutine.
type Terminal interface {
	URI() ahp.URI
	// Bind says which tool call uses the terminal. With its turn, one that is in the
	// background is the call's from here on, unless that is the one it was taken from.
	Bind(turnID, toolCallID string)
	// Output is what was written so far, without its beginning where it is longer
	// than the limit, and how it ended: nil while it runs.
	Output() (text string, truncated bool, exit *Exit)
	// Wait waits for the end. ErrDetached: a person has taken the terminal, or
	// sent it to the background, and the agent should go on without it.
	Wait(ctx context.Context) (Exit, error)
	// Kill ends the command, by force after five seconds, and waits for that. The
	// terminal remains. What has ended, or a person holds, is left as it is.
	Kill(ctx context.Context) error
	// Release ends the agent's use of the terminal: the command too if it still
	// runs, unless a person has taken it or sent it to the background. The host
	// keeps the terminal to show it. More than once is fine.
	Release()
}

// Exit says how a command ended; with both members unset it is not known.
type Exit struct {
	Code   *int
	Signal string // such as "SIGTERM"
}

// Files gives an agent the files within its roots and nothing else. Errors are
// fit for the agent to read, and wrap fs.ErrNotExist where that is the reason.
type Files interface {
	// Read gives limit lines from a line (from 1; 0: the first), all where limit
	// is 0.
	Read(ctx context.Context, path string, line, limit int) (string, error)
	// Write replaces or creates a file.
	Write(ctx context.Context, path, content string) error
}

// AuthMethod is a way to log in. Of AuthTerminal, exit code 0 of its command means that
// it is done.
type AuthMethod = ahp.AgentAuth

// The values of AuthMethod.Kind: who does the logging in.
const (
	AuthAgent    = "agent"    // Provider.Authenticate
	AuthTerminal = "terminal" // a person, in a terminal that runs Command
	AuthEnv      = "env"      // a person, by setting Variables before the agent starts
)

// DefaultStart is how long an agent may take to be ready: real ones need up to
// five seconds, on a slow machine more.
const DefaultStart = 60 * time.Second

// ClientTools are tools that clients of the session carry out, which the host
// supplies by Spec.Clients. They come and go with the clients.
type ClientTools interface {
	// List gives those that there are now.
	List() []ahp.ToolDefinition
	// Call has one carried out in the turn that runs and waits for the result. The
	// call's id is the agent's own, unique in the session; the host tells of the
	// call, so that Sink.Tool must not. An error means that there is no such tool or
	// that the turn has ended; what the client failed at is a result.
	Call(ctx context.Context, id, name string, input json.RawMessage) (ahp.ToolResult, error)
}

// Asker is implemented by the host's Sinks: it asks a person questions and waits
// for the answer. Ctx ends with the turn.
type Asker interface {
	Ask(ctx context.Context, r ahp.InputRequest) (ahp.ChatInputCompleted, error)
}

// Steerer is implemented by Sessions that can be given a message while a turn
// runs, from about the time of Prompt's call on; an error makes it wait. Without
// it, or where it is not so, such a message waits and begins the next turn.
type Steerer interface {
	// Steers reports whether the agent takes any. It answers at once.
	Steers() bool
	Steer(ctx context.Context, t Turn) error
}

// ErrDetached says that a person has taken a terminal from an agent, or sent it
// to the background: the command runs on, and the agent should too.
var ErrDetached = errors.New("terminal detached from its agent")

// Detached is what an agent reads of that, at the end of the output.
const Detached = "A person has taken this terminal over, or sent it to the background. The command runs on; go on without waiting for it."

// Kinds of Error, as AHP's ErrorInfo.errorType.
const (
	KindAuthRequired = "authRequired" // Auth lists the ways
	KindNotFound     = "agentNotFound"
	KindStart        = "agentStart"    // it did not start, or not in time
	KindCrashed      = "agentCrashed"  // its process ended
	KindProtocol     = "agentProtocol" // it said what can't be understood, or too much
	KindTimeout      = "agentTimeout"  // it did not do what it must in time
	KindAgent        = "agentError"    // it answered with an error of its own
	KindClosed       = "sessionClosed"
)

// Error is why a session could not be opened or a turn failed.
type Error struct {
	Kind string
	// Message says what was being done, what was wrong and what to do.
	Message string
	Auth    []AuthMethod // of KindAuthRequired
}

func Errorf(kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string { return e.Message }

// Refusal is an error of Terminals and Files that is the agent's own doing: its
// text says what it may not do.
type Refusal struct{ Text string }

func (r *Refusal) Error() string { return r.Text }
