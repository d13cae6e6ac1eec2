package sessions

import (
	"context"
	"crypto/rand"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/words"
	"tandemux/host/annotations"
	"tandemux/host/audit"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/credential"
	"tandemux/host/params"
)

// Options are what Sessions need of the host.
type Options struct {
	Core   *core.Core
	Log    *slog.Logger
	Now    func() time.Time
	Audit  *audit.Log
	Limits Limits
	// Home is the directory of sessions that name none.
	Home string
	// Providers open the agents' side of sessions; the first is the default. Guarded by
	// the lock.
	Providers []agent.Provider
	// Agent, if not nil, finds a provider that there isn't.
	Agent func(id string, command []string) (agent.Provider, error)
	// Directory is the path of a directory that a client names.
	Directory func(uri ahp.URI) (string, error)
	// Reserved reports whether a URI is being given to a terminal.
	Reserved func(tx core.Tx, uri ahp.URI) bool
	// Confine makes a session's sandbox, Confines says why a principal may not name one.
	Confine  func(session ahp.URI, sandbox string) Sandbox
	Confines func(p *auth.Principal) (refusal string)

	Terminals   Terminals
	Annotations *annotations.Annotations
	// Credentials are what agents are started with.
	Credentials *credential.Store
}

// Limits bounds sessions. Sessions is how many exist at once, TurnBytes how much an agent
// says in one turn. AgentStart is how long an agent may take to be ready, AgentGrace to end
// what it was told to, AgentSilence to say something while no tool call runs; ToolTime how
// long a client may take over a tool call, ClientGrace how long it may be away before it
// takes part no more.
type Limits struct {
	Sessions, TurnBytes                                         int
	AgentStart, AgentGrace, AgentSilence, ToolTime, ClientGrace time.Duration
}

// Terminals are the host's, as far as sessions hold them.
type Terminals interface {
	// Supply gives an agent the terminals, files and servers of its chat.
	Supply(tx core.Tx, c *Chat, spec *agent.Spec)
	// CallEnded says that a tool call has ended, with call "" a turn, with turn "" all of
	// a chat's.
	CallEnded(tx core.Tx, c *Chat, turn, call string)
	// ChatEnded and SessionEnded end the terminals that it still holds.
	ChatEnded(tx core.Tx, c *Chat)
	SessionEnded(tx core.Tx, session ahp.URI)
	// State is a terminal's; false when there is none.
	State(tx core.Tx, uri ahp.URI) (ahp.TerminalState, bool)
	// MayRun says why a principal may not have a command line run in a session of an owner.
	MayRun(p *auth.Principal, session ahp.URI, owner string) (refusal string)
	// Run starts a command line of a person's for a tool call.
	Run(ctx context.Context, c *Chat, dir, turn, call, line string) (agent.Terminal, error)
	// Allowed says that a person has allowed a call of a tool.
	Allowed(c *Chat, call string, t agent.ToolCall)
	// Bind completes a terminal's claim with the tool call that it is for.
	Bind(tx core.Tx, c *Chat, uri ahp.URI, turn, call string)
	// HeldFor are those that are held for a tool call.
	HeldFor(tx core.Tx, c *Chat, call string) []ahp.URI
}

// Sandbox is what a session is shut in with.
type Sandbox interface {
	agent.Confinement
	// Ready says why nothing can be started in it; nil if it can. It may take a while, and
	// is called without the lock.
	Ready() error
	// Open lets who is inside reach the host, until Close.
	Open(tx core.Tx)
	Close(tx core.Tx)
}

// Sessions are the sessions and the agents that the host has. They are guarded by the
// lock but for what is immutable.
type Sessions struct {
	Options
	list   []*session
	ctx    context.Context // ends with the host; immutable
	cancel context.CancelFunc
	// work is all that is done for agents beside the sequencer.
	work sync.WaitGroup
	// options are what the agents of a provider offered last, by provider.
	options map[string][]ahp.AgentOption
}

// New makes the sessions of a host that has none. Nothing runs yet.
func New(o Options) *Sessions {
	ss := &Sessions{Options: o, options: map[string][]ahp.AgentOption{}}
	ss.ctx, ss.cancel = context.WithCancel(context.Background())
	return ss
}

// Wait waits for all that is done for agents. Stop comes before.
func (ss *Sessions) Wait() { ss.work.Wait() }

// Stop ends what agents do. The core is closing by then; Wait follows, without the lock.
func (ss *Sessions) Stop(tx core.Tx) {
	ss.cancel()
	ss.Credentials.Close()
	for _, s := range ss.list {
		for _, timer := range s.absent {
			timer.Stop()
		}
		for _, c := range s.chats {
			if r := c.now; r != nil {
				r.stopWatch()
			}
			c.forsake(tx)
		}
	}
}

// closeAgent ends an agent's session beside the sequencer, and gives up when that
// takes too long.
func (ss *Sessions) closeAgent(tx core.Tx, a agent.Session) {
	ss.work.Go(func() {
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			if err := agent.Guarded(a.Close); err != nil {
				ss.Log.Warn("close an agent's session", "err", err)
			}
		}()
		select {
		case <-closed:
		case <-time.After(ss.Limits.AgentGrace):
			ss.Log.Error("an agent's session did not close in time")
		}
	})
}

