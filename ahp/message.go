package ahp

import (
	"encoding/json"
	"errors"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Method names of commands and notifications.
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
	// MethodYield asks a host to end and leave everything to the next one: terminals, their
	// output, who is connected. The answer comes first; then connections are closed with the
	// status 1012 (service restart): clients try again without a pause.
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

// Implementation names a client or host; behaviour never depends on it.
type Implementation struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Title   string `json:"title,omitempty"`
}

// InitializeParams opens a connection.
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
	// Agent says that the client is an agent, or speaks for one: it is then less
	// than whoever opened the connection.
	Agent *AgentMeta `json:"tandemux/agent,omitempty"`
	// Session is one that the client drives outside of the host.
	Session URI `json:"tandemux/session,omitempty"`
}

// AgentMeta says which agent.
type AgentMeta struct {
	Name string `json:"name"` // for people; at most 64 bytes
	// Session that it works for, if it is one of the host's; otherwise it gets
	// one of its own, InitializeMeta.Session.
	Session URI `json:"session,omitempty"`
	// Identity, at most 64 bytes, is who it is across connections: what it held, and
	// was counted, is its again. Without one each client is another agent.
	Identity string `json:"identity,omitempty"`
	Asks     bool   `json:"asks,omitempty"` // it has the person asked what is refused it
	Team     URI    `json:"team,omitempty"` // the terminal beside which its teammates get panes, if the owner allows it
}

// InitializeResult answers it.
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

// InitializeMeta is tandemux's addition to the answer.
type InitializeMeta struct {
	// Principal is who the host takes this connection for, as in
	// TerminalMeta.Principal: what it holds is the client's own.
	Principal string `json:"tandemux/principal,omitempty"`
	// Session is what an agent's terminals are claimed for.
	Session URI      `json:"tandemux/session,omitempty"`
	Scopes  []string `json:"tandemux/scopes,omitempty"` // what it may do
}

// Snapshot is a channel's state as of FromSeq, without the texts that lie in Text (wire.Terminal).
type Snapshot struct {
	Resource URI             `json:"resource"`
	State    json.RawMessage `json:"state"`
	FromSeq  int64           `json:"fromSeq"`
	Meta     struct {
		Texts []int `json:"tandemux/texts,omitempty"` // their lengths, one for each part of the content
	} `json:"_meta,omitzero"`
	Text []byte `json:"-"`
}

// Skimmed is what a terminal's screen shows, for who skims its output. After the Last one
// all output is told again.
type Skimmed struct {
	Snapshot
	Last bool `json:"last,omitempty"`
}

// ReconnectParams resumes after a lost connection, instead of initialize.
type ReconnectParams struct {
	Channel           URI       `json:"channel"`
	ClientID          string    `json:"clientId"`
	LastSeenServerSeq int64     `json:"lastSeenServerSeq"`
	Subscriptions     List[URI] `json:"subscriptions"`

	Meta *ReconnectMeta `json:"_meta,omitempty"`
}

// ReconnectMeta is tandemux's addition to ReconnectParams.
type ReconnectMeta struct {
	// Continues says that the client goes on with its clientSeq, and may send what has no answer
	// again under its old one, 1 included. Without it a first clientSeq of 1 numbers anew.
	Continues bool `json:"tandemux/continues,omitempty"`
	Unquoted  bool `json:"tandemux/unquoted,omitempty"` // as wire.MethodUnquoted, from the answer on
	Texts     bool `json:"tandemux/texts,omitempty"`    // the answer's may lie beside its JSON: Snapshot.Text
}

// The values of ReconnectResult.Type.
const (
	ReconnectReplay   = "replay"
	ReconnectSnapshot = "snapshot"
)

// ReconnectResult is either a replay (Actions, Missing) or Snapshots.
type ReconnectResult struct {
	Type      string     `json:"type"`
	Actions   []Envelope `json:"actions,omitzero"`
	Missing   []URI      `json:"missing,omitzero"`
	Snapshots []Snapshot `json:"snapshots,omitzero"`
}

