package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/host/agent"
)

// Paths inside a sandbox.
const (
	// Workspace is the directory of the task's files (U74).
	Workspace = "/workspace"
	// Home is the home directory.
	Home = "/root"
	// program is the host's program. runDir contains it and the socket.
	runDir    = "/run/tandemux"
	program   = runDir + "/tandemux"
	socketDir = runDir + "/socket"
)

// Spec describes a sandbox. Paths are absolute.
type Spec struct {
	// Name tells the sandbox from others of this user, for example the task's id: at most 64 letters,
	// digits, '-', '_' and '.'. Sandboxes with the same name share a cgroup.
	Name string
	// Workspace is the directory for /workspace. Write says whether it may be written to inside (U70).
	Workspace string
	Write     bool
	// Shares are other files and directories of the host, such as the task's .claude at /root/.claude
	// (U75).
	Shares []Share
	// Tmp is the directory for /tmp, for all of the sandbox's processes. Its owner makes and empties
	// it. If it is empty, or Code is below /tmp, each process has its own empty /tmp in memory (U76).
	Tmp string
	// Code are directories and files that can be read inside at the same paths: the agent, and what
	// runs it (U73). See the function Code.
	Code []string
	// Env has the variables to inject, "K=V" each, including secrets (U80).
	Env []string
	// NoNetwork cuts the network off (U77).
	NoNetwork bool
	Limits    Limits
	// Program is the host's program, which also runs inside.
	Program string
	// Hidden are directories that must not be visible inside, whatever is shared: the host's sockets
	// and state. Own are directories in them that may be shared: the task's.
	Hidden, Own []string
	// Bwrap is the bubblewrap program; empty means the one in PATH.
	Bwrap string
}

// Share is a file or directory of the host that is visible inside.
type Share struct {
	Outside, Inside string
	Write           bool
}

// Limits bounds what a sandbox uses; 0 means no limit, but see DefaultProcesses.
type Limits struct {
	// Memory in bytes: of all processes together with a cgroup, else of each process's data.
	Memory int64
	// Processes is the number of processes and threads: of all together with a cgroup, else of what
	// each command starts. Without a cgroup it does not limit root.
	Processes int
}

// DefaultProcesses limits what each command starts if no limits are given. It only stops fork bombs.
const DefaultProcesses = 4096

// ErrUnavailable is wrapped by errors that say why there can be no sandbox on this machine.
var ErrUnavailable = errors.New("sandbox unavailable")

const (
	maxName   = 64
	maxShares = 256
)

