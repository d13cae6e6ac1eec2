//go:build !linux

package git

import "syscall"

// dyingWithUs are attributes of a child in a group of its own; the system can't kill
// it when we die.
func dyingWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
