package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/host/agent/catalog"
	"tandemux/host/front"
	"tandemux/host/guard"
	"tandemux/host/history"
	"tandemux/host/hooks"
	"tandemux/host/journal"
	"tandemux/host/keeper"
	"tandemux/host/listen"
	"tandemux/host/push"
	"tandemux/host/task/api"
	"tandemux/host/web"
	"tandemux/internal/cli"
	"tandemux/internal/daemon"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"
	"tandemux/internal/termcmd"
	"tandemux/internal/tmux/pane"
	"tandemux/ui"
)

func newHostCommand() *cobra.Command {
	var in struct {
		Foreground bool `flag:"foreground" doc:"Stay in the foreground"`
		hostOptions
	}
	return cli.Command("host", `Run the host, in the background unless told otherwise
It is the process that owns all terminals' state and that the TUI, agents and scripts
connect to. It starts by itself on first use; start it by hand to choose how it
listens. There is one host per user.

  tandemux host --listen 127.0.0.1:7070
  tandemux host --listen 0.0.0.0:7070 --tls-self-signed
  tandemux host --foreground`, &in, func(cmd *cobra.Command, _ []string) error {
		d := local.FindDirs()
		if err := d.Make(); err != nil {
			return err
		}
		if err := in.check(); err != nil {
			return err
		}
		if os.Getenv(daemon.ReadyEnv) != "" {
			return runHost(cmd.Context(), d, in.hostOptions, nil)
		}
		if in.Foreground {
			return runHost(cmd.Context(), d, in.hostOptions, cmd.OutOrStdout())
		}
		if err := d.Start(nil, in.args()...); err != nil {
			return err
		}
		path, err := d.Socket(listen.SocketName)
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "host started; socket %s\n", path)
		// The host knows which port it got for :0.
		return (endpoint.Endpoint{Dirs: d}).With(cmd.Context(), endpoint.Options{}, func(ctx context.Context, s *endpoint.Conn) error {
			var got ahp.HostResult
			if err := s.Ask(ctx, ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &got); err != nil {
				return err
			}
			printAddresses(cmd.OutOrStdout(), got)
			return nil
		})
	})
}

// clock is the host's; tests let it jump.
var clock = time.Now

// hostLimits are the host's; tests lower them.
var hostLimits host.Limits

// runHost serves until a signal or `tandemux stop`. It says on out, unless nil,
// where it listens.
func runHost(ctx context.Context, d local.Dirs, o hostOptions, out io.Writer) error {
	ready := daemon.InheritReadiness()
	return ready.Failed(serveHost(ctx, d, o, ready, out))
}

