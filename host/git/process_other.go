//go:build !linux

package git

import (
	"syscall"
	"time"
)

// dyingWithUs are attributes of a child in a group of its own; the system can't end
// it when we die.
func dyingWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// booted is not known.
func booted() time.Time { return time.Time{} }
