package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/palette"
	"tandemux/emulator/engine"
	"tandemux/host/activity"
	"tandemux/host/agent"
	"tandemux/host/agent/commandline"
	"tandemux/host/agentterm"
	"tandemux/host/annotations"
	"tandemux/host/audit"
	"tandemux/host/auth"
	"tandemux/host/changes"
	"tandemux/host/commands"
	"tandemux/host/completion"
	"tandemux/host/confine"
	"tandemux/host/core"
	"tandemux/host/credential"
	"tandemux/host/files"
	"tandemux/host/front"
	"tandemux/host/guard"
	"tandemux/host/journal"
	"tandemux/host/keeper"
	"tandemux/host/listen"
	"tandemux/host/questions"
	"tandemux/host/requests"
	"tandemux/host/sessions"
	"tandemux/host/terminals"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/statefile"
)

// Desk is what the interface's code does for the host.
type Desk struct {
	// Place, if not nil, arranges panes for x-tandemux/show. It is asked under the
	// host's lock: values in, values out.
	Place Place
	// Do, if not nil, runs commands of the palette for x-tandemux/do as a client that
	// dials for itself. It is called from any goroutine, and may take as long as a popup.
	Do func(ctx context.Context, dial Dial, p palette.Params) (palette.Result, error)
	// Interface, if not nil, tells how the owner has the interface, with programs that keys
	// start only where programs is set.
	Interface func(programs bool) (palette.Interface, error)
}

// Config is what a Host needs. Directories must be absolute and exist.
type Config struct {
	// Runtime holds the sockets and the lock (0700), State the tokens, the
	// audit log and the sequence mark.
	Runtime, State string
	// Start is what new terminals are started with; Fresh, if not nil, gives what is in
	// its place. It is asked for each of them, from any goroutine.
	Start
	Fresh func() Start
	// Scrollback is how many lines terminals keep for which nothing else was asked,
	// as emulator.Options.History has it. SetScrollback changes it.
	Scrollback int
	// Version is reported to clients and children.
	Version string
	// Log gets what the host does, never what terminals show; nil discards.
	Log *slog.Logger
	// Keeper owns the ptys. The host takes it over and closes the connection
	// on Shutdown.
	Keeper *keeper.Client
	// NewKeeper, if not nil, connects to another keeper, or the same one again, when
	// the connection has ended otherwise than by Shutdown.
	NewKeeper func(context.Context) (*keeper.Client, error)
	Network
	// Roots are the directories, absolute, whose files clients may read (the
	// resource requests); nil means the user's home, empty none.
	Roots []string
	AgentConfig
	Followers
	Desk
	// Doors are other protocols' entrances.
	Doors []front.Door
	// Ending, if not nil, is called once, before clients are told that the host
	// ends, with the WebSocket status that they are told: jsonrpc.CloseRestart when
	// another one follows at once, 1000 when it was stopped with all its terminals.
	// It must not block.
	Ending func(code int)
	// Now is the clock; nil means time.Now. Tests let it jump.
	Now func() time.Time
	// Housekeeper is the clientId of the owner's own client, which x-tandemux/host
	// does not count; empty for none.
	Housekeeper string
	// Limits bounds everything from outside; zero members mean the defaults.
	Limits Limits
}

// Start is what new terminals are started with.
type Start = terminals.Start

// Network is how others than this machine's owner reach a host.
type Network struct {
	// Listen holds the TCP addresses that Run listens on, with Certificate
	// encrypted. Without one, others than loopback are refused unless Plaintext
	// is set.
	Listen      []string
	Certificate *listen.Certificate
	Plaintext   bool
	// Hosts are names that clients may know the machine by, besides its own and
	// those in the certificate.
	Hosts []string
	// Origins are the browser origins that may connect over TCP, such as
	// "https://example.org"; none by default.
	Origins []string
	// Proved, if not nil, is front.Config.Proved.
	Proved func(token string, page bool) bool
}

func (n *Network) listen(addr string) (net.Listener, error) {
	if n.Certificate != nil {
		return listen.TLS(addr, n.Certificate)
	}
	return listen.TCP(addr, n.Plaintext)
}

// AgentConfig is what a host's agents are.
type AgentConfig struct {
	// Agents open the agents' side of sessions; the first is the default.
	Agents []agent.Provider
	// Agent, if not nil, finds one that Agents lacks, by its name or a command. It
	// may be called from any goroutine.
	Agent func(id string, command []string) (agent.Provider, error)
	// AgentServers, if not nil, gives the MCP servers that every agent is told of
	// when a chat of it opens. It must not block.
	AgentServers func(provider string, session, chat ahp.URI) []agent.Server
	// Confine, if not nil, gives the confinement of sessions that name a sandbox. It
	// is asked when something of such a session is started first, in each host anew,
	// and again when it failed; from any goroutine, and it may take a while. Without
	// it such sessions are refused.
	Confine func(sandbox string) (agent.Confinement, error)
	// AgentLimits, if not nil, gives what agents may do, in place of
	// guard.DefaultLimits. It is asked at each decision, from any goroutine.
	AgentLimits func() guard.Limits
	// Workspace, if not nil, gives the workspace that a directory is, nil for others. It is
	// asked from any goroutine, and may take a while.
	Workspace func(dir string) (changes.Tree, error)
}

