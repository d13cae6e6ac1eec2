package keeper

import (
	"os"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"
)

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
		e := exitOf(c.info.ID, ws)
		c.info.Exit = &e
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
