package procgroup

import "syscall"

// Dying are attributes of a child in a group of its own that gets SIGTERM when the
// thread that started it ends; that thread must not end before.
func Dying() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
