package git

import "syscall"

// dyingWithUs are attributes of a child in a group of its own that is killed when the
// thread that started it ends; that thread must not end before.
func dyingWithUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
