package keeper

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// statOf are the fields of a process's /proc/PID/stat from the third, its state, on.
func statOf(pid int) []string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	// The second field is the program's name in parentheses, which may have any bytes.
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

// startOf is when a process began, the 22nd field, in clock ticks since the machine
// started; false when it does not run.
func startOf(pid int) (uint64, bool) {
	f := statOf(pid)
	if len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return 0, false
	}
	start, err := strconv.ParseUint(f[19], 10, 64)
	return start, err == nil
}

var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
})

// await waits without a thread: the runtime's poller watches the process.
func (i Identity) await(ctx context.Context) error {
	fd, err := unix.PidfdOpen(i.Pid, unix.PIDFD_NONBLOCK)
	switch {
	case err == unix.ESRCH:
		return nil
	case err != nil:
		return errors.ErrUnsupported
	}
	f := os.NewFile(uintptr(fd), "process "+strconv.Itoa(i.Pid))
	defer f.Close()
	defer context.AfterFunc(ctx, func() { f.Close() })()
	if !i.Alive() { // the descriptor is of another one
		return nil
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return errors.ErrUnsupported
	}
	err = raw.Read(func(fd uintptr) bool {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, 0)
		return err == nil && n == 1
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return errors.ErrUnsupported
	}
	return nil
}
