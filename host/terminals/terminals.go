package terminals

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/guest"
	"tandemux/emulator"
	"tandemux/host/activity"
	"tandemux/host/agent"
	"tandemux/host/audit"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/guard"
	"tandemux/host/journal"
	"tandemux/host/keeper"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/host/roster"
)

// Options are what Terminals need of the host. Functions without a Tx may be called from any
// goroutine.
type Options struct {
	Core     *core.Core
	Log      *slog.Logger
	Now      func() time.Time
	Audit    *audit.Log
	Activity *activity.Activity
	Journals *journal.Shelf
	// Children is the connection to the keeper. NewKeeper, if not nil, makes another one when
	// it has ended.
	Children  *keeper.Client
	NewKeeper func(context.Context) (*keeper.Client, error)
	// Runtime and State are the host's directories, Home the user's.
	Runtime, State, Home, Hostname, Version string
	// Start is what the next new terminal is started with.
	Start func() Start
	// Scrollback is how many lines of history terminals keep by default.
	Scrollback  int
	AgentLimits func() guard.Limits
	// Belt judges commands of agents.
	Belt   *guard.Belt
	Limits Limits
	Host   Host
}

// Host is the parts of the host that terminals ask.
type Host interface {
	// Layouts is the layouts that show terminals, by terminal.
	Layouts(tx core.Tx) (shownIn map[ahp.URI][]ahp.URI, counts *ahp.RootMeta)
	// TokenName is the name that its owner gave a token. Shares are those of a terminal's guests.
	TokenName(id string) string
	Shares(ch *core.Channel, process string) []guest.Share
	// FollowWork is called when a terminal that may be a chat's background work changes.
	FollowWork(tx core.Tx, state ahp.TerminalState, w ahp.BackgroundWork)
	// SessionOwner is the principal of a session, empty for one that the host doesn't run.
	SessionOwner(tx core.Tx, session ahp.URI) string
	// ChatSession is the session of a chat, empty for a chat that is not the host's.
	ChatSession(tx core.Tx, chat ahp.URI) ahp.URI
	// Confined is the sandbox of a session and its directories; nil without a sandbox.
	Confined(tx core.Tx, session ahp.URI) (agent.Confinement, []string)
}

// Start is what new terminals are started with.
type Start struct {
	// Shell is an absolute path; empty means $SHELL, then the passwd entry.
	Shell string
	// NoShellIntegration starts shells without shell integration, unless a client asks for
	// it.
	NoShellIntegration bool
	// Engine names the emulator; empty means engine.Default.
	Engine string
	// Allow is what programs may ask of the emulator.
	Allow emulator.Allowed
	// Tmux is shell.TmuxAsk or shell.TmuxOn where programs find a tmux that makes panes
	// (package internal/tmux).
	Tmux string
}

type Limits struct {
	Terminals int // existing at once, exited ones included
	// JournalBytes bounds each of the two areas of a terminal's journal. Only written bytes
	// use memory: the history and the screen, and the output since these were written.
	JournalBytes int
	// When more than HoldBytes wait for the claim holder's connection, its terminal's pty is
	// not read. If the connection then takes nothing for StallTime, it is closed.
	HoldBytes int
	StallTime time.Duration
}

// Terminals is the host's terminals.
type Terminals struct {
	Options
	quotas     *guard.Quotas
	roster     *roster.Roster
	scrollback atomic.Int64 // present value of Options.Scrollback
	keepers    keepers
	spool      *journal.Spool  // see typed.go; may be nil
	spooled    journal.Spooled // the last write of the host before

	// The lock guards the following.
	all      []*Terminal        // oldest first
	reserved map[ahp.URI]string // terminals being made, and their names
	Teams    Teams
	procs    processes
	list     listing
	typist   typist
	marks    []journal.Record // reused
	typing   []byte           // reused
	stopping bool             // all are being ended

	// ending counts processes that are being ended, feeding the feeds of commands.
	ending, feeding sync.WaitGroup
}

// New makes an empty Terminals.
func New(o Options) *Terminals {
	ts := &Terminals{
		Options: o, quotas: guard.OpenQuotas(o.State, o.Now, o.Log),
		reserved: map[ahp.URI]string{}, Teams: Teams{},
		procs: processes{terms: map[string]*Terminal{}, early: map[string]*keeper.Exit{}},
	}
	ts.scrollback.Store(int64(o.Scrollback))
	ts.keepers.last.Store(o.Children)
	ts.keepers.life, ts.keepers.endLife = context.WithCancel(context.Background())
	ts.roster = roster.New(o.Runtime, &ts.ending, func(err error) {
		o.Log.Warn("programs will not be found again if the keeper and the host die", "err", err)
	})
	return ts
}

