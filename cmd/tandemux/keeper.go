package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"tandemux/host/keeper"
	"tandemux/host/listen"
	"tandemux/internal/cli"
	"tandemux/internal/statefile"
)

// newKeeperCommand is the process that owns ptys and children; the host starts
// it. It is not for people.
func newKeeperCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "keeper",
		Short:  "Own the ptys and child processes (started by the host)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   cli.Did(func(*cobra.Command, []string) error { return runKeeper(findDirs()) }),
	}
}

// runKeeper ends on SIGTERM or when the host asks; a closed terminal or an
// interrupt must not take the shells along.
func runKeeper(d dirs) error {
	keeperTuning().apply()
	ready := inheritReadiness()
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := d.make(); err != nil {
		return ready.failed(err)
	}
	path, err := d.socket(listen.KeeperName)
	if err != nil {
		return ready.failed(err)
	}
	log, closeLog, err := openLog(d, "keeper.log")
	if err != nil {
		return ready.failed(err)
	}
	defer closeLog()
	rebind := rebinds()
	if _, err := takePlace(d.keeperPlace(), log); err != nil { // to the end
		return ready.failed(err)
	}
	ln, err := keeper.Listen(path)
	if err != nil {
		return ready.failed(err)
	}
	go follow(ctx, rebind, func() {
		if ln.Bound() {
			return
		}
		err := d.make()
		if err == nil {
			err = ln.Rebind()
		}
		log.Info("bound the socket anew, which was gone", "err", err)
	})
	// Before the first child: children are where their parent is.
	switch left, err := keeper.LeaveLogin(ctx); {
	case err != nil:
		log.Warn("systemd may end all terminals at logout; `tandemux doctor` says more", "err", err)
	case left:
		log.Info("left the login's cgroup, where systemd ends everything at logout")
	}
	ready.ready()
	return keeper.Serve(ctx, ln, log)
}

// maxLog is the size at which a log is begun anew, keeping one old file.
const maxLog = 4 << 20

// openLog opens a log in the state directory, 0600.
func openLog(d dirs, name string) (*slog.Logger, func(), error) {
	// Whoever uses only hosts elsewhere has no directory yet.
	if err := os.MkdirAll(d.state, 0o700); err != nil && !statefile.Unwritable(err) {
		return nil, nil, fmt.Errorf("make the directory of the log: %w", err)
	}
	path := filepath.Join(d.state, name)
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil && !statefile.Unwritable(err) {
			return nil, nil, fmt.Errorf("rotate the log: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if statefile.Unwritable(err) { // Terminals matter more than their log.
		return slog.New(slog.DiscardHandler), func() {}, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open the log: %w", err)
	}
	return slog.New(slog.NewTextHandler(f, nil)), func() { f.Close() }, nil
}
