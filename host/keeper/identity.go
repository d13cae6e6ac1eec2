package keeper

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// Identity tells a process from a later one with the same process id, also after a restart of the
// machine. The zero value is no process.
type Identity struct {
	Pid   int    `json:"pid"`
	Start uint64 `json:"start"` // when it began, in the system's own unit
	Boot  string `json:"boot"`  // the machine's boot id; empty if Start is absolute
}

// Identify is the identity of the running process with a process id, zero if there is none.
func Identify(pid int) Identity {
	start, ok := startOf(pid)
	if !ok {
		return Identity{}
	}
	return Identity{pid, start, bootID()}
}

// Alive reports whether the process still runs. A zombie does not.
func (i Identity) Alive() bool { return i.Pid > 0 && Identify(i.Pid) == i }

// Signal sends sig to the process's group and, unless it is zero, to the group other. It sends
// nothing if the process has ended.
func (i Identity) Signal(sig syscall.Signal, other int) error {
	if !i.Alive() {
		return nil
	}
	err := syscall.Kill(-i.Pid, sig)
	if other > 1 && other != i.Pid {
		err = errors.Join(err, syscall.Kill(-other, sig))
	}
	if errors.Is(err, syscall.ESRCH) {
		return nil // it ended just now
	}
	return err
}

// pollTime is how often Wait looks at a process, on systems that do not report its end.
const pollTime = time.Second

// Wait returns when the process, which need not be a child, has ended, or with ctx's error.
func (i Identity) Wait(ctx context.Context) error {
	err := i.await(ctx)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	for i.Alive() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// End ends a process that no keeper holds any more like a keeper does: SIGHUP and SIGTERM, after
// five seconds SIGKILL. It returns when the process has ended.
func (i Identity) End(ctx context.Context) error {
	for _, step := range endSteps {
		for _, sig := range step.signals {
			if err := i.Signal(sig, 0); err != nil {
				return fmt.Errorf("end process %d: %w", i.Pid, err)
			}
		}
		bounded, cancel := context.WithTimeout(ctx, step.wait)
		err := i.Wait(bounded)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("end process %d: it outlives SIGKILL", i.Pid)
}
