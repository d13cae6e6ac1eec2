package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// checkTime bounds Check.
const checkTime = 10 * time.Second

// Check tries out what a sandbox needs on this machine, with the bubblewrap at a path, or the one in
// PATH. It starts two short processes.
func Check(ctx context.Context, bwrap string) Support {
	var s Support
	path, err := findBwrap(bwrap)
	if err != nil {
		return Support{Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	late := func() error { // nothing is known about what this machine allows
		return fmt.Errorf("%w: %s has not made one in time (%w): try again when the machine has less to do", ErrUnavailable, path, ctx.Err())
	}
	version, err := exec.CommandContext(ctx, path, "--version").Output()
	switch {
	case err != nil && ctx.Err() != nil:
		return Support{Err: late()}
	case err != nil:
		return Support{Err: fmt.Errorf("%w: %s --version: %v: install bubblewrap anew", ErrUnavailable, path, err)}
	}
	s.Version = strings.TrimPrefix(strings.TrimSpace(string(version)), "bubblewrap ")
	args := append([]string{"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL"}, system()...)
	cmd := exec.CommandContext(ctx, path, append(args, "--", "/bin/sh", "-c", ":")...)
	cmd.Env = []string{}
	var said bytes.Buffer
	cmd.Stderr = &said
	err = cmd.Run()
	switch {
	case err != nil && ctx.Err() != nil:
		s.Err = late()
		return s
	case err != nil:
		line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		s.Err = fmt.Errorf("%w: %s can't make one here (%s)%s", ErrUnavailable, path, cmp.Or(line, err.Error()), whyNot())
		return s
	}
	if !scopes() {
		s.Missing = append(s.Missing, "the kernel lacks Landlock's scopes (Linux 6.12): with a shared network, abstract sockets of this machine can be reached from inside; network = \"none\" closes that")
	}
	if setuid(path) {
		s.Missing = append(s.Missing, "bubblewrap is setuid: Landlock's scopes can't be had with it")
	}
	s.Cgroup = canCgroup()
	if !s.Cgroup {
		missing := "no cgroup can be had: limits bind each process (memory) and each command (processes)"
		if os.Getuid() == 0 {
			missing += "; that of processes does not bind root"
		}
		s.Missing = append(s.Missing, missing)
	}
	return s
}

// whyNot guesses what forbids user namespaces, and says what to do.
func whyNot() string {
	for _, k := range []struct{ file, bad, advice string }{
		{"/proc/sys/user/max_user_namespaces", "0", "user namespaces are switched off: sysctl user.max_user_namespaces=10000"},
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "user namespaces are for root only: sysctl kernel.unprivileged_userns_clone=1"},
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "AppArmor forbids user namespaces to programs without a profile: allow them to bwrap by a profile in /etc/apparmor.d, or sysctl kernel.apparmor_restrict_unprivileged_userns=0"},
	} {
		text, err := os.ReadFile(k.file)
		if err == nil && strings.TrimSpace(string(text)) == k.bad && (os.Getuid() != 0 || k.bad == "0" && strings.Contains(k.file, "max_")) {
			return ": " + k.advice + "; without a sandbox: --no-sandbox"
		}
	}
	return ": it needs user namespaces, which a container may forbid; without a sandbox: --no-sandbox"
}

// canCgroup reports whether a process can be put into a cgroup.
func canCgroup() bool {
	cmd := exec.Command("/bin/sh", "-c", "read -r _")
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return false
	}
	defer cmd.Wait() //nolint:errcheck // it did nothing
	defer in.Close()
	return joinCgroup(fmt.Sprintf("check-%d", os.Getpid()), Limits{Memory: 1 << 40, Processes: 1 << 20}, cmd.Process.Pid) == nil
}