// Host is the one writer of all state. Its methods may be called from any
// goroutine. All but life is immutable, and what the parts have is guarded as they say.
type Host struct {
	cfg       Config // complete
	front     *front.Front
	journals  journal.Shelf
	core      *core.Core
	activity  *activity.Activity
	layouts   *layouts
	terminals *terminals.Terminals
	commands  *commands.Commands
	sessions  *sessions.Sessions
	changes   *changes.Changes
	requests  *requests.Server
	life      life
}

// life is when a host began, and how it ends.
type life struct {
	started  time.Time
	done     chan struct{}
	yielding bool // a client asked to make room for another host; guarded by core's lock
}

// New makes a host; it serves nothing yet. It must be shut down, also when
// nothing was served.
func New(c Config) (*Host, error) {
	if c.Keeper == nil {
		return nil, errors.New("make host: no keeper")
	}
	for _, dir := range []string{c.Runtime, c.State} {
		if !filepath.IsAbs(dir) {
			return nil, fmt.Errorf("make host: the directory %q is not absolute", dir)
		}
	}
	h := &Host{cfg: c.complete(), life: life{started: time.Now(), done: make(chan struct{})}}
	c = h.cfg
	h.journals = journal.Shelf{
		Dir: c.Runtime, Keeper: func() journal.Keeper { return h.terminals.Keeper() }, Now: c.Now, Log: c.Log,
		Failed: func(err error) { h.activity.Warn("spare journals", err) },
	}
	tokens := auth.OpenTokens(c.State, c.Now)
	h.activity = activity.New(activity.Options{Now: c.Now, Log: c.Log, Tokens: tokens.Trouble, Losing: h.losing})
	h.layouts = &layouts{most: c.Limits.Layouts, activity: h.activity, changed: func(tx core.Tx) { h.terminals.Changed(tx) }}
	var err, noMark, noAudit error
	h.core, noMark, err = core.New(core.Options{
		State: c.State, Now: c.Now, Log: c.Log, Journals: &h.journals, Kinds: h.kinds(),
		ReplayBytes: c.Limits.ReplayBytes, ReplayCount: c.Limits.ReplayCount, ReplayAll: c.Limits.ReplayAll,
		Clients: c.Limits.Clients, Shown: shownAction, Applied: followed(c), Superseded: h.superseded,
		LosingChanged: func(tx core.Tx) { h.activity.WarnSoon(tx) },
	})
	if err != nil {
		return nil, fmt.Errorf("make host: %w", err)
	}
	if noMark != nil && !statefile.Unwritable(noMark) {
		return nil, fmt.Errorf("make host: %w", noMark)
	}
	trail, noAudit := audit.Open(c.State, c.Now)
	if noAudit != nil && !statefile.Unwritable(noAudit) {
		return nil, fmt.Errorf("make host: open the audit log: %w", noAudit)
	}
	if err := tokens.Trouble(); err != nil {
		c.Log.Error("closed to tokens", "err", err)
	}
	clientIDs, err := auth.OpenClientIDs(c.State)
	if err != nil {
		c.Log.Warn("clientIds are remembered in memory only", "err", err)
	}
	hostname, _ := os.Hostname()
	h.front = front.New(front.Config{
		Handle: func(ctx context.Context, t jsonrpc.Transport, p *auth.Principal) error {
			return h.requests.Serve(ctx, t, p)
		},
		Tokens: tokens, Attempts: auth.NewAttempts(c.Now), Audit: trail, Log: c.Log,
		Doors: c.Doors, Proved: c.Proved, Origins: c.Origins, Hosts: c.Hosts, Hostname: hostname,
		Connections: c.Limits.Connections, Requests: c.Limits.Requests, FrameBytes: c.Limits.FrameBytes, HeaderTime: c.Limits.HeaderTime,
	})
	tokens.OnExpiry(func() { h.requests.CloseInvalid("the token has expired", nil) })
	h.terminals = terminals.New(terminals.Options{
		Core: h.core, Log: c.Log, Now: c.Now, Audit: trail, Activity: h.activity, Journals: &h.journals,
		Children: c.Keeper, NewKeeper: c.NewKeeper,
		Runtime: c.Runtime, State: c.State, Home: c.home(), Hostname: hostname, Version: c.Version,
		Start: c.Fresh, Scrollback: c.Scrollback, AgentLimits: c.AgentLimits, Belt: guard.NewBelt(c.AgentLimits), Host: beside{h}, Limits: c.Limits.terminalLimits,
	})
	h.core.Locked(func(tx core.Tx) {
		tx.NewChannel(ahp.RootURI, &root{terminals: h.terminals, value: ahp.RootState{Agents: []ahp.AgentInfo{}}})
		h.activity.Open(tx, h.core)
	})
	auditFailed := func(err error) { h.activity.Mend("audit log", err, trail.Probe) }
	trail.OnFailure(auditFailed)
	if noAudit != nil {
		auditFailed(noAudit)
	}
	c.History.OnFailure(func(err error) { h.activity.Mend("command history", err, c.History.Write) })
	if noMark != nil {
		h.activity.Mend("state directory", noMark, h.core.WriteMark)
	}
	h.commands = commands.New(commands.Options{Core: h.core, Audit: trail, Terminals: h.terminals, History: c.History, KeepsHouse: h.keepsHouse})
	sandboxes := &confine.Options{
		Runtime: c.Runtime, Shell: filepath.Join(c.Runtime, terminals.ShellDir), Log: c.Log, Make: c.Confine, HangUp: h.hangUp,
		Serve: func(ln net.Listener, who *auth.Principal) error {
			return h.front.ServeAs(context.Background(), ln, front.Unix, who)
		},
	}
	h.sessions = sessions.New(sessions.Options{
		Core: h.core, Log: c.Log, Now: c.Now, Audit: trail, Home: c.home(), Providers: c.Agents, Agent: c.Agent, Limits: c.Limits.sessionLimits,
		Directory: h.terminals.Directory, Reserved: h.terminals.Reserved,
		Confine: func(session ahp.URI, sandbox string) sessions.Sandbox {
			return confine.New(sandboxes, session, sandbox)
		},
		Confines: confine.Refused, Credentials: credential.New(stillValid(tokens), h.tokenExpired),
		Annotations: &annotations.Annotations{Options: annotations.Options{
			Hostname: hostname, Audit: trail, Changed: func(tx core.Tx, session ahp.URI) { h.sessions.Announce(tx, session) },
			Roots: func(tx core.Tx, session ahp.URI) []string {
				_, roots := h.sessions.Confined(tx, session)
				return roots
			},
		}},
		Terminals: watched{&agentterm.Agents{Options: agentterm.Options{
			Core: h.core, Log: c.Log, Audit: trail, Activity: h.activity, Terminals: h.terminals, Servers: c.AgentServers,
		}}, h},
	})
	asked := questions.New(questions.Options{
		Core: h.core, Audit: trail, Activity: h.activity, Terminals: h.terminals,
		Permit: h.sessions.Permit,
	})
	h.changes = changes.New(changes.Options{
		Core: h.core, Log: c.Log, Audit: trail, Scratch: filepath.Join(c.State, "changes"),
		Hostname: hostname, Workspace: c.Workspace,
		Files: files.New(files.Options{
			Roots: c.Roots, Hostname: hostname, Limits: c.Limits.resourceLimits.Limits,
			Own: []string{c.Runtime, c.State},
		}),
		Confined: func(tx core.Tx, session ahp.URI) bool {
			k, _ := h.sessions.Confined(tx, session)
			return k != nil
		},
		Reviewed: h.sessions.Reviewed, Review: h.sessions.Review,
	})
	h.requests = requests.New(requests.Options{
		Core: h.core, Log: c.Log, Now: c.Now, Audit: trail, Tokens: tokens, ClientIDs: clientIDs,
		Channels: channels{h, asked}, TokensChanged: h.tokensChanged, Version: c.Version, Home: c.home(), Limits: c.Limits.requestLimits, Triggers: completion.Triggers, CommandPrefix: commandline.Prefix,
		Methods: h.methods(trail, asked), Actions: h.actions(),
		Notifications: map[string]func(*requests.Conn, json.RawMessage){ahp.MethodColors: h.terminals.SetColors},
	})
	if err := h.restore(); err != nil {
		h.Shutdown(context.Background()) //nolint:errcheck // the first error counts
		return nil, fmt.Errorf("make host: take over from an earlier one: %w", err)
	}
	return h, nil
}

