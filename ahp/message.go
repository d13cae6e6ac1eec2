package ahp

import (
	"encoding/json"
	"errors"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Names of methods (requests) and notifications.
const (
	MethodInitialize      = "initialize"
	MethodReconnect       = "reconnect"
	MethodPing            = "ping"
	MethodSubscribe       = "subscribe"
	MethodUnsubscribe     = "unsubscribe"    // notification
	MethodDispatchAction  = "dispatchAction" // notification
	MethodCreateTerminal  = "createTerminal"
	MethodDisposeTerminal = "disposeTerminal"
	MethodListSessions    = "listSessions"
	MethodAction          = "action" // notification, host to client

	// tandemux's extensions.
	MethodRead = "x-tandemux/read"
	MethodStop = "x-tandemux/stop"
	// MethodYield asks a host to end and leave everything to the next one: the terminals, their
	// output, who is connected. After the answer the host closes all connections with the status
	// 1012 (service restart), on which clients reconnect without a pause.
	MethodYield       = "x-tandemux/yield"
	MethodHost        = "x-tandemux/host"
	MethodCommand     = "x-tandemux/command"
	MethodCommands    = "x-tandemux/commands"
	MethodWait        = "x-tandemux/wait"
	MethodMark        = "x-tandemux/mark"
	MethodSkim        = "x-tandemux/skim"
	NoteSkimmed       = "x-tandemux/skimmed" // host to client
	MethodRun         = "x-tandemux/run"
	MethodFeed        = "x-tandemux/feed"
	MethodProfile     = "x-tandemux/profile"
	MethodTokenNew    = "x-tandemux/tokenNew"
	MethodTokenList   = "x-tandemux/tokenList"
	MethodTokenRevoke = "x-tandemux/tokenRevoke"
)

// Implementation names a client's or host's program. Behaviour never depends on it.
type Implementation struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Title   string `json:"title,omitempty"`
}

// InitializeParams is the first request of a connection.
type InitializeParams struct {
	Channel              URI             `json:"channel"`
	ProtocolVersions     List[string]    `json:"protocolVersions"`
	ClientID             string          `json:"clientId"`
	ClientInfo           *Implementation `json:"clientInfo,omitempty"`
	InitialSubscriptions []URI           `json:"initialSubscriptions,omitempty"`
	Locale               string          `json:"locale,omitempty"`
	Meta                 *HelloMeta      `json:"_meta,omitempty"`
}

// HelloMeta is tandemux's addition to InitializeParams.
type HelloMeta struct {
	// Agent says that the client is an agent or speaks for one. It then has fewer rights than the
	// person who opened the connection.
	Agent *AgentMeta `json:"tandemux/agent,omitempty"`
	// Session is a session that the client drives outside of the host.
	Session URI `json:"tandemux/session,omitempty"`
}

// AgentMeta describes the agent that a client is or speaks for.
type AgentMeta struct {
	Name string `json:"name"` // shown to people; at most 64 bytes
	// Session is the host's session that the agent works for. If it is empty, the host gives the
	// agent one of its own: InitializeMeta.Session.
	Session URI `json:"session,omitempty"`
	// Identity, at most 64 bytes, identifies the agent across connections: it gets back the
	// terminals that it held, and its counts go on. Without it each client is another agent.
	Identity string `json:"identity,omitempty"`
	Asks     bool   `json:"asks,omitempty"` // what it is not allowed to do, it has the person asked about
	Team     URI    `json:"team,omitempty"` // the terminal beside which its teammates get panes, if the owner allows it
}

// InitializeResult is the answer to initialize.
type InitializeResult struct {
	ProtocolVersion  string          `json:"protocolVersion"`
	ServerSeq        int64           `json:"serverSeq"`
	Snapshots        List[Snapshot]  `json:"snapshots"`
	ServerInfo       *Implementation `json:"serverInfo,omitempty"`
	DefaultDirectory URI             `json:"defaultDirectory,omitempty"`
	Triggers         []string        `json:"completionTriggerCharacters,omitempty"`
	CommandPrefix    string          `json:"terminalCommandPrefix,omitempty"`
	Meta             *InitializeMeta `json:"_meta,omitempty"`
}

// InitializeMeta is tandemux's addition to InitializeResult.
type InitializeMeta struct {
	// Principal is the identity that the host gives this connection, as in TerminalMeta.Principal.
	Principal string `json:"tandemux/principal,omitempty"`
	// Session is the session that an agent's terminals are claimed for.
	Session URI      `json:"tandemux/session,omitempty"`
	Scopes  []string `json:"tandemux/scopes,omitempty"` // what the connection may do
}

