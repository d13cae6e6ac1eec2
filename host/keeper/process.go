package keeper

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"tandemux/internal/daemon"
	"tandemux/internal/memtrim"
)

// Main is the keeper's process, and gives its exit code. It ends on SIGTERM or when the
// host asks; a closed terminal or an interrupt must not take the shells along.
func Main(d daemon.Dirs) int {
	memtrim.Idle()
	if err := run(d, daemon.InheritReadiness()); err != nil {
		fmt.Fprintln(os.Stderr, "tandemux keeper:", err)
		return 1
	}
	return 0
}

func run(d daemon.Dirs, ready daemon.Readiness) error {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := d.Make(); err != nil {
		return ready.Failed(err)
	}
	path, err := d.Socket(daemon.KeeperName)
	if err != nil {
		return ready.Failed(err)
	}
	log, closeLog, err := d.OpenLog("keeper.log")
	if err != nil {
		return ready.Failed(err)
	}
	defer closeLog()
	rebind := daemon.Rebinds()
	if _, err := daemon.TakePlace(d.KeeperPlace(), log); err != nil { // to the end
		return ready.Failed(err)
	}
	ln, err := Listen(path)
	if err != nil {
		return ready.Failed(err)
	}
	go daemon.OnRebind(ctx, rebind, func() {
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
	switch left, err := LeaveLogin(ctx); {
	case err != nil:
		log.Warn("systemd may end all terminals at logout; `tandemux doctor` says more", "err", err)
	case left:
		log.Info("left the login's cgroup, where systemd ends everything at logout")
	}
	ready.Ready()
	return Serve(ctx, ln, log)
}
