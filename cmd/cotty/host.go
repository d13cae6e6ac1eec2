package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"cotty/ahp"
	"cotty/host"
	"cotty/host/keeper"
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
		Example: `  cotty host --listen 127.0.0.1:7070
  cotty host --foreground`,
		Args: cobra.NoArgs,
		RunE: did(func(cmd *cobra.Command, _ []string) error {
			d := findDirs()
			if err := d.make(); err != nil {
				return err
			}
			if foreground || os.Getenv(readyEnv) != "" {
				return runHost(cmd.Context(), d, opts)
			}
			if err := startHost(d, opts); err != nil {
				return err
			}
			path, err := d.socket(host.SocketName)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "host started; socket %s\n", path)
			if len(opts.listen) == 0 {
				return nil
			}
			// The host knows which port it got for :0.
			return withHost(cmd, false, func(ctx context.Context, s *session) error {
				var got ahp.HostResult
				if err := s.call(ctx, ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &got); err != nil {
					return err
				}
				for _, addr := range got.Listen {
					fmt.Fprintf(cmd.OutOrStdout(), "listening on ws://%s; `cotty token new` makes a token\n", addr)
				}
				return nil
			})
		}),
	}
	f := cmd.Flags()
	f.BoolVar(&foreground, "foreground", false, "stay in the foreground")
	f.StringArrayVar(&opts.listen, "listen", nil, "also listen on this TCP address, such as 127.0.0.1:7070")
	f.StringArrayVar(&opts.origins, "allow-origin", nil, "let web pages of this origin connect")
	f.BoolVar(&opts.remote, "allow-remote", false, "allow --listen on an address that other machines reach, unencrypted")
	return cmd
}

type hostOptions struct {
	listen  []string
	origins []string
	remote  bool
}

func (o hostOptions) args() []string {
	args := []string{"host"}
	for _, a := range o.listen {
		args = append(args, "--listen", a)
	}
	for _, a := range o.origins {
		args = append(args, "--allow-origin", a)
	}
	if o.remote {
		args = append(args, "--allow-remote")
	}
	return args
}

// startHost starts a host in the background and returns when it serves.
func startHost(d dirs, o hostOptions) error {
	return startBackground(d, o.args()...)
}

// runHost serves until a signal or `cotty stop`.
func runHost(ctx context.Context, d dirs, o hostOptions) error {
	ready := inheritReadiness()
	return ready.failed(serveHost(ctx, d, o, ready))
}

func serveHost(ctx context.Context, d dirs, o hostOptions, ready readiness) error {
	settings, err := loadSettings(d)
	if err != nil {
		return err
	}
	if _, err := d.socket(host.SocketName); err != nil {
		return err
	}
	ln, err := host.Listen(d.runtime)
	if errors.Is(err, host.ErrRunning) {
		return fmt.Errorf("a host is running already; `cotty stop` ends it and its terminals: %w", err)
	}
	if err != nil {
		return err
	}
	defer ln.Close()
	log, closeLog, err := openLog(d, "host.log")
	if err != nil {
		return err
	}
	defer closeLog()
	k, err := connectKeeper(ctx, d)
	if err != nil {
		return err
	}
	h, err := host.New(host.Config{
		Runtime: d.runtime, State: d.state, Config: d.config,
		Shell: settings.Shell, Engine: settings.Emulator, Version: version,
		Log: log, Keeper: k, AllowRemote: o.remote, Origins: o.origins,
	})
	if err != nil {
		return err
	}
	// Addresses are taken before we say that we are ready, so that one in use
	// is an error of the command that asked for it.
	var tcp []net.Listener
	for _, addr := range o.listen {
		l, err := host.ListenTCP(addr, o.remote)
		if err != nil {
			return err
		}
		defer l.Close()
		tcp = append(tcp, l)
	}
	log.Info("host started", "version", version, "pid", os.Getpid(), "keeper", k.Pid())
	ready.ready()
	for _, l := range tcp {
		go h.Serve(ctx, l, host.TCP) //nolint:errcheck // ends with Run
	}
	err = h.Run(ctx, ln)
	log.Info("host ended", "err", err)
	return err
}

// connectKeeper reaches the user's keeper, starting one when none answers.
func connectKeeper(ctx context.Context, d dirs) (*keeper.Client, error) {
	path, err := d.socket(host.KeeperName)
	if err != nil {
		return nil, err
	}
	k, err := keeper.Dial(ctx, path)
	if err == nil {
		return k, nil
	}
	if !isNobodyThere(err) {
		return nil, fmt.Errorf("reach the keeper: %w", err)
	}
	if err := startBackground(d, "keeper"); err != nil {
		return nil, err
	}
	if k, err = keeper.Dial(ctx, path); err != nil {
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