// Methods is the requests about terminals.
func (ts *Terminals) Methods() map[string]requests.Method {
	return map[string]requests.Method{
		ahp.MethodCreateTerminal:  {Do: sized(requests.Of(ts.CreateTerminal)), Reach: requests.Inside},
		ahp.MethodDisposeTerminal: {Do: requests.Of(ts.disposeTerminal), Reach: requests.Own},
		ahp.MethodFeed:            {Do: requests.Of(ts.feed), Scope: auth.ScopeRead, Reach: requests.Own}, // only what it was given to feed
	}
}

// All are the terminals, oldest first.
func (ts *Terminals) All(core.Tx) []*Terminal { return ts.all }

// Reserved reports whether a terminal is being made with a URI.
func (ts *Terminals) Reserved(_ core.Tx, uri ahp.URI) bool { _, yes := ts.reserved[uri]; return yes }

func At(tx core.Tx, uri ahp.URI) (*Terminal, bool) {
	ch := tx.Channel(uri)
	if ch == nil {
		return nil, false
	}
	t, ok := ch.Body.(*Terminal)
	return t, ok
}

// Reaches reports whether a principal may know of a channel. A token for one terminal reaches
// only that, and a principal in a sandbox only the terminals that run there.
func Reaches(tx core.Tx, p *auth.Principal, uri ahp.URI) bool {
	if !p.Bounded() {
		return true
	}
	t, ok := At(tx, uri)
	if p.Sandbox != "" {
		return ok && t.sandbox == p.Sandbox
	}
	return ok && uri == p.Terminal && t.proc == p.Process
}

func Held(tx core.Tx, p *auth.Principal, uri ahp.URI) bool {
	t, ok := At(tx, uri)
	return ok && t.Held().Holds(p)
}

// Find finds the terminal of a principal's request.
func Find(tx core.Tx, p *auth.Principal, uri ahp.URI, doing string) (*Terminal, error) {
	t, ok := At(tx, uri)
	if !ok || !Reaches(tx, p, uri) {
		return nil, ahp.NotFound("%s: there is no terminal %q", doing, params.Clip(uri))
	}
	return t, nil
}

// Ended is called when a connection has ended. watched is what it was subscribed to; last says
// that it was its client's last. Claims stay, except those that the client got by typing.
func (ts *Terminals) Ended(tx core.Tx, c *requests.Conn, watched []*core.Channel, last bool) {
	for _, ch := range watched {
		LooksAway(tx, c.Link, ch, true)
	}
	for _, t := range ts.all {
		if t.feed != nil && t.feed.c == c {
			t.SetFeed(tx, nil)
		}
	}
	if last {
		ts.returnLoans(tx, c.Client, c.Principal)
		ts.ComesOrGoes(tx, c.Client)
	}
}

// Stop stops setting timers. Close follows, without the lock.
func (ts *Terminals) Stop(tx core.Tx) {
	if ts.list.timer != nil {
		ts.list.timer.Stop()
		ts.list.timer = nil
	}
}

// Close stops reading from the ptys. It does not end terminals: the keeper keeps them.
func (ts *Terminals) Close() {
	for _, t := range ts.now() {
		t.Term.Close()
	}
}

// Wait waits until nothing runs that needs the keeper. The caller has called Close and ended all
// connections.
func (ts *Terminals) Wait() {
	for _, t := range ts.now() {
		<-t.Term.Done()
	}
	ts.feeding.Wait()
	ts.ending.Wait()
}

func (ts *Terminals) now() []*Terminal {
	tx := ts.Core.Lock()
	defer tx.Unlock()
	return slices.Clone(ts.all)
}

// LetGo ends the connection to the keeper. Call WaitKeepers after it.
func (ts *Terminals) LetGo() {
	ts.keepers.endLife()
	ts.Keeper().Close()
}

// WaitKeepers waits, after LetGo, until the goroutines that follow keepers have ended.
func (ts *Terminals) WaitKeepers() { ts.keepers.following.Wait() }

// CloseSpool unmaps the spool. The keeper has its file.
func (ts *Terminals) CloseSpool(core.Tx) { ts.spool.Close() } //nolint:errcheck // see above

// history converts a number of lines to emulator.Options.History.
func history(lines int) int {
	return cmp.Or(lines, -1)
}

// scrollbackOf is emulator.Options.History for a terminal for which asked lines were requested;
// nil means the default.
func (ts *Terminals) scrollbackOf(asked *int) int {
	if asked != nil {
		return history(*asked)
	}
	return int(ts.scrollback.Load())
}

// SetScrollback changes Options.Scrollback, also for existing terminals.
func (ts *Terminals) SetScrollback(lines int) {
	ts.scrollback.Store(int64(lines))
	tx := ts.Core.Lock()
	defer tx.Unlock()
	for _, t := range ts.all {
		if t.Meta.Scrollback == nil {
			t.Term.LimitHistory(lines)
		}
	}
}

func checkScrollback(lines *int) error {
	if lines != nil && (*lines < 0 || *lines > ahp.MaxScrollback) {
		return ahp.InvalidParams("create terminal: tandemux/scrollback: %d lines is out of range: use 0 to %d", *lines, ahp.MaxScrollback)
	}
	return nil
}
