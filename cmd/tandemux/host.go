package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/host/front"
	"tandemux/host/guard"
	"tandemux/host/journal"
	"tandemux/host/keeper"
	"tandemux/host/listen"
	"tandemux/internal/cli"
	"tandemux/internal/daemon"
)

func newHostCommand() *cobra.Command {
	var foreground bool
	var opts hostOptions
	cmd := &cobra.Command{
		Use:   "host",
		Short: "Run the host, in the background unless told otherwise",
		Long: `Run the host: the process that owns all terminals' state and that the TUI,
agents and scripts connect to. It starts by itself on first use; start it by
hand to choose how it listens. There is one host per user.`,
		Example: `  tandemux host --listen 127.0.0.1:7070
  tandemux host --listen 0.0.0.0:7070 --tls-self-signed
  tandemux host --foreground`,
		Args: cobra.NoArgs,
		RunE: cli.Did(func(cmd *cobra.Command, _ []string) error {
			d := findDirs()
			if err := d.make(); err != nil {
				return err
			}
			if err := opts.check(); err != nil {
				return err
			}
			if os.Getenv(readyEnv) != "" {
				return runHost(cmd.Context(), d, opts, nil)
			}
			if foreground {
				return runHost(cmd.Context(), d, opts, cmd.OutOrStdout())
			}
			if err := startHost(d, opts); err != nil {
				return err
			}
			path, err := d.socket(listen.SocketName)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "host started; socket %s\n", path)
			// The host knows which port it got for :0.
			return (place{dirs: d}).with(cmd, false, func(ctx context.Context, s *session) error {
				var got ahp.HostResult
				if err := s.call(ctx, ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &got); err != nil {
					return err
				}
				printAddresses(cmd.OutOrStdout(), got)
				return nil
			})
		}),
	}
	cmd.Flags().BoolVar(&foreground, "foreground", false, "stay in the foreground")
	opts.addTo(cmd)
	return cmd
}

// startHost starts a host in the background and returns when it serves.
func startHost(d dirs, o hostOptions) error {
	return startBackground(d, o.args()...)
}

// clock is the host's; tests let it jump.
var clock = time.Now

// hostLimits are the host's; tests lower them.
var hostLimits host.Limits

// runHost serves until a signal or `tandemux stop`. It says on out, unless nil,
// where it listens.
func runHost(ctx context.Context, d dirs, o hostOptions, out io.Writer) error {
	ready := inheritReadiness()
	return ready.failed(serveHost(ctx, d, o, ready, out))
}

