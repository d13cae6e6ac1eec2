package keeper

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"
)

// zombie is a process's state (SZOMB) once it has ended.
const zombie = 5

// startOf is when a process began, in microseconds since 1970; false when it does
// not run.
func startOf(pid int) (uint64, bool) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(p.Proc.P_pid) != pid || p.Proc.P_stat == zombie {
		return 0, false
	}
	return uint64(p.Proc.P_starttime.Sec)*1e6 + uint64(p.Proc.P_starttime.Usec), true
}

func bootID() string { return "" }

func (i Identity) await(context.Context) error { return errors.ErrUnsupported }
