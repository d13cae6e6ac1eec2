package keeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"
)

// systemd's logind ends what is left in a login's cgroup when the person logs
// out, if KillUserProcesses is on: signals can be ignored, this can't. Without
// root there is one way out, the person's own service manager, which lives as
// long as any login of theirs does, and for good when lingering is allowed. A
// process that logind leaves alone stays where it is: the manager ends with the
// last login, and everything in it.

const (
	logind      = "org.freedesktop.login1"
	logindPath  = "/org/freedesktop/login1"
	systemd     = "org.freedesktop.systemd1"
	systemdPath = "/org/freedesktop/systemd1"
	busTime     = 2 * time.Second // for each question
)

// login is what this machine does with processes at logout.
type login struct {
	bus    func(ctx context.Context, args ...string) (string, error)
	cgroup func(pid int) (string, error)
	uid    int
	name   string // the person's
}

// thisLogin is nil where systemd does not run.
func thisLogin() *login {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return nil
	}
	l := &login{uid: os.Getuid(), bus: busctl, cgroup: func(pid int) (string, error) {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
		return string(text), err
	}}
	if u, err := user.LookupId(strconv.Itoa(l.uid)); err == nil {
		l.name = u.Username
	}
	return l
}

// busctl asks over D-Bus with systemd's own tool.
func busctl(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, busTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, "busctl", args...).Output()
	if ee, is := errors.AsType[*exec.ExitError](err); is {
		return "", fmt.Errorf("busctl %s: %s", args[len(args)-1], strings.TrimSpace(string(ee.Stderr)))
	}
	return string(out), err
}

// LeaveLogin moves this process out of its login's cgroup if systemd would kill
// it there at logout. It needs no root; it does nothing, and left is false,
// where nothing threatens. To be called by the keeper's process before Serve:
// the children follow their parent. An error is worth a line in the log, not a
// refusal to start.
func LeaveLogin(ctx context.Context) (left bool, err error) {
	l := thisLogin()
	if l == nil {
		return false, nil
	}
	return l.leave(ctx, os.Getpid())
}

func (l *login) leave(ctx context.Context, pid int) (bool, error) {
	where, err := l.cgroup(pid)
	if err != nil || !inLogin(where) {
		return false, err
	}
	kills, err := l.kills(ctx)
	if err != nil || !kills {
		return false, err
	}
	unit := fmt.Sprintf("tandemux-keeper-%d.scope", pid)
	if _, err := l.bus(ctx, "--user", "call", systemd, systemdPath, systemd+".Manager", "StartTransientUnit",
		"ssa(sv)a(sa(sv))", unit, "fail", "1", "PIDs", "au", "1", strconv.Itoa(pid), "0"); err != nil {
		return false, fmt.Errorf("leave the login's cgroup: %w", err)
	}
	// The answer says that the job is queued.
	deadline := time.Now().Add(busTime)
	for {
		if where, err = l.cgroup(pid); err != nil || strings.Contains(where, unit) {
			return err == nil, err
		}
		if time.Now().After(deadline) {
			return false, fmt.Errorf("leave the login's cgroup: still in %s after %v", strings.TrimSpace(where), busTime)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// inLogin reports that a process's cgroup is that of a login. The file has a
// line for each hierarchy: 0 is the unified one, name=systemd the old one.
func inLogin(cgroup string) bool {
	for line := range strings.Lines(cgroup) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 || f[0] != "0" && f[1] != "name=systemd" {
			continue
		}
		for part := range strings.SplitSeq(f[2], "/") {
			if strings.HasPrefix(part, "session-") && strings.HasSuffix(part, ".scope") {
				return true
			}
		}
	}
	return false
}

// kills reports whether logind ends this person's processes at logout.
func (l *login) kills(ctx context.Context) (bool, error) {
	out, err := l.bus(ctx, "--system", "get-property", logind, logindPath, logind+".Manager",
		"KillUserProcesses", "KillOnlyUsers", "KillExcludeUsers")
	if err != nil {
		return false, fmt.Errorf("ask what logind does at logout: %w", err)
	}
	// One line for each: b true, as 0, as 1 "root".
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 {
		return false, fmt.Errorf("ask what logind does at logout: unexpected answer %q", out)
	}
	only, except := quoted(lines[1]), quoted(lines[2])
	return lines[0] == "b true" && !slices.Contains(except, l.name) &&
		(len(only) == 0 || slices.Contains(only, l.name)), nil
}

func quoted(line string) (all []string) {
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			all = append(all, part)
		}
	}
	return all
}

// lingers reports whether the person's service manager outlives their logins.
func (l *login) lingers(ctx context.Context) (bool, error) {
	// A bus path may not have a digit first in a part: it is escaped.
	uid := strconv.Itoa(l.uid)
	out, err := l.bus(ctx, "--system", "get-property", logind,
		fmt.Sprintf("%s/user/_%x%s", logindPath, uid[0], uid[1:]), logind+".User", "Linger")
	if err != nil {
		return false, fmt.Errorf("ask whether you may linger: %w", err)
	}
	return strings.TrimSpace(out) == "b true", nil
}

// CheckLogout says, for `tandemux doctor`, whether terminals outlive the logout; ok
// is false when they don't, or it can't be told, and detail then says what to
// do. pid is the keeper's, 0 when none runs.
func CheckLogout(ctx context.Context, pid int) (ok bool, detail string) {
	return thisLogin().check(ctx, pid)
}

func (l *login) check(ctx context.Context, pid int) (ok bool, detail string) {
	if l == nil {
		return true, "there is no systemd, so nothing ends terminals at logout"
	}
	kills, err := l.kills(ctx)
	if err != nil {
		return false, fmt.Sprintf("%v; if terminals end when you log out, run `loginctl enable-linger`", err)
	}
	lingers, err := l.lingers(ctx)
	switch {
	case !kills && err == nil && !lingers:
		return true, "systemd leaves processes alone at logout; it removes the runtime directory at the last one, and host and keeper make theirs anew when you are back"
	case !kills:
		return true, "systemd leaves processes alone at logout"
	case err != nil:
		return false, err.Error()
	case !lingers:
		return false, "systemd ends your processes at logout, terminals too: run `loginctl enable-linger` to keep them"
	case pid <= 0:
		return true, "systemd ends processes at logout, but you may linger: the keeper will start outside of the login"
	}
	where, err := l.cgroup(pid)
	switch {
	case err != nil:
		return false, fmt.Sprintf("find the keeper's cgroup: %v", err)
	case inLogin(where):
		return false, "systemd ends the keeper, and all terminals, when you log out of the login that started it: `tandemux stop` and start again; keeper.log says why it could not leave"
	}
	return true, "terminals outlive the logout: the keeper is outside of the login, and you may linger"
}