func serveHost(ctx context.Context, d local.Dirs, o hostOptions, ready daemon.Readiness, out io.Writer) error {
	tune(min(max(runtime.NumCPU()/2, 2), 4), 75, 512<<20) // half of a large machine is for those who print and look
	if err := os.Unsetenv(local.TokenEnv); err != nil {   // agents have our environment
		return err
	}
	set, err := loadSettings(d)
	if err != nil {
		return err
	}
	if _, err := d.Socket(listen.SocketName); err != nil {
		return err
	}
	log, closeLog, err := d.OpenLog("host.log")
	if err != nil {
		return err
	}
	defer closeLog()
	rebind := daemon.Rebinds()
	ln, err := d.Listen(log)
	if err != nil {
		return err
	}
	defer ln.Close()
	// Addresses are taken before we say that we are ready, so that one in use is an
	// error of the command that asked for it; and before there is a keeper, which
	// without a host would pass for what a host that died has left.
	tcp, err := o.listenAll(d, log)
	if err != nil {
		return err
	}
	type reached struct {
		*keeper.Client
		error
	}
	awaited := make(chan reached, 1)
	go func() { // one that starts takes a while
		k, err := d.Keeper(ctx)
		awaited <- reached{k, err}
	}()
	now := current(d, set, log)
	program, err := local.Program()
	if err != nil {
		log.Warn("agents without tandemux's tools keep their own shell", "err", err)
	}
	if program != "" {
		if err := pane.Install(d.Runtime, program); err != nil {
			log.Warn("agents' teammates get no panes", "err", err)
		}
	}
	agents, made := catalog.Maker{State: d.State, Version: version, Program: program, Log: log}, map[string]catalog.Made{}
	providers := agents.Providers(set.catalog, made)
	kept := newMemory(d)
	work := newTasks(d, now, log)
	pusher := push.Open(push.Options{State: d.State, Log: log, Contact: func() string { return now().web.Contact }})
	defer pusher.Close()
	page := web.New(d.State, version, pusher, log)
	page.Prove(func() bool { return now().web.Prove })
	page.Follow(othersOf(d))
	told := hooks.New(log)
	defer told.Close()
	told.Hear(push.Kinds, func(e hooks.Event) { pusher.Tell(push.Text(e)) })
	told.Set(set.hooks)
	ran := history.Open(d.State, set.history, log)
	defer ran.Close()
	k := <-awaited
	if k.error != nil {
		return k.error
	}
	h, err := host.New(host.Config{
		Followers: host.Followers{Hooks: told, History: ran},
		Ending:    kept.ending, Housekeeper: kept.id,
		Now: clock, Limits: hostLimits,
		Runtime: d.Runtime, State: d.State, Version: version,
		Scrollback: set.engine.History(),
		Fresh:      func() host.Start { return now().start() },
		Desk:       host.Desk{Place: place, Do: doFor(d), Interface: interfaceOf(func() *ui.Look { return &now().look })},
		Doors:      append(doors(), (&api.API{Open: work.open, State: d.State, Log: log}).Door(), page.Door(), page.HostsDoor()),
		AgentConfig: host.AgentConfig{
			Agents: providers, Agent: work.find(agents.Finder(func() catalog.Tables { return now().catalog })), AgentServers: agentServers(log),
			AgentLimits: func() guard.Limits { return now().agents.Limits() },
			Confine:     work.confine,
			Workspace:   work.changes,
		},
		Log: log, Keeper: k.Client, NewKeeper: d.Keeper,
		Network: host.Network{Origins: o.Origins, Hosts: o.Names, Proved: page.Proved},
	})
	if err != nil {
		return err
	}
	if out != nil {
		printAddresses(out, listen.Addresses(tcp))
	}
	log.Info("host started", "version", version, "pid", os.Getpid(), "keeper", k.Pid())
	h.Front().Announce(front.TCP, tcp...) // whoever asks next is told
	pusher.Begin(h.Front().Valid)
	put := func() {
		if err := d.WriteRecord(record(o, tcp, k.Client, out != nil)); err != nil {
			log.Warn("a host that dies will be started anew with the defaults", "err", err)
		}
	}
	put()
	kept.warn = h.Warn
	ended := make(chan error, 1)
	ctx, done := kept.outlast(ctx)
	defer done()
	go func() { ended <- h.Run(ctx, ln) }()
	kept.begin(ctx, now(), log)
	work.begin(h)
	beginWeb(ctx, page, h, d, log)
	at := h.Front().Reach(func(addr string) (net.Listener, error) { return listen.Open(addr, d.State, log) })
	go kept.follow(ctx, now, func(last, s *settings) {
		if s.engine != last.engine {
			h.SetScrollback(s.engine.History())
		}
		h.Warn("listen", at.Set(ctx, s.listen.Addresses))
		told.Set(s.hooks)
		ran.Set(s.history)
		work.limitsChanged()
		page.HostsChanged()
		if !reflect.DeepEqual(s.catalog, last.catalog) {
			had := providers
			providers = agents.Providers(s.catalog, made)
			h.SetAgents(had, providers)
		}
	}, log)
	go daemon.OnRebind(ctx, rebind, func() {
		if ln.Bound() {
			return
		}
		// Who waits for the socket may read the record at once.
		err := d.Make()
		if err == nil {
			put()
			err = ln.Rebind()
		}
		log.Info("bound the socket anew, which was gone", "err", err)
		h.Rebound()
	})
	ready.Ready()
	for _, l := range tcp {
		go h.Front().Serve(ctx, l, front.TCP) //nolint:errcheck // ends with Run
	}
	err = <-ended
	work.close()
	kept.end()
	log.Info("host ended", "err", err)
	return err
}