// MarshalJSONTo writes what the type has, for the profile that is encoded for.
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
	// SubscribeResult has no snapshot for stateless channels.
	SubscribeResult struct {
		Snapshot *Snapshot `json:"snapshot,omitempty"`
	}
)

// Origin names the client and dispatch that an accepted or refused action came
// from.
type Origin struct {
	ClientID  string `json:"clientId"`
	ClientSeq int64  `json:"clientSeq"`
}

// Envelope is the params of an action notification.
type Envelope struct {
	Channel         URI     `json:"channel"`
	Action          Action  `json:"action"`
	ServerSeq       int64   `json:"serverSeq"`
	Origin          *Origin `json:"origin,omitempty"`          // nil for the host's own actions
	RejectionReason string  `json:"rejectionReason,omitempty"` // not empty on a refusal only
}

type plainEnvelope Envelope

// MarshalJSON writes the newest form, for encoding/json.
func (e Envelope) MarshalJSON() ([]byte, error) { return Encode(V1, plainEnvelope(e)) }

// MarshalJSONTo writes the form of the profile that is encoded for.
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

// MarshalJSONTo writes the form of the profile that is encoded for.
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

// CreateTerminalParams creates the terminal Channel, chosen by the client
// (R26).
type CreateTerminalParams struct {
	Channel URI         `json:"channel"`
	Claim   Claim       `json:"claim"`
	Name    string      `json:"name,omitempty"`
	Cwd     URI         `json:"cwd,omitempty"`
	Cols    int         `json:"cols,omitempty"` // 0 means 80
	Rows    int         `json:"rows,omitempty"` // 0 means 24
	Meta    *CreateMeta `json:"_meta,omitempty"`
}