// Provider finds one; "" is the first that clients are told of.
func (ss *Sessions) Provider(tx core.Tx, id string) (agent.Provider, error) {
	i := slices.IndexFunc(ss.Providers, func(p agent.Provider) bool {
		info := p.Info()
		return info.ID == id || id == "" && !info.Inner
	})
	switch {
	case i < 0 && id == "":
		return nil, ahp.Errorf(ahp.CodeProviderNotFound, "this host has no agent: `tandemux agent ls` says which there are, and how to install them")
	case i < 0:
		return nil, ahp.Errorf(ahp.CodeProviderNotFound, "this host has no agent %q: `tandemux agent ls` lists those that it has", params.Clip(id))
	}
	return ss.Providers[i], nil
}

// refreshAgents tells the root's subscribers what is known of the agents.
func (ss *Sessions) refreshAgents(tx core.Tx) {
	list := make([]ahp.AgentInfo, 0, len(ss.Providers))
	for _, p := range ss.Providers {
		if info := p.Info(); !info.Inner {
			list = append(list, words.Agent(info))
		}
	}
	root := tx.Channel(ahp.RootURI)
	had := root.Body.State(tx).(ahp.RootState).Agents
	if !reflect.DeepEqual(list, had) && len(list)+len(had) > 0 {
		tx.Apply(root, ahp.RootAgentsChanged{Agents: list}, nil)
	}
}

// MaxAgents bounds the agents that a host has.
const MaxAgents = 100

// AddProvider takes a provider, behind those that were configured: the first is the
// default.
func (ss *Sessions) AddProvider(tx core.Tx, p agent.Provider) error {
	if len(ss.Providers) >= MaxAgents {
		return ahp.Conflict("find agent: there are %d agents already", MaxAgents)
	}
	ss.Providers = append(slices.Clip(ss.Providers), p)
	ss.refreshAgents(tx)
	return nil
}

// SetProviders takes those of the configuration in place of had, which were before; those
// that came by AddProvider stay behind them.
func (ss *Sessions) SetProviders(tx core.Tx, had, list []agent.Provider) {
	added := slices.DeleteFunc(slices.Clone(ss.Providers), func(p agent.Provider) bool {
		id := p.Info().ID
		return slices.Contains(had, p) || slices.ContainsFunc(list, func(q agent.Provider) bool { return q.Info().ID == id })
	})
	ss.Providers = slices.Concat(list, added)
	ss.refreshAgents(tx)
}

// SessionOwner is the principal that made a session; empty when there is none.
func (ss *Sessions) SessionOwner(tx core.Tx, uri ahp.URI) string {
	if s, ok := core.At[*session](tx, uri); ok {
		return s.facts.Owner
	}
	return ""
}

// Announce tells what of a session's summary has changed.
func (ss *Sessions) Announce(tx core.Tx, uri ahp.URI) {
	if s, ok := core.At[*session](tx, uri); ok {
		s.announce(tx)
	}
}

// Reviewed gives what Review was given of a session last.
func (ss *Sessions) Reviewed(tx core.Tx, uri ahp.URI) map[string]string {
	if s, ok := core.At[*session](tx, uri); ok {
		return s.facts.Reviewed
	}
	return nil
}

// Review keeps with a session which changed files were reviewed.
func (ss *Sessions) Review(tx core.Tx, uri ahp.URI, marks map[string]string) {
	if s, ok := core.At[*session](tx, uri); ok {
		s.facts.Reviewed, s.dirty = marks, true
		tx.ApplyAll(s.ch, nil, nil)
	}
}

// Confined gives the sandbox of a session and its directories; nil for most.
func (ss *Sessions) Confined(tx core.Tx, uri ahp.URI) (b Sandbox, roots []string) {
	s, ok := core.At[*session](tx, uri)
	if !ok {
		return nil, nil
	}
	return s.sandbox, s.facts.Roots
}

// Sandboxes are those of all sessions.
func (ss *Sessions) Sandboxes(tx core.Tx) (all []Sandbox) {
	for _, s := range ss.list {
		if s.sandbox != nil {
			all = append(all, s.sandbox)
		}
	}
	return all
}

// newID makes an id that is unique in this host and any other.
func newID(kind string) string { return kind + "-" + strings.ToLower(rand.Text()) }

// Bounds of what agents and clients say in sessions; sizes in bytes.
const (
	maxMessage       = 1 << 20 // an action of a client, or a message
	maxSessionMeta   = 64 << 10
	maxTurnParts     = 5000
	maxPlan          = 100
	maxOptions       = 32
	maxCommands      = 200
	maxQueued        = 100
	maxAttachments   = 64
	maxOpenAsks      = 16
	maxClientTools   = 200
	maxActiveClients = 32
	maxChats         = 50 // of a session
	maxRoots         = 16
	maxPage          = 200 // sessions in one answer
)
