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

// Main does the program's part in starting a sandbox's process, if its arguments say so; ours reports
// whether they do. It returns only if that fails, with the exit code. A program that is Spec.Program
// calls it first.
func Main(args []string) (code int, ours bool) {
	if len(args) < 2 {
		return 0, false
	}
	var err error
	switch args[1] {
	case outsideArg:
		runtime.LockOSThread() // exec keeps a thread's restrictions for the process
		code, err = failed, outside(args)
	case insideArg:
		code, err = inside(args)
	default:
		return 0, false
	}
	fmt.Fprintln(os.Stderr, "tandemux:", err)
	return code, true
}

// outside restricts this process and replaces it with bubblewrap.
func outside(args []string) error {
	p, env, err := readPlan(os.Environ())
	cut := slices.Index(args, "--")
	if err == nil && (cut < 0 || cut+1 == len(args)) {
		err = errors.New("there is no command")
	}
	if err != nil {
		return fmt.Errorf("start a sandbox: %w", err)
	}
	// A signal to the process group of a process inside must not reach the host's group.
	if unix.Getpgrp() != os.Getpid() {
		unix.Setpgid(0, 0) //nolint:errcheck // fails for the leader of a session, who has a group
	}
	if p.Detach {
		detach()
	}
	each := p.Limits
	switch {
	case each == (Limits{}):
		each.Processes = DefaultProcesses // a cgroup would cost each command as much as everything else
	case joinCgroup(p.Name, p.Limits, 0) == nil:
		each = Limits{}
	}
	options, err := p.options(env)
	if err != nil {
		return fmt.Errorf("start a sandbox: %w", err)
	}
	if !setuid(p.Bwrap) { // a setuid bwrap needs new privileges
		if err := scope(); err != nil && !errors.Is(err, unix.ENOSYS) {
			return fmt.Errorf("start a sandbox: %w", err)
		}
	}
	// These signals are for the command.
	signal.Ignore(passed...)
	argv := append([]string{
		"bwrap", "--args", strconv.Itoa(options), "--", program, insideArg,
		strconv.FormatInt(each.Memory, 10), strconv.Itoa(each.Processes), "--",
	}, args[cut+1:]...)
	return fmt.Errorf("start a sandbox: run %s: %w", p.Bwrap, unix.Exec(p.Bwrap, argv, nil))
}

// passed are the signals that bubblewrap must ignore, because they are for the command.
var passed = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGPIPE}

// readPlan returns the plan and the command's variables from an environment.
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

// options writes bubblewrap's options to a memory file for --args: nobody else can read it, and it may
// be as long as an environment. The descriptors stay open for bubblewrap, which closes them.
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

// memory returns the descriptor of a file in memory, open for the next program.
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

// detach gives up the controlling terminal without leaving the process group, so that a signal to the
// group still reaches the command.
func detach() {
	tty, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return
	}
	unix.IoctlSetInt(tty, unix.TIOCNOTTY, 0) //nolint:errcheck // fails without a controlling terminal
	unix.Close(tty)
}

func setuid(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&os.ModeSetuid != 0
}

// inside replaces this process with the command.
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

// lower sets a limit, not above the current one; 0 leaves it.
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

// heed restores a signal's default action. The Go runtime does not change signals that were ignored at
// its start.
func heed(sig syscall.Signal) {
	var standard [4]uint64                                                                // struct sigaction; zero is the default action
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), address(&standard), 0, 8, 0, 0) //nolint:errcheck // fails for no valid signal
}
