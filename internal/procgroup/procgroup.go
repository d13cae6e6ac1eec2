package procgroup

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// Watcher is the process beside a group.
type Watcher struct {
	cmd  *exec.Cmd
	stop *os.File
}

const script = `trap '' HUP INT QUIT
read -r _
kill -s TERM -- "-$1" || exit
i=0
while kill -s 0 -- "-$1" && [ $i -lt 30 ]; do sleep 0.1; i=$((i+1)); done
kill -s KILL -- "-$1"`

// Watch arranges for a process group to get SIGTERM when this process dies, and
// SIGKILL three seconds later.
func Watch(group int) (*Watcher, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", script, "tandemux-agent-watcher", strconv.Itoa(group))
	cmd.Stdin, cmd.Dir = r, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, err
	}
	return &Watcher{cmd, w}, nil
}

// Release ends the watcher and leaves the group alone. The Watcher may be nil.
func (w *Watcher) Release() {
	if w == nil {
		return
	}
	w.cmd.Process.Kill() //nolint:errcheck // it may have ended
	w.cmd.Wait()         //nolint:errcheck // killed
	w.stop.Close()
}

// How says in words how a process ended of which Wait gave an error, or none.
func How(err error) string {
	exit, is := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return "exit code 0"
	case !is:
		return err.Error()
	}
	if s := exit.Sys().(syscall.WaitStatus); s.Signaled() {
		return "signal " + s.Signal().String()
	}
	return "exit code " + strconv.Itoa(exit.ExitCode())
}