// check returns an error if the Spec is not possible, or would show what must not be visible.
func (s *Spec) check() error {
	switch {
	case s.Name == "" || len(s.Name) > maxName || strings.Trim(s.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" || s.Name[0] == '.':
		return fmt.Errorf("make a sandbox: the name %q: use up to %d letters, digits, '-', '_' and '.'", s.Name, maxName)
	case len(s.Shares) > maxShares || len(s.Code) > maxShares:
		return fmt.Errorf("make a sandbox: more than %d files and directories are shared", maxShares)
	case s.Limits.Memory < 0 || s.Limits.Processes < 0:
		return errors.New("make a sandbox: a limit is below 0")
	}
	all := s.mounts()
	for _, m := range all {
		if err := s.checkMount(m); err != nil {
			return fmt.Errorf("make a sandbox: %w", err)
		}
		for _, over := range all {
			if err := apart(m, over); err != nil {
				return fmt.Errorf("make a sandbox: %w", err)
			}
		}
	}
	return nil
}

// apart returns an error for what a process inside could redirect by a symbolic link before the next
// process starts: a source in a directory that is writable inside, and a mount point there that can be
// moved with a parent directory. A child of such a directory that is mounted read-only on itself can't
// be moved.
func apart(m, over Share) error {
	name := strings.TrimPrefix(m.Outside, over.Outside+"/")
	switch {
	case m == over || !over.Write:
		return nil
	case !m.Write && !strings.Contains(name, "/") && m.Inside == over.Inside+"/"+name:
		return nil
	case within(over.Outside, m.Outside):
		return fmt.Errorf("%s can't be shared at %s: it is in %s, which is written to inside", m.Outside, m.Inside, over.Outside)
	case m.Inside != over.Inside && within(over.Inside, m.Inside) && strings.Contains(strings.TrimPrefix(m.Inside, over.Inside+"/"), "/"):
		return fmt.Errorf("%s can't be shared at %s: that is deeper than one level in %s, which is written to inside", m.Outside, m.Inside, over.Inside)
	}
	return nil
}

// mounts returns all shares of the Spec, with the Code and the workspace.
func (s *Spec) mounts() []Share {
	all := []Share{{s.Workspace, Workspace, s.Write}}
	all = append(all, s.Shares...)
	if tmp := s.tmp(); tmp != "" {
		all = append(all, Share{tmp, "/tmp", true})
	}
	writable := slices.DeleteFunc(slices.Clone(all), func(m Share) bool { return !m.Write })
	for _, c := range s.Code {
		// What is in a shared directory is visible under its name there.
		shared := slices.ContainsFunc(writable, func(m Share) bool { return within(m.Outside, c) })
		if !systemic(c) && !shared {
			all = append(all, Share{c, c, false})
		}
	}
	return all
}

// tmp returns the directory for the shared /tmp, or "".
func (s *Spec) tmp() string {
	if slices.ContainsFunc(s.Code, func(c string) bool { return within("/tmp", c) }) {
		return ""
	}
	return s.Tmp
}

// reserved are paths at which nothing may be mounted.
var reserved = []string{"/proc", "/dev", "/sys", "/usr", "/etc", "/run/current-system", program, socketDir, agent.InsideSocket}

func (s *Spec) checkMount(m Share) error {
	for _, p := range []string{m.Outside, m.Inside} {
		if !filepath.IsAbs(p) || filepath.Clean(p) != p || strings.ContainsRune(p, 0) {
			return fmt.Errorf("%q is not an absolute path, or has . or .. in it", p)
		}
	}
	if m.Inside == "/" || m.Inside == Home || slices.ContainsFunc(reserved, func(r string) bool { return within(r, m.Inside) || within(m.Inside, r) }) {
		return fmt.Errorf("%s can't be shown at %s: that is the sandbox's own", m.Outside, m.Inside)
	}
	if _, err := os.Stat(m.Outside); err != nil {
		return fmt.Errorf("share %s: %w", m.Outside, errors.Unwrap(err))
	}
	real, err := filepath.EvalSymlinks(m.Outside)
	if err != nil {
		return fmt.Errorf("share %s: %w", m.Outside, err)
	}
	for _, hidden := range s.Hidden {
		hidden = resolved(hidden)
		if within(real, hidden) {
			return fmt.Errorf("%s can't be shared: %s is in it, from where everything else could be reached", m.Outside, hidden)
		}
		if within(hidden, real) && !slices.ContainsFunc(s.Own, func(own string) bool { return within(resolved(own), real) }) {
			return fmt.Errorf("%s can't be shared: it is in %s, which is the host's own", m.Outside, hidden)
		}
	}
	if real == "/" {
		return fmt.Errorf("%s can't be shared: it is everything", m.Outside)
	}
	return nil
}

// within reports whether a clean absolute path is dir or is below it.
func within(dir, path string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// resolved returns a path without symbolic links, or unchanged if it does not exist.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// plan tells the outer process what to do.
type plan struct {
	Name   string   `json:"name"`
	Bwrap  string   `json:"bwrap"`
	Args   []string `json:"args"` // without environment, descriptors and command
	Data   []data   `json:"data"`
	Limits Limits   `json:"limits"`
	// Detach makes it give up the controlling terminal.
	Detach bool `json:"detach"`
}

const (
	// planEnv is the environment variable with the plan. Nobody else can read the environment.
	planEnv = "TANDEMUX_SANDBOX_PLAN"
	// envMark is the prefix of the command's variables outside of the sandbox.
	envMark = "TANDEMUX_INSIDE_"
	// outsideArg and insideArg are the program's first arguments in the two calls.
	outsideArg = "sandbox-outside"
	insideArg  = "sandbox-inside"
)

// failed is the exit code if a sandbox could not be made. missing and refused are a shell's for a
// command that does not exist or is not executable.
const (
	failed  = 125
	refused = 126
	missing = 127
)
