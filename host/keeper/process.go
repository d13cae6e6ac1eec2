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

// Main is the keeper's process, and gives its exit code. It ends on SIGTERM or when the
// host asks; a closed terminal or an interrupt must not take the shells along.
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

// reapAll records the ends of children as SIGCHLD tells of them, until ended is
// closed. It looks at the keeper's own children only, one by one: a wait for
// any child would take those that others in the process wait for. One goroutine
// does it, as a thread that waits for each child would be most of the keeper's
// memory.
func (k *keeper) reapAll() {
	for range k.ended {
		k.reap()
	}
}

// lookAgain makes reapAll look, whether a signal comes or not. The caller may
// hold mu.
func (k *keeper) lookAgain() {
	select {
	case k.ended <- syscall.SIGCHLD:
	default: // it has yet to look
	}
}

// reap collects the children that have ended and tells the host.
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
	// A host that does not read must not hold up the reaping.
	go func() {
		for _, e := range exits {
			host.report(e)
		}
	}()
}

// collect reaps a child if it has ended. The caller holds mu: until then the
// child is a zombie, so that whoever holds mu and sees it unreaped may still
// signal its number.
func (k *keeper) collect(c *child) bool {
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(c.info.Pid, &ws, unix.WNOHANG, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil: // somebody else reaped it
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

// fence keeps a panic from taking the shells along: it costs what was being
// done, and a line in the log with its stack.
func (k *keeper) fence(doing string) {
	if r := recover(); r != nil {
		k.log.Error("panic", "doing", doing, "panic", r, "stack", string(debug.Stack()))
	}
}