// record is what brings this host back.
func record(o hostOptions, tcp []net.Listener, k *keeper.Client, foreground bool) local.Record {
	o.Listen = nil
	for _, l := range tcp {
		o.Listen = append(o.Listen, l.Addr().String()) // :0 has become a port
	}
	r := local.Record{Pid: os.Getpid(), Version: version, Keeper: k.Pid(), Args: o.args(), Journal: journal.Format, Foreground: foreground}
	r.Program, _ = local.Running() // without it every program is another one
	return r
}

// current gives the configuration as it is now; with a mistake in it the last
// good one stays.
func current(d local.Dirs, s *settings, log *slog.Logger) func() *settings {
	var mu sync.Mutex
	return func() *settings {
		mu.Lock() // while it is read, too: none that was read earlier comes after it
		defer mu.Unlock()
		next, err := loadSettings(d)
		if err == nil {
			s = next
		} else {
			log.Warn("the configuration has mistakes; the one before stays", "err", err)
		}
		return s
	}
}

// start is the host's part of the settings for new terminals.
func (s *settings) start() host.Start {
	return host.Start{Shell: s.shell.Shell, NoShellIntegration: !s.shell.Integration, Engine: s.engine.Emulator, Allow: s.engine.Allow(), Tmux: s.shell.Tmux}
}

func newStopCommand() *cobra.Command {
	return cli.Command("stop", "End the host and all its terminals", nil, func(cmd *cobra.Command, _ []string) error {
		err := endpoint.WithHost(cmd, endpoint.Options{Once: true}, func(ctx context.Context, s *endpoint.Conn) error {
			var lost []int
			n := 0
			for _, t := range s.Terminals() {
				if t.Lifecycle.Exited() {
					continue
				}
				n++
				if t.Meta != nil && t.Meta.Orphaned {
					lost = append(lost, t.Meta.Pid)
				}
			}
			for _, o := range termcmd.Orphans(s, ctx) {
				lost = append(lost, o.Pid)
			}
			keeper := 0
			if r, err := s.At.Dirs.ReadRecord(); err == nil && s.At.Own() {
				keeper = r.Keeper
			}
			if err := s.Ask(ctx, ahp.MethodStop, ahp.SubscribeParams{Channel: ahp.RootURI}, nil); err != nil {
				return err
			}
			select {
			case <-s.Done():
			case <-ctx.Done():
				return ctx.Err()
			}
			if s.At.Own() && (!s.At.Dirs.AwaitEnd() || keeper > 0 && !s.At.Dirs.AwaitKeeper(keeper)) {
				return errors.New("the host was told to stop and is still ending: `tandemux doctor` says when it is gone")
			}
			fmt.Fprintf(cmd.OutOrStdout(), "host stopped; %s ended\n", cli.Count(n, "running terminal"))
			return outlived(s, lost)
		})
		var left local.Unattended
		if !errors.As(err, &left) {
			return err
		}
		if err := local.FindDirs().EndKeeper(cmd.Context()); err != nil {
			return fmt.Errorf("end the keeper, which runs without a host: %w", err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "no host was running; the keeper stopped; %s ended\n", cli.Count(len(left.Running), "program"))
		return nil
	})
}

// outlived names the processes that a stop has not ended.
func outlived(s *endpoint.Conn, pids []int) error {
	if !s.At.Own() {
		return nil
	}
	var left []string
	for _, pid := range pids {
		if (keeper.Identify(pid) != keeper.Identity{}) {
			left = append(left, strconv.Itoa(pid))
		}
	}
	if len(left) == 0 {
		return nil
	}
	return fmt.Errorf("the host was stopped, but programs whose keeper had died still run: end them by hand (pids %s)", strings.Join(left, ", "))
}