// complete is the Config with what was left out.
func (c Config) complete() Config {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Engine = cmp.Or(c.Engine, engine.Default)
	if c.Fresh == nil {
		c.Fresh = func() Start { return c.Start }
	}
	if c.AgentLimits == nil {
		c.AgentLimits = guard.DefaultLimits
	}
	if c.Roots == nil {
		c.Roots = []string{c.home()}
	}
	c.Limits = c.Limits.withDefaults()
	return c
}

// home is the user's.
func (Config) home() string {
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		return home
	}
	return "/"
}

// SetScrollback changes Config.Scrollback, also for the terminals that there are.
func (h *Host) SetScrollback(lines int) { h.terminals.SetScrollback(lines) }

// SetAgents changes Config.Agents, for sessions from now on; had are those before.
func (h *Host) SetAgents(had, agents []agent.Provider) {
	h.core.Do(func(tx core.Tx) { h.sessions.SetProviders(tx, had, agents) })
}

// hangUp ends the connections from a session's sandbox.
func (h *Host) hangUp(tx core.Tx, session ahp.URI) {
	for c := range h.requests.Conns(tx) {
		if c.Principal.Sandbox == session {
			c.Out.Close(jsonrpc.ClosePolicy, "the session was disposed of")
		}
	}
}

// Rebound binds anew what else had a socket in the runtime directory, after
// Socket.Rebind.
func (h *Host) Rebound() {
	tx := h.core.Lock()
	defer tx.Unlock()
	h.terminals.Rebound(tx)
	for _, b := range h.sessions.Sandboxes(tx) {
		if k, ok := b.(*confine.Sandbox); ok {
			k.Rebind(tx)
		}
	}
}

