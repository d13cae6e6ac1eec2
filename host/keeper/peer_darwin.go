package keeper

import "golang.org/x/sys/unix"

// isStopped reports whether a process was stopped by a signal (SSTOP).
func isStopped(pid int) bool {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && p.Proc.P_stat == 4
}
