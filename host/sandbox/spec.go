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

// What is inside, by name.
const (
	// Workspace is where the task's files are (U74).
	Workspace = "/workspace"
	// Home is the home directory.
	Home = "/root"
	// program is the host's own, runDir where it and the socket are.
	runDir    = "/run/tandemux"
	program   = runDir + "/tandemux"
	socketDir = runDir + "/socket"
)

// Spec says what a sandbox holds. Paths are absolute.
type Spec struct {
	// Name tells the sandbox from others of this user's, such as the task's id:
	// letters, digits, '-', '_' and '.', 64 at most. Sandboxes of one name share a
	// cgroup.
	Name string
	// Workspace is the directory that is /workspace; Write says whether it may be
	// written to inside (U70).
	Workspace string
	Write     bool
	// Shares are more of the host's files and directories, such as the task's own
	// .claude at /root/.claude (U75).
	Shares []Share
	// Tmp is the directory that is /tmp for all of the sandbox's processes, for
	// whoever makes and empties it. Empty, or where Code lies below /tmp: each process
	// has an empty one of its own, in memory (U76).
	Tmp string
	// Code are directories and files that can be read inside by the same paths: the
	// agent, and what runs it (U73). See Code.
	Code []string
	// Env is what is injected, "K=V" each: secrets too (U80).
	Env []string
	// NoNetwork cuts the network (U77).
	NoNetwork bool
	Limits    Limits
	// Program is the host's own program, this one; it runs inside as well.
	Program string
	// Hidden are directories that must not be seen inside, whatever is shared: the
	// host's sockets and state. Own are the directories in them from which may be
	// shared: the task's.
	Hidden, Own []string
	// Bwrap is the bubblewrap program; empty: the one in PATH.
	Bwrap string
}

// Share is a file or directory of the host's inside.
type Share struct {
	Outside, Inside string
	Write           bool
}

// Limits bounds what a sandbox uses; 0 means no bound, but see DefaultProcesses.
type Limits struct {
	// Memory in bytes: of all processes together where a cgroup can be had, else of
	// each one's data.
	Memory int64
	// Processes and threads at once: of all together where a cgroup can be had, else
	// of what each command starts. Without a cgroup it binds nobody who is root.
	Processes int
}

// DefaultProcesses bounds what each command starts where no limits are given: that
// stops a bomb, and nothing else.
const DefaultProcesses = 4096

// ErrUnavailable wraps why there can be no sandbox on this machine.
var ErrUnavailable = errors.New("sandbox unavailable")

const (
	maxName   = 64
	maxShares = 256
)

// check refuses what can't be made, or would show what must not be seen.
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

// apart refuses what somebody inside could lead elsewhere by a symbolic link before
// the next process starts: a source in a directory that is writable inside, and a
// mount point there that can be moved away with a directory that holds it. A child of
// such a directory that is mounted on itself, to be read only, can't be moved.
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

// mounts are all of the Spec's, with the Code and the workspace.
func (s *Spec) mounts() []Share {
	all := []Share{{s.Workspace, Workspace, s.Write}}
	all = append(all, s.Shares...)
	if tmp := s.tmp(); tmp != "" {
		all = append(all, Share{tmp, "/tmp", true})
	}
	writable := slices.DeleteFunc(slices.Clone(all), func(m Share) bool { return !m.Write })
	for _, c := range s.Code {
		// What is in a shared directory has its name there.
		shared := slices.ContainsFunc(writable, func(m Share) bool { return within(m.Outside, c) })
		if !systemic(c) && !shared {
			all = append(all, Share{c, c, false})
		}
	}
	return all
}

// tmp is the shared /tmp, empty where there is none.
func (s *Spec) tmp() string {
	if slices.ContainsFunc(s.Code, func(c string) bool { return within("/tmp", c) }) {
		return ""
	}
	return s.Tmp
}

// reserved is where nothing may be mounted.
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

// within reports whether a clean absolute path is dir or lies in it.
func within(dir, path string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// resolved is a path without links, or as it is where it isn't there.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// plan is what the outer process does, as the host said it.
type plan struct {
	Name   string   `json:"name"`
	Bwrap  string   `json:"bwrap"`
	Args   []string `json:"args"` // without the environment, descriptors and the command
	Data   []data   `json:"data"`
	Limits Limits   `json:"limits"`
	// Detach gives up the controlling terminal.
	Detach bool `json:"detach"`
}

const (
	// planEnv is the variable that holds the plan. It is in the environment, as that
	// alone is nobody else's to read.
	planEnv = "TANDEMUX_SANDBOX_PLAN"
	// envMark begins the names of the command's variables until it is inside.
	envMark = "TANDEMUX_INSIDE_"
	// outsideArg and insideArg are the program's first argument in the two places.
	outsideArg = "sandbox-outside"
	insideArg  = "sandbox-inside"
)

// failed is the exit code of a sandbox that could not be made, and missing and
// refused are a shell's for a command that is not there or is no program.
const (
	failed  = 125
	refused = 126
	missing = 127
)