// Run serves the unix listener and every address of Config.Listen until ctx
// ends or a client stops the host, then shuts down. Terminals end only with a
// stop (x-tandemux/stop); otherwise the keeper keeps them.
func (h *Host) Run(ctx context.Context, ln *listen.Socket) error {
	defer ln.Close()
	kinds := map[net.Listener]front.Kind{ln: front.Unix}
	for _, addr := range h.cfg.Listen {
		l, err := h.cfg.listen(addr)
		if err != nil {
			for l := range kinds {
				l.Close()
			}
			return errors.Join(err, h.Shutdown(ctx))
		}
		kinds[l] = front.TCP
	}
	ended := make(chan error, len(kinds))
	for l, kind := range kinds {
		go func() { ended <- h.front.Serve(ctx, l, kind) }()
	}
	err := <-ended // by ctx, a stop, or a failure
	tx := h.core.Lock()
	stopping := h.terminals.Ending(tx)
	tx.Unlock()
	if stopping {
		<-h.life.done
		return err
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	return errors.Join(err, h.Shutdown(ending))
}

// losing says what the end of the host would lose, nil when nothing.
func (h *Host) losing(tx core.Tx) error { return errors.Join(h.terminals.Orphaned(tx), tx.Losing()) }

// Warn says what the host's owner has to see to, about something of the caller's,
// until err is nil. It must not be called by Config.Ending.
func (h *Host) Warn(about string, err error) { h.activity.Warn(about, err) }

// Front is what the host is reached by.
func (h *Host) Front() *front.Front { return h.front }

// Shutdown closes every connection and listener and waits, as long as ctx
// lasts, until all is let go. It does not end terminals: the keeper keeps
// them. Calling it again waits for the first call.
func (h *Host) Shutdown(ctx context.Context) error {
	return h.shutdown(ctx, "the host is stopping")
}

// shutdown is Shutdown with what the clients are told.
func (h *Host) shutdown(ctx context.Context, reason string) error {
	tx := h.core.Lock()
	if tx.Closing() {
		tx.Unlock()
		select {
		case <-h.life.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	tx.Close()
	h.journals.Close()
	code, reason := h.parting(tx, reason)
	h.front.Close()
	for c := range h.requests.Conns(tx) {
		c.Out.Close(code, reason)
	}
	h.terminals.Stop(tx)
	h.activity.Stop(tx)
	h.sessions.Stop(tx)
	h.changes.Stop(tx)
	h.requests.Stop(tx)
	tx.Unlock()
	h.terminals.Close()
	err := h.letGo(ctx)
	h.activity.Close()
	h.requests.Tokens.Close()
	h.core.Locked(func(tx core.Tx) { h.requests.ClientIDs.Close() })
	h.requests.Audit.Close()
	close(h.life.done)
	return err
}

// closeJournals gives the journals' memory back: nothing runs any more. The keeper
// has it for the next host.
func (h *Host) closeJournals() {
	tx := h.core.Lock()
	defer tx.Unlock()
	tx.CloseJournals()
	h.journals.Empty()
	h.terminals.CloseSpool(tx)
}

// letGo waits for everything that runs, and closes the keeper's connection when
// nothing needs it any more.
func (h *Host) letGo(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.front.Wait()
		h.requests.Wait()
		h.sessions.Wait()
		h.changes.Wait()
		h.commands.Wait()
		h.terminals.Wait()
		h.journals.Wait()
		h.terminals.LetGo()
		h.terminals.WaitKeepers()
	}()
	select {
	case <-ended:
		h.closeJournals()
		return nil
	case <-ctx.Done():
		h.terminals.LetGo()
		return fmt.Errorf("shut down: %w", ctx.Err())
	}
}
