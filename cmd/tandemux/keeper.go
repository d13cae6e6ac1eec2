package main

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"tandemux/host/keeper"
	"tandemux/host/listen"
	"tandemux/internal/cli"
	"tandemux/internal/local"
)

// newKeeperCommand is the process that owns ptys and children; the host starts
// it. It is not for people.
func newKeeperCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "keeper",
		Short:  "Own the ptys and child processes (started by the host)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   cli.Did(func(*cobra.Command, []string) error { return runKeeper(local.FindDirs()) }),
	}
}

// runKeeper ends on SIGTERM or when the host asks; a closed terminal or an
// interrupt must not take the shells along.
func runKeeper(d local.Dirs) error {
	keeperTuning().apply()
	ready := local.InheritReadiness()
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := d.Make(); err != nil {
		return ready.Failed(err)
	}
	path, err := d.Socket(listen.KeeperName)
	if err != nil {
		return ready.Failed(err)
	}
	log, closeLog, err := d.OpenLog("keeper.log")
	if err != nil {
		return ready.Failed(err)
	}
	defer closeLog()
	rebind := local.Rebinds()
	if _, err := local.TakePlace(d.KeeperPlace(), log); err != nil { // to the end
		return ready.Failed(err)
	}
	ln, err := keeper.Listen(path)
	if err != nil {
		return ready.Failed(err)
	}
	go local.OnRebind(ctx, rebind, func() {
		if ln.Bound() {
			return
		}
		err := d.Make()
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
	ready.Ready()
	return keeper.Serve(ctx, ln, log)
}