// Snapshot is a channel's state as of the action FromSeq. Texts that are in Text are not in State
// (wire.Terminal).
type Snapshot struct {
	Resource URI             `json:"resource"`
	State    json.RawMessage `json:"state"`
	FromSeq  int64           `json:"fromSeq"`
	Meta     struct {
		Texts []int `json:"tandemux/texts,omitempty"` // their lengths, one for each part of the content
	} `json:"_meta,omitzero"` // the length in bytes of each part's text in Text
	Text []byte `json:"-"`
}

// Skimmed is what a terminal's screen shows, for a client that skims its output. After the one with
// Last the host sends all output again.
type Skimmed struct {
	Snapshot
	Last bool `json:"last,omitempty"`
}

// ReconnectParams is the first request of a connection that continues a lost one.
type ReconnectParams struct {
	Channel           URI       `json:"channel"`
	ClientID          string    `json:"clientId"`
	LastSeenServerSeq int64     `json:"lastSeenServerSeq"`
	Subscriptions     List[URI] `json:"subscriptions"`

	Meta *ReconnectMeta `json:"_meta,omitempty"`
}

// ReconnectMeta is tandemux's addition to ReconnectParams.
type ReconnectMeta struct {
	// Continues says that the client goes on with its clientSeq and may repeat unanswered actions
	// under their old numbers, 1 included. Without it a first clientSeq of 1 starts a new
	// numbering.
	Continues bool `json:"tandemux/continues,omitempty"`
	Unquoted  bool `json:"tandemux/unquoted,omitempty"` // from the answer on, as after wire.MethodUnquoted
	Texts     bool `json:"tandemux/texts,omitempty"`    // texts of the answer may be sent beside its JSON: Snapshot.Text
}

// The values of ReconnectResult.Type.
const (
	ReconnectReplay   = "replay"
	ReconnectSnapshot = "snapshot"
)

// ReconnectResult has either a replay (Actions and Missing) or Snapshots.
type ReconnectResult struct {
	Type      string     `json:"type"`
	Actions   []Envelope `json:"actions,omitzero"`
	Missing   []URI      `json:"missing,omitzero"`
	Snapshots []Snapshot `json:"snapshots,omitzero"`
}

// MarshalJSONTo writes the members of r's Type, in the form of the encoder's profile.
func (r ReconnectResult) MarshalJSONTo(e *jsontext.Encoder) error {
	type plain ReconnectResult
	if r.Type == ReconnectSnapshot {
		return jsonv2.MarshalEncode(e, plain{Type: r.Type, Snapshots: nonNil(r.Snapshots)})
	}
	return jsonv2.MarshalEncode(e, plain{Type: r.Type, Actions: nonNil(r.Actions), Missing: nonNil(r.Missing)})
}

// SubscribeParams and UnsubscribeParams name a channel.
type (
	SubscribeParams struct {
		Channel URI `json:"channel"`
	}
	UnsubscribeParams = SubscribeParams
	// SubscribeResult has no snapshot if the channel has no state.
	SubscribeResult struct {
		Snapshot *Snapshot `json:"snapshot,omitempty"`
	}
)

// Origin says which client sent an action that was applied or refused, and its number there.
type Origin struct {
	ClientID  string `json:"clientId"`
	ClientSeq int64  `json:"clientSeq"`
}

// Envelope is the params of the notification action.
type Envelope struct {
	Channel         URI     `json:"channel"`
	Action          Action  `json:"action"`
	ServerSeq       int64   `json:"serverSeq"`
	Origin          *Origin `json:"origin,omitempty"`          // nil for the host's own actions
	RejectionReason string  `json:"rejectionReason,omitempty"` // only of a refused action
}

type plainEnvelope Envelope

// MarshalJSON writes the newest form, for encoding/json.
func (e Envelope) MarshalJSON() ([]byte, error) { return Encode(V1, plainEnvelope(e)) }

// MarshalJSONTo writes the form of the encoder's profile.
func (e Envelope) MarshalJSONTo(to *jsontext.Encoder) error {
	return jsonv2.MarshalEncode(to, plainEnvelope(e))
}

// UnmarshalJSON reads the action by its type.
func (e *Envelope) UnmarshalJSON(b []byte) error {
	*e = Envelope{}
	if err := Unmarshal(b, (*plainEnvelope)(e)); err != nil {
		return err
	}
	return needAction(e.Action)
}