// CreateMeta is tandemux's addition to createTerminal: something other than the
// user's shell.
type CreateMeta struct {
	// Name is to be the terminal's name as it is: AlreadyExists if another has it.
	// The protocol's own name may be any: a number is put behind one that is taken.
	Name    string            `json:"tandemux/name,omitempty"`
	Command []string          `json:"tandemux/command,omitempty"` // argv; empty means the shell
	Env     map[string]string `json:"tandemux/env,omitempty"`
	Shell   string            `json:"tandemux/shell,omitempty"` // absolute path; empty means $SHELL
	// CwdOf names a terminal in whose program's directory it starts; Cwd is for when that
	// can't be told; a shell starts at home where neither is there.
	CwdOf URI `json:"tandemux/cwdOf,omitempty"`
	// ShellIntegration false starts a shell as it is, without marks of its
	// commands; absent means as the host is configured. A Command that is an
	// interactive shell is then one command, else it is a shell as without Command.
	ShellIntegration *bool `json:"tandemux/shellIntegration,omitempty"`
	// AwaitHolder keeps the output until the client of the claim subscribes, or
	// its connection ends, so that it sees all of it.
	AwaitHolder bool `json:"tandemux/awaitHolder,omitempty"`
	// Scrollback is how many lines it keeps that have scrolled off, 0 to
	// MaxScrollback; absent means as the host is configured.
	Scrollback *int `json:"tandemux/scrollback,omitempty"`
	Fit        bool `json:"tandemux/fit,omitempty"` // as TerminalMeta has it
	// Stdin gives Command a pipe as standard input, which this connection fills
	// with x-tandemux/feed.
	Stdin bool `json:"tandemux/stdin,omitempty"`
	// Before is text that the terminal shows before anything else, at most
	// MaxBefore bytes, of which control characters but \n and \t are dropped. It
	// is for whoever operates the host.
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

// ReadResult answers it. Text has one "\n" after each line for screen and
// history, trailing blanks cut.
type ReadResult struct {
	Text    string `json:"text"`
	Cols    int    `json:"cols"`
	Rows    int    `json:"rows"`
	CursorX int    `json:"cursorX"` // 0-based
	CursorY int    `json:"cursorY"` // 0-based
	End     int64  `json:"end"`     // bytes of output so far, those that are not kept counted
	// Colors are those that the terminal was last seen in, as far as its client has
	// told (x-tandemux/colors); absent when nothing is known.
	Colors *ReadColors `json:"colors,omitempty"`
}

// ReadColors are colours as ColorsParams has them.
type ReadColors struct {
	FG      string   `json:"fg"`
	BG      string   `json:"bg"`
	Cursor  string   `json:"cursor"`
	Palette []string `json:"palette"`
}

// HostResult answers x-tandemux/host.
type HostResult struct {
	Version   string   `json:"version"`
	Pid       int      `json:"pid"`
	KeeperPid int      `json:"keeperPid"`
	Listen    []string `json:"listen"` // TCP addresses
	URLs      []string `json:"urls"`   // of the same, ws://… or wss://…
	// Fingerprint is that of the certificate on wss:// addresses, "sha256:" and
	// hex digits, for clients to pin; empty when none is encrypted.
	Fingerprint string `json:"fingerprint,omitempty"`
	Principal   string `json:"principal"` // who the asking connection is
	// Warning says what its owner has to see to; empty when all is well.
	Warning string `json:"warning,omitempty"`
	// Losing says what would be lost if the host ended now and another one took
	// over; empty when nothing.
	Losing    string `json:"losing,omitempty"`
	Started   int64  `json:"started"`
	Clients   int    `json:"clients"`
	Terminals int    `json:"terminals"`
	Waits     int    `json:"waits"` // x-tandemux/wait and run, of all connections
	// Orphans are programs that still run although the keeper that started them and
	// the host that showed them are gone; they have no terminal.
	Orphans []Orphan `json:"orphans,omitempty"`
}

// Orphan is a program without a terminal.
type Orphan struct {
	Terminal URI    `json:"terminal"` // that it had
	Pid      int    `json:"pid"`
	Name     string `json:"name"`
}

const ProfileCPU, ProfileHeap = "cpu", "heap"

// ProfileParams asks for a profile of the host's process; its owner alone may.
type ProfileParams struct {
	Channel URI    `json:"channel"`
	Kind    string `json:"kind"`              // ProfileCPU or ProfileHeap
	Seconds int    `json:"seconds,omitempty"` // of a CPU profile, 0 to 60
}

// ProfileResult answers x-tandemux/profile. Profile is in pprof's format, gzipped,
// and in base64 on the wire.
type ProfileResult struct {
	Profile []byte `json:"profile"`
}

// TokenNewParams makes an access token for TCP clients.
type TokenNewParams struct {
	Channel  URI      `json:"channel"`
	Name     string   `json:"name"`
	Scopes   []string `json:"scopes,omitempty"`   // empty means all that fit
	Terminal URI      `json:"terminal,omitempty"` // the existing one that it is bound to, if any
	Expires  int64    `json:"expires,omitempty"`  // when it ends, in Unix ms; 0 for never
	Share    bool     `json:"share,omitempty"`    // it is a guest's: it has a terminal, and ends
}

// TokenNewResult holds the secret, shown this once.
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
	Terminal URI      `json:"terminal,omitempty"` // the only one it reaches
	Created  int64    `json:"created"`            // Unix ms
	Expires  int64    `json:"expires,omitempty"`  // Unix ms
	LastUsed int64    `json:"lastUsed,omitempty"` // Unix ms
	Share    bool     `json:"share,omitempty"`    // it is a guest's
}

// TokenListResult answers x-tandemux/tokenList.
type TokenListResult struct {
	Items List[TokenInfo] `json:"items"`
}

// TokenRevokeParams ends a token, or all guests' of a terminal, at once, with its sockets.
type TokenRevokeParams struct {
	Channel URI    `json:"channel"`
	ID      string `json:"id,omitempty"`
	Shares  URI    `json:"shares,omitempty"` // in place of ID: the terminal
}
