package keeper

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"

	"tandemux/internal/daemon"
	"tandemux/internal/memtrim"
)

// Main is the keeper's process, and returns its exit code. It ends on SIGTERM or when the host asks.
// It survives SIGHUP and SIGINT, which must not end the shells.
func Main(d daemon.Dirs) int {
	memtrim.Rest()
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
	// Before the first child, as children inherit the cgroup.
	switch left, err := LeaveLogin(ctx); {
	case err != nil:
		log.Warn("systemd may end all terminals at logout; `tandemux doctor` says more", "err", err)
	case left:
		log.Info("left the login's cgroup, where systemd ends everything at logout")
	}
	ready.Ready()
	return Serve(ctx, ln, log)
}

// reapAll reaps children on each SIGCHLD, until ended is closed. It waits for the keeper's own
// children one by one: a wait for any child would reap those that other code in the process waits
// for. It is one goroutine, since a waiting thread for each child would take most of the keeper's
// memory.
func (k *keeper) reapAll() {
	for range k.ended {
		k.reap()
	}
}

// lookAgain makes reapAll look for ended children without a signal. The caller may hold mu.
func (k *keeper) lookAgain() {
	select {
	case k.ended <- syscall.SIGCHLD:
	default: // it is about to look
	}
}

// reap reaps the children that have ended and reports them to the host.
func (k *keeper) reap() {
	defer k.fence("reap children")
	k.mu.Lock()
	host := k.host
	var exits []Exit
	for _, c := range k.children {
		if c == nil || c.info.Exit != nil || !k.collect(c) {
			continue
		}
		if c.dropped {
			k.remove(c)
		} else {
			exits = append(exits, *c.info.Exit)
		}
		close(c.ended)
	}
	k.mu.Unlock()
	if host == nil || len(exits) == 0 {
		return
	}
	// A host that does not read must not delay the reaping.
	go func() {
		for _, e := range exits {
			host.report(e)
		}
	}()
}

// collect reaps a child if it has ended. The caller holds mu. Until it is reaped a child is a
// zombie, so a goroutine that holds mu may signal the process id of a child that is not reaped.
func (k *keeper) collect(c *child) bool {
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(c.info.Pid, &ws, unix.WNOHANG, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil: // other code has reaped it
			k.log.Error("wait for a child", "id", c.info.ID, "err", os.NewSyscallError("wait4", err))
			c.info.Exit = &Exit{ID: c.info.ID, Code: 255, Unknown: true}
			return true
		case pid == 0:
			return false
		}
		c.info.Exit = new(exitOf(c.info.ID, ws))
		return true
	}
}

// fence recovers from a panic, which must not end the shells, and logs it with its stack. What was
// being done is lost.
func (k *keeper) fence(doing string) {
	if r := recover(); r != nil {
		k.log.Error("panic", "doing", doing, "panic", r, "stack", string(debug.Stack()))
	}
}
