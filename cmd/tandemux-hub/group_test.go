package main

import (
	"os/exec"
	"syscall"
)

// group puts a shell and what it starts into a group of their own, which ends as one.
var group = &syscall.SysProcAttr{Setpgid: true}

func endGroup(cmd *exec.Cmd) {
	syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) //nolint:errcheck // it may have ended
	cmd.Wait()                                      //nolint:errcheck // it was ended
}