func serveHost(ctx context.Context, d dirs, o hostOptions, ready readiness, out io.Writer) error {
	hostTuning().apply()
	settings, err := loadSettings(d)
	if err != nil {
		return err
	}
	if _, err := d.socket(listen.SocketName); err != nil {
		return err
	}
	log, closeLog, err := openLog(d, "host.log")
	if err != nil {
		return err
	}
	defer closeLog()
	rebind := rebinds()
	ln, err := d.listen(log)
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
	k, err := connectKeeper(ctx, d)
	if err != nil {
		return err
	}
	now := current(d, settings, log)
	kept := newMemory(d)
	work := newTasks(d, now, log)
	h, err := host.New(host.Config{
		Ending: kept.ending, Housekeeper: kept.id,
		Now:     clock,
		Limits:  hostLimits,
		Runtime: d.runtime, State: d.state, Config: d.config, Version: version,
		Scrollback: history(settings.Scrollback),
		Fresh:      func() host.Start { return now().start() },
		Belt:       func() host.Belt { return now().belt() },
		Doors:      append(doors(), work.door()),
		Agents:     agentProviders(d, settings, log), Agent: work.find(agentFinder(d, now, log)), AgentServers: agentServers(log),
		Confine: work.confine,
		Log:     log, Keeper: k, NewKeeper: func(ctx context.Context) (*keeper.Client, error) { return connectKeeper(ctx, d) },
		Origins: o.origins, Hosts: o.names,
	})
	if err != nil {
		return err
	}
	if out != nil {
		printAddresses(out, listen.Addresses(tcp))
	}
	log.Info("host started", "version", version, "pid", os.Getpid(), "keeper", k.Pid())
	h.Front().Announce(front.TCP, tcp...) // whoever asks next is told
	put := func() {
		if err := d.putRecord(record(o, tcp, k, out != nil)); err != nil {
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
	go kept.follow(ctx, now, h.SetScrollback, log)
	go follow(ctx, rebind, func() {
		if ln.Bound() {
			return
		}
		// Who waits for the socket may read the record at once.
		err := d.make()
		if err == nil {
			put()
			err = ln.Rebind()
		}
		log.Info("bound the socket anew, which was gone", "err", err)
		h.Rebound()
	})
	ready.ready()
	for _, l := range tcp {
		go h.Front().Serve(ctx, l, front.TCP) //nolint:errcheck // ends with Run
	}
	err = <-ended
	work.close()
	kept.end()
	log.Info("host ended", "err", err)
	return err
}

// listen makes this process the one host, and listens.
func (d dirs) listen(log *slog.Logger) (*listen.Socket, error) {
	release, err := takePlace(d.hostPlace(), log)
	var ln *listen.Socket
	if err == nil {
		if ln, err = listen.Unix(d.runtime); err == nil {
			ln.OnClose(release)
			return ln, nil
		}
		release()
	}
	if errors.Is(err, listen.ErrRunning) || errors.Is(err, daemon.ErrTaken) {
		return nil, fmt.Errorf("a host is running already; `tandemux stop` ends it and its terminals: %w", err)
	}
	return nil, err
}

// record is what brings this host back.
func record(o hostOptions, tcp []net.Listener, k *keeper.Client, foreground bool) hostRecord {
	o.listen = nil
	for _, l := range tcp {
		o.listen = append(o.listen, l.Addr().String()) // :0 has become a port
	}
	r := hostRecord{Pid: os.Getpid(), Version: version, Keeper: k.Pid(), Args: o.args(), Journal: journal.Format, Foreground: foreground}
	r.Program, _ = running() // without it every program is another one
	return r
}

// current gives the configuration as it is now; with a mistake in it the last
// good one stays.
func current(d dirs, s settings, log *slog.Logger) func() settings {
	var mu sync.Mutex
	return func() settings {
		next, err := loadSettings(d)
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			s = next
		} else {
			log.Warn("the configuration has mistakes; the one before stays", "err", err)
		}
		return s
	}
}

// start is the host's part of the settings for new terminals, belt that for
// agents.
func (s settings) start() host.Start {
	return host.Start{Shell: s.Shell, NoShellIntegration: !s.ShellIntegration, Engine: s.Emulator}
}

func (s settings) belt() host.Belt {
	return host.Belt{
		Policy: guard.Policy{Commands: s.AgentBlocked, Patterns: guard.Patterns(s.AgentPatterns)},
		Spawns: s.AgentSpawns, Terminals: s.AgentTerminals, Calls: s.AgentCalls,
		Idle: time.Duration(s.AgentIdle) * time.Second,
	}
}

// connectKeeper reaches the user's keeper, starting one when none answers.
func connectKeeper(ctx context.Context, d dirs) (*keeper.Client, error) {
	k, err := d.dialKeeper(ctx)
	if err == nil {
		return k, nil
	}
	if !isNobodyThere(err) {
		return nil, fmt.Errorf("reach the keeper: %w", err)
	}
	if err := startBackground(d, "keeper"); err != nil {
		return nil, err
	}
	if k, err = d.dialKeeper(ctx); err != nil {
		return nil, fmt.Errorf("reach the new keeper: %w", err)
	}
	return k, nil
}

// isNobodyThere tells a socket that is absent or left over, or whose process
// died while we knocked, from one that refuses us for another reason.
func isNobodyThere(err error) bool {
	for _, gone := range []error{os.ErrNotExist, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}
