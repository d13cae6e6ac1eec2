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

// Options is what Sessions needs of the host.
type Options struct {
	Core   *core.Core
	Log    *slog.Logger
	Now    func() time.Time
	Audit  *audit.Log
	Limits Limits
	// Home is the directory of sessions that name none.
	Home string
	// Providers open agents' sessions; the first is the default. They are guarded by the lock.
	Providers []agent.Provider
	// Agent, if not nil, makes a provider that Providers lacks.
	Agent func(id string, command []string) (agent.Provider, error)
	// Directory returns the path of a directory that a client names by its URI.
	Directory func(uri ahp.URI) (string, error)
	// Reserved reports whether a URI belongs to a terminal that is being created.
	Reserved func(tx core.Tx, uri ahp.URI) bool
	// Confine makes a session's sandbox. Confines returns why a principal may not name one, or "".
	Confine  func(session ahp.URI, sandbox string) Sandbox
	Confines func(p *auth.Principal) (refusal string)

	Terminals   Terminals
	Annotations *annotations.Annotations
	// Credentials has the tokens that agents are started with.
	Credentials *credential.Store
}

// Limits bounds sessions: the number that exist at once, and the bytes that an agent says in a turn.
// AgentStart is how long an agent may take to be ready, AgentGrace to end what it was told to end,
// AgentSilence how long it may say nothing while no tool call runs. ToolTime is how long a client may
// take for a tool call, ClientGrace how long an active client may be disconnected.
type Limits struct {
	Sessions, TurnBytes                                         int
	AgentStart, AgentGrace, AgentSilence, ToolTime, ClientGrace time.Duration
}

// Terminals is what sessions need of the host's terminals.
type Terminals interface {
	// Supply adds the terminals, files and servers of a chat to its agent's spec.
	Supply(tx core.Tx, c *Chat, spec *agent.Spec)
	// CallEnded is called when a tool call has ended; without a call, when a turn has, and without a
	// turn, when all of a chat's have.
	CallEnded(tx core.Tx, c *Chat, turn, call string)
	// ChatEnded and SessionEnded end the terminals that are still held.
	ChatEnded(tx core.Tx, c *Chat)
	SessionEnded(tx core.Tx, session ahp.URI)
	// State returns a terminal's state, or false if there is none.
	State(tx core.Tx, uri ahp.URI) (ahp.TerminalState, bool)
	// MayRun returns why p may not run a command line in a session of owner's, or "".
	MayRun(p *auth.Principal, session ahp.URI, owner string) (refusal string)
	// Run starts a person's command line for a tool call.
	Run(ctx context.Context, c *Chat, dir, turn, call, line string) (agent.Terminal, error)
	// Allowed is called when a person has allowed a tool call.
	Allowed(c *Chat, call string, t agent.ToolCall)
	// Bind adds the turn and tool call to a terminal's claim.
	Bind(tx core.Tx, c *Chat, uri ahp.URI, turn, call string)
	// HeldFor returns the terminals that are held for a tool call.
	HeldFor(tx core.Tx, c *Chat, call string) []ahp.URI
}

// Sandbox is what a session is confined in.
type Sandbox interface {
	agent.Confinement
	// Ready returns why nothing can be started in it, or nil. It may take a while, and is called
	// without the lock.
	Ready() error
	// Open lets programs in the sandbox reach the host, until Close.
	Open(tx core.Tx)
	Close(tx core.Tx)
}

// Sessions has the host's sessions and agents. Mutable parts are guarded by the lock.
type Sessions struct {
	Options
	list   []*session
	ctx    context.Context // ends with the host; immutable
	cancel context.CancelFunc
	// work has the goroutines that do work for agents.
	work sync.WaitGroup
	// options are the options that a provider's agents offered last, by provider.
	options map[string][]ahp.AgentOption
}

// New returns the Sessions of a host, with none yet.
func New(o Options) *Sessions {
	ss := &Sessions{Options: o, options: map[string][]ahp.AgentOption{}}
	ss.ctx, ss.cancel = context.WithCancel(context.Background())
	return ss
}

// Wait waits, after Stop, for everything that is done for agents.
func (ss *Sessions) Wait() { ss.work.Wait() }

// Stop ends what agents do. It is called when the core is closing. Call Wait afterwards, without the
// lock.
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

// closeAgent closes an agent's session in a goroutine, which gives up after a while.
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

// Provider returns the provider with the id; "" means the first that clients see.
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

// refreshAgents tells the root's subscribers what is known about the agents.
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

// MaxAgents bounds the number of a host's agents.
const MaxAgents = 100

// AddProvider adds a provider after those of the configuration, of which the first is the default.
func (ss *Sessions) AddProvider(tx core.Tx, p agent.Provider) error {
	if len(ss.Providers) >= MaxAgents {
		return ahp.Conflict("find agent: there are %d agents already", MaxAgents)
	}
	ss.Providers = append(slices.Clip(ss.Providers), p)
	ss.refreshAgents(tx)
	return nil
}

// SetProviders replaces the providers had, which the configuration had before, by list. Those of
// AddProvider stay after them.
func (ss *Sessions) SetProviders(tx core.Tx, had, list []agent.Provider) {
	added := slices.DeleteFunc(slices.Clone(ss.Providers), func(p agent.Provider) bool {
		id := p.Info().ID
		return slices.Contains(had, p) || slices.ContainsFunc(list, func(q agent.Provider) bool { return q.Info().ID == id })
	})
	ss.Providers = slices.Concat(list, added)
	ss.refreshAgents(tx)
}

// SessionOwner returns the principal that made a session, or "".
func (ss *Sessions) SessionOwner(tx core.Tx, uri ahp.URI) string {
	if s, ok := core.At[*session](tx, uri); ok {
		return s.facts.Owner
	}
	return ""
}

// Announce announces what has changed in a session's summary.
func (ss *Sessions) Announce(tx core.Tx, uri ahp.URI) {
	if s, ok := core.At[*session](tx, uri); ok {
		s.announce(tx)
	}
}

// Reviewed returns the marks of the last Review of a session.
func (ss *Sessions) Reviewed(tx core.Tx, uri ahp.URI) map[string]string {
	if s, ok := core.At[*session](tx, uri); ok {
		return s.facts.Reviewed
	}
	return nil
}

// Review stores which changed files of a session were reviewed.
func (ss *Sessions) Review(tx core.Tx, uri ahp.URI, marks map[string]string) {
	if s, ok := core.At[*session](tx, uri); ok {
		s.facts.Reviewed, s.dirty = marks, true
		tx.ApplyAll(s.ch, nil, nil)
	}
}

// Confined returns the sandbox of a session, nil for most, and its directories.
func (ss *Sessions) Confined(tx core.Tx, uri ahp.URI) (b Sandbox, roots []string) {
	s, ok := core.At[*session](tx, uri)
	if !ok {
		return nil, nil
	}
	return s.sandbox, s.facts.Roots
}

// Sandboxes returns the sandboxes of all sessions.
func (ss *Sessions) Sandboxes(tx core.Tx) (all []Sandbox) {
	for _, s := range ss.list {
		if s.sandbox != nil {
			all = append(all, s.sandbox)
		}
	}
	return all
}

// newID returns an id that no other host makes either.
func newID(kind string) string { return kind + "-" + strings.ToLower(rand.Text()) }

// Bounds of what agents and clients say in sessions, in bytes or numbers.
const (
	maxMessage       = 1 << 20 // bytes of a client's action, or a message
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
	maxChats         = 50 // chats of a session
	maxRoots         = 16
	maxPage          = 200 // sessions in one answer
)
