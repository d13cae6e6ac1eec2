package keeper

import "golang.org/x/sys/unix"

// sealFiles marks every inherited descriptor but the standard three
// close-on-exec.
func sealFiles() error {
	for fd := 3; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
	return nil
}

// isStopped reports whether a process was stopped by a signal (SSTOP).
func isStopped(pid int) bool {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && p.Proc.P_stat == 4
}