func needAction(a Action) error {
	if a == nil {
		return errors.New("decode action: there is none")
	}
	return nil
}

// DispatchParams is the params of dispatchAction.
type DispatchParams struct {
	Channel   URI    `json:"channel"`
	ClientSeq int64  `json:"clientSeq"`
	Action    Action `json:"action"`
}

type plainDispatch DispatchParams

// MarshalJSON writes the newest form, for encoding/json.
func (d DispatchParams) MarshalJSON() ([]byte, error) { return Encode(V1, plainDispatch(d)) }

// MarshalJSONTo writes the form of the encoder's profile.
func (d DispatchParams) MarshalJSONTo(to *jsontext.Encoder) error {
	return jsonv2.MarshalEncode(to, plainDispatch(d))
}

// UnmarshalJSON reads the action by its type.
func (d *DispatchParams) UnmarshalJSON(b []byte) error {
	*d = DispatchParams{}
	if err := Unmarshal(b, (*plainDispatch)(d)); err != nil {
		return err
	}
	return needAction(d.Action)
}

// CreateTerminalParams creates the terminal Channel, whose URI the client chooses (R26).
type CreateTerminalParams struct {
	Channel URI         `json:"channel"`
	Claim   Claim       `json:"claim"`
	Name    string      `json:"name,omitempty"`
	Cwd     URI         `json:"cwd,omitempty"`
	Cols    int         `json:"cols,omitempty"` // 0 means 80
	Rows    int         `json:"rows,omitempty"` // 0 means 24
	Meta    *CreateMeta `json:"_meta,omitempty"`
}

// CreateMeta is tandemux's addition to CreateTerminalParams.
type CreateMeta struct {
	// Name is the terminal's exact name: if another terminal has it, the error is AlreadyExists.
	// CreateTerminalParams.Name, in contrast, gets a number appended if it is taken.
	Name    string            `json:"tandemux/name,omitempty"`
	Command []string          `json:"tandemux/command,omitempty"` // argv; empty means the shell
	Env     map[string]string `json:"tandemux/env,omitempty"`
	Shell   string            `json:"tandemux/shell,omitempty"` // absolute path; empty means $SHELL
	// CwdOf names a terminal: the new one starts in the directory of its program. Cwd is used if
	// that is unknown, and the user's home directory if neither exists.
	CwdOf URI `json:"tandemux/cwdOf,omitempty"`
	// ShellIntegration false starts a shell without marks around its commands; if absent, the
	// host's configuration decides. A Command that is an interactive shell then counts as one
	// command, else as a shell.
	ShellIntegration *bool `json:"tandemux/shellIntegration,omitempty"`
	// AwaitHolder holds the output back until the claim's client subscribes, so that it sees all of
	// it, or until that client's connection ends.
	AwaitHolder bool `json:"tandemux/awaitHolder,omitempty"`
	// Scrollback is how many lines above the screen are kept, 0 to MaxScrollback. If absent, the
	// host's configuration decides.
	Scrollback *int `json:"tandemux/scrollback,omitempty"`
	Fit        bool `json:"tandemux/fit,omitempty"` // see TerminalMeta.Fit
	// Stdin makes Command's standard input a pipe, to which this connection writes with
	// x-tandemux/feed.
	Stdin bool `json:"tandemux/stdin,omitempty"`
	// Before is text that the terminal shows first, at most MaxBefore bytes. Control characters
	// other than \n and \t are dropped. Only connections that may operate the host may set it.
	Before string `json:"tandemux/before,omitempty"`
}

// MaxScrollback bounds CreateMeta.Scrollback, in lines.
const MaxScrollback = 1_000_000

// MaxBefore bounds CreateMeta.Before, in bytes.
const MaxBefore = 1 << 20

// DisposeTerminalParams kills and removes a terminal (R28).
type DisposeTerminalParams struct {
	Channel URI `json:"channel"`
}

// The values of ReadParams.What.
const (
	ReadScreen  = "screen"  // the visible screen as text
	ReadHistory = "history" // scrollback and screen as text
	ReadRaw     = "raw"     // the retained VT stream
)

// ReadParams asks for a terminal's text without subscribing (x-tandemux/read).
type ReadParams struct {
	Channel URI    `json:"channel"`
	What    string `json:"what"`
}

