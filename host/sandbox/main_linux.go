package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"tandemux/host/agent"

	"golang.org/x/sys/unix"
)

// Main is what the program does between a sandbox's processes, if its arguments say
// that it is one of those; it returns only when that fails, with the exit code. A
// program that Spec.Program names calls it first.
func Main(args []string) (code int, ours bool) {
	if len(args) < 2 {
		return 0, false
	}
	var err error
	switch args[1] {
	case outsideArg:
		runtime.LockOSThread() // What a thread may not, exec keeps for the process.
		code, err = failed, outside(args)
	case insideArg:
		code, err = inside(args)
	default:
		return 0, false
	}
	fmt.Fprintln(os.Stderr, "tandemux:", err)
	return code, true
}

// outside restricts itself and becomes bubblewrap.
func outside(args []string) error {
	p, env, err := readPlan(os.Environ())
	cut := slices.Index(args, "--")
	if err == nil && (cut < 0 || cut+1 == len(args)) {
		err = errors.New("there is no command")
	}
	if err != nil {
		return fmt.Errorf("start a sandbox: %w", err)
	}
	// What is done to the group of a process inside must not be done to the host's.
	if unix.Getpgrp() != os.Getpid() {
		unix.Setpgid(0, 0) //nolint:errcheck // the leader of a session has one
	}
	if p.Detach {
		detach()
	}
	each := p.Limits
	switch {
	case each == (Limits{}):
		each.Processes = DefaultProcesses // A cgroup would cost each command as much as the rest.
	case joinCgroup(p.Name, p.Limits, 0) == nil:
		each = Limits{}
	}
	options, err := p.options(env)
	if err != nil {
		return fmt.Errorf("start a sandbox: %w", err)
	}
	if !setuid(p.Bwrap) { // One that is needs new privileges.
		if err := scope(); err != nil && !errors.Is(err, unix.ENOSYS) {
			return fmt.Errorf("start a sandbox: %w", err)
		}
	}
	// What the terminal, or whoever ends it, says is for the command.
	signal.Ignore(passed...)
	argv := append([]string{
		"bwrap", "--args", strconv.Itoa(options), "--", program, insideArg,
		strconv.FormatInt(each.Memory, 10), strconv.Itoa(each.Processes), "--",
	}, args[cut+1:]...)
	return fmt.Errorf("start a sandbox: run %s: %w", p.Bwrap, unix.Exec(p.Bwrap, argv, nil))
}

// passed are the signals that are for the command.
var passed = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGPIPE}

// readPlan takes the plan and the command's variables from an environment.
func readPlan(environ []string) (p plan, env []string, err error) {
	found := false
	for _, kv := range environ {
		if text, ok := strings.CutPrefix(kv, planEnv+"="); ok {
			if err := json.Unmarshal([]byte(text), &p); err != nil {
				return p, nil, fmt.Errorf("read its plan: %w", err)
			}
			found = true
		} else if kv, ok := strings.CutPrefix(kv, envMark); ok {
			env = append(env, kv)
		}
	}
	if !found {
		err = errors.New("it is the host that starts them: there is no plan")
	}
	return p, env, err
}

// options puts bubblewrap's options where --args finds them: nobody else reads
// those, and they may be as long as an environment. The descriptors stay open for
// bubblewrap, which closes them.
func (p *plan) options(env []string) (fd int, err error) {
	var all []string
	filter, err := memory("seccomp", filter())
	if err != nil {
		return -1, err
	}
	all = append(all, "--seccomp", strconv.Itoa(filter))
	for _, d := range p.Data {
		fd, err := memory(d.Path, []byte(d.Text))
		if err != nil {
			return -1, err
		}
		all = append(all, "--perms", "0444", "--ro-bind-data", strconv.Itoa(fd), d.Path)
	}
	all = append(all, p.Args...)
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		all = append(all, "--setenv", name, value)
	}
	return memory("options", []byte(strings.Join(all, "\x00")+"\x00"))
}

// memory is a file that is nowhere, open for the next program.
func memory(name string, text []byte) (int, error) {
	fd, err := unix.MemfdCreate("tandemux "+name, 0)
	if err != nil {
		return -1, err
	}
	for rest := text; len(rest) > 0; {
		n, err := unix.Write(fd, rest)
		if err != nil {
			return -1, err
		}
		rest = rest[n:]
	}
	_, err = unix.Seek(fd, 0, 0)
	return fd, err
}

// detach gives up the controlling terminal without leaving the process group, so
// that what ends the group still reaches the command.
func detach() {
	tty, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return
	}
	unix.IoctlSetInt(tty, unix.TIOCNOTTY, 0) //nolint:errcheck // there is none then
	unix.Close(tty)
}

func setuid(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&os.ModeSetuid != 0
}

// inside becomes the command.
func inside(args []string) (code int, err error) {
	if len(args) < 6 || args[4] != "--" {
		return failed, errors.New("start in the sandbox: there is no command")
	}
	memory, err := strconv.ParseInt(args[2], 10, 64)
	processes, perr := strconv.ParseInt(args[3], 10, 64)
	if err = errors.Join(err, perr); err != nil {
		return failed, fmt.Errorf("start in the sandbox: %w", err)
	}
	for _, l := range []struct {
		what  int
		bound int64
	}{{unix.RLIMIT_DATA, memory}, {unix.RLIMIT_NPROC, processes}} {
		if err := lower(l.what, uint64(l.bound)); err != nil {
			return failed, fmt.Errorf("start in the sandbox: set its limits: %w", err)
		}
	}
	if err := unix.CloseRange(3, ^uint(0)>>33, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return failed, fmt.Errorf("start in the sandbox: close what is open: %w", err)
	}
	file, err := agent.LookPath(args[5], os.Environ())
	if err != nil {
		return missing, fmt.Errorf("%s: there is no such program in the sandbox's PATH", args[5])
	}
	if _, err := os.Stat(file); err != nil {
		return missing, fmt.Errorf("%s: there is no such file in the sandbox", file)
	}
	for _, sig := range passed {
		heed(sig.(syscall.Signal))
	}
	err = unix.Exec(file, args[5:], os.Environ())
	if errors.Is(err, unix.ENOENT) {
		return missing, fmt.Errorf("%s: its interpreter or loader is not in the sandbox", file)
	}
	return refused, fmt.Errorf("%s: %w", file, err)
}

// lower sets a limit that is not above the one in force; 0 is none.
func lower(what int, bound uint64) error {
	if bound == 0 {
		return nil
	}
	var now unix.Rlimit
	if err := unix.Getrlimit(what, &now); err != nil {
		return err
	}
	bound = min(bound, now.Max)
	return unix.Setrlimit(what, &unix.Rlimit{Cur: bound, Max: bound})
}

// heed makes a signal do what it does in a new program. The runtime leaves alone
// what was ignored when it started.
func heed(sig syscall.Signal) {
	var standard [4]uint64                                                                // struct sigaction: all zero is the default
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), address(&standard), 0, 8, 0, 0) //nolint:errcheck // it is a signal
}
