//go:build !linux

package procgroup

import "syscall"

// Dying are attributes of a child in a group of its own; the system can't end it when we
// die.
func Dying() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