// ReadResult is the answer to x-tandemux/read. Text of screen and history has one "\n" after each
// line and no trailing blanks.
type ReadResult struct {
	Text    string `json:"text"`
	Cols    int    `json:"cols"`
	Rows    int    `json:"rows"`
	CursorX int    `json:"cursorX"` // 0-based
	CursorY int    `json:"cursorY"` // 0-based
	End     int64  `json:"end"`     // bytes of output so far, including those no longer kept
	// Colors are those of the screen that the terminal was last shown on, as its client told
	// (x-tandemux/colors); absent if unknown.
	Colors *ReadColors `json:"colors,omitempty"`
}

// ReadColors are colours in the form of ColorsParams.
type ReadColors struct {
	FG      string   `json:"fg"`
	BG      string   `json:"bg"`
	Cursor  string   `json:"cursor"`
	Palette []string `json:"palette"`
}

// HostResult is the answer to x-tandemux/host.
type HostResult struct {
	Version   string   `json:"version"`
	Pid       int      `json:"pid"`
	KeeperPid int      `json:"keeperPid"`
	Listen    []string `json:"listen"` // TCP addresses
	URLs      []string `json:"urls"`   // of the same addresses, ws://… or wss://…
	// Fingerprint is "sha256:" and the hex digits of the hash of the wss:// addresses' certificate,
	// for clients to pin; empty if there is none.
	Fingerprint string `json:"fingerprint,omitempty"`
	Principal   string `json:"principal"` // the identity of the asking connection
	// Warning says what the host's owner has to see to; empty if nothing.
	Warning string `json:"warning,omitempty"`
	// Losing says what would be lost if the host ended now and another one took over; empty if
	// nothing.
	Losing    string `json:"losing,omitempty"`
	Started   int64  `json:"started"` // Unix ms
	Clients   int    `json:"clients"`
	Terminals int    `json:"terminals"`
	Waits     int    `json:"waits"` // pending x-tandemux/wait and x-tandemux/run of all connections
	// Orphans are running programs whose keeper and host are gone. They have no terminal.
	Orphans []Orphan `json:"orphans,omitempty"`
}

// Orphan is a program without a terminal.
type Orphan struct {
	Terminal URI    `json:"terminal"` // the terminal that it had
	Pid      int    `json:"pid"`
	Name     string `json:"name"`
}

const ProfileCPU, ProfileHeap = "cpu", "heap"

// ProfileParams asks for a profile of the host's process (x-tandemux/profile). Only its owner may.
type ProfileParams struct {
	Channel URI    `json:"channel"`
	Kind    string `json:"kind"`              // ProfileCPU or ProfileHeap
	Seconds int    `json:"seconds,omitempty"` // length of a CPU profile, 0 to 60
}

// ProfileResult is the answer to x-tandemux/profile. Profile is in pprof's gzipped format.
type ProfileResult struct {
	Profile []byte `json:"profile"`
}

// TokenNewParams makes an access token for TCP clients (x-tandemux/tokenNew).
type TokenNewParams struct {
	Channel  URI      `json:"channel"`
	Name     string   `json:"name"`
	Scopes   []string `json:"scopes,omitempty"`   // empty means all that the connection may give
	Terminal URI      `json:"terminal,omitempty"` // binds the token to this existing terminal
	Expires  int64    `json:"expires,omitempty"`  // Unix ms; 0 means never
	Share    bool     `json:"share,omitempty"`    // the token is for a guest: it needs Terminal and Expires
}

// TokenNewResult is the answer. The secret Token is never shown again.
type TokenNewResult struct {
	ID       string   `json:"id"`
	Token    string   `json:"token"`
	Scopes   []string `json:"scopes"`
	Terminal URI      `json:"terminal,omitempty"`
	Expires  int64    `json:"expires,omitempty"` // Unix ms
}

// TokenInfo is a row of TokenListResult.
type TokenInfo struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Scopes   []string `json:"scopes"`
	Terminal URI      `json:"terminal,omitempty"` // the only terminal that the token gives access to
	Created  int64    `json:"created"`            // Unix ms
	Expires  int64    `json:"expires,omitempty"`  // Unix ms
	LastUsed int64    `json:"lastUsed,omitempty"` // Unix ms
	Share    bool     `json:"share,omitempty"`    // the token is a guest's
}

// TokenListResult is the answer to x-tandemux/tokenList.
type TokenListResult struct {
	Items List[TokenInfo] `json:"items"`
}

// TokenRevokeParams revokes a token, or all guests' tokens of a terminal, and closes their
// connections.
type TokenRevokeParams struct {
	Channel URI    `json:"channel"`
	ID      string `json:"id,omitempty"`
	Shares  URI    `json:"shares,omitempty"` // a terminal, instead of ID
}
