package local

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"tandemux/internal/daemon"
	"tandemux/internal/statefile"
)

// StartTime is how long a host may take to be ready, with all that it takes over.
var StartTime = 90 * time.Second

// TokenEnv holds a client's token, for the host that it asks. No host has it: agents and
// terminals have the host's environment.
const TokenEnv = "TANDEMUX_TOKEN"

func isToken(kv string) bool { return strings.HasPrefix(kv, TokenEnv+"=") }

// keeperEnv is how the Go runtime is set for a keeper, which does next to nothing, unless
// the user sets it otherwise: from the start, as it makes room for each processor.
var keeperEnv = []string{"GOMAXPROCS=1", "GOMEMLIMIT=16MiB"}

// Start starts a program that is given by an open file, nil for this one, with
// args in a session of its own and waits until it says it is ready. Its words on
// failure become the error.
func (d Dirs) Start(file *os.File, args ...string) error {
	self, err := Program()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	defer r.Close()
	stderr, err := statefile.Open(filepath.Join(d.State, "crash.log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if statefile.Unwritable(err) {
		stderr, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	if err != nil {
		w.Close()
		return fmt.Errorf("open the crash log: %w", err)
	}
	defer stderr.Close()
	cmd := exec.Command(self, args...)
	cmd.Args[0] = "tandemux"
	cmd.Dir = "/"
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isToken), daemon.ReadyEnv+"=3")
	if args[0] == "keeper" {
		cmd.Env = append(keeperEnv, cmd.Env...)
		small := filepath.Join(filepath.Dir(self), "tandemux-keeper")
		if info, err := os.Stat(small); file == nil && err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o100 != 0 {
			cmd.Path, cmd.Args = small, []string{"tandemux", "keeper", d.Runtime, d.State}
		}
	}
	cmd.ExtraFiles = []*os.File{w}
	if file != nil {
		cmd.Path = "/proc/self/fd/4"
		cmd.ExtraFiles = append(cmd.ExtraFiles, file)
	}
	cmd.Stderr = stderr // a Go panic's last words; logs go to the log file
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return fmt.Errorf("start tandemux %s: %w", args[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	r.SetReadDeadline(time.Now().Add(StartTime)) //nolint:errcheck // pipes have deadlines
	line, err := bufio.NewReader(io.LimitReader(r, 4096)).ReadString('\n')
	line = strings.TrimSpace(line)
	switch {
	case line == "ready":
		return nil
	case line != "":
		return errors.New(line)
	case errors.Is(err, os.ErrDeadlineExceeded):
		cmd.Process.Kill() //nolint:errcheck // it may just have ended
		return fmt.Errorf("tandemux %s was not ready within %v and was killed; see %s", args[0], StartTime, stderr.Name())
	case errors.Is(err, io.EOF):
		if exit, is := errors.AsType[*exec.ExitError](<-ended); is && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
			return fmt.Errorf("tandemux %s %w", args[0], ErrKilled)
		}
		return fmt.Errorf("tandemux %s ended before it was ready; see %s", args[0], stderr.Name())
	default:
		return fmt.Errorf("wait for tandemux %s: %w", args[0], err)
	}
}

// ErrKilled says that somebody killed what was being started.
var ErrKilled = errors.New("was killed before it was ready")
