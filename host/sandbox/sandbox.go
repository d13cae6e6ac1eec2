package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/host/agent"
)

// Sandbox is an agent.Confinement; see the package's documentation.
type Sandbox struct {
	spec   Spec
	bwrap  string
	mounts []Share // parents before their children
}

// New makes a sandbox. It starts nothing; Check says whether this machine can run one.
func New(s Spec) (*Sandbox, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	bwrap, err := findBwrap(s.Bwrap)
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(s.Program) {
		return nil, fmt.Errorf("make a sandbox: the program %q is not absolute", s.Program)
	}
	b := &Sandbox{spec: s, bwrap: bwrap, mounts: s.mounts()}
	slices.SortStableFunc(b.mounts, func(a, b Share) int {
		return cmp.Or(cmp.Compare(strings.Count(a.Inside, "/"), strings.Count(b.Inside, "/")), cmp.Compare(a.Inside, b.Inside))
	})
	b.mounts = slices.CompactFunc(b.mounts, func(a, b Share) bool { return a.Inside == b.Inside })
	return b, nil
}

func findBwrap(path string) (string, error) {
	path, err := exec.LookPath(cmp.Or(path, "bwrap"))
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", fmt.Errorf("%w: bubblewrap (bwrap) is not installed: install it (apt install bubblewrap, dnf install bubblewrap), or run without a sandbox (--no-sandbox)", ErrUnavailable)
	}
	return path, nil
}

func (b *Sandbox) Wrap(_ context.Context, l agent.Launch) (agent.Launch, error) {
	if len(l.Argv) == 0 || l.Argv[0] == "" {
		return l, &agent.Refusal{Text: "start in the sandbox: there is no command"}
	}
	args, err := b.arguments(l)
	if err != nil {
		return l, &agent.Refusal{Text: fmt.Sprintf("start in the sandbox: %v", err)}
	}
	p := plan{
		Bwrap: b.bwrap, Args: args, Data: identity(), Limits: b.spec.Limits, Name: b.spec.Name,
		Detach: !l.Terminal,
	}
	text, err := json.Marshal(p)
	if err != nil {
		return l, err
	}
	env := []string{planEnv + "=" + string(text)}
	for _, kv := range b.environ(l) {
		env = append(env, envMark+kv)
	}
	argv := slices.Clone(l.Argv)
	if filepath.IsAbs(argv[0]) && !b.shares(argv[0]) {
		argv[0] = b.Inside(argv[0])
	}
	return agent.Launch{
		Argv: append([]string{b.spec.Program, outsideArg, "--"}, argv...), Env: env, Dir: "/", Terminal: l.Terminal,
	}, nil
}

// environ returns the command's environment: the sandbox's own, overridden by what is injected and by
// what the host sets.
func (b *Sandbox) environ(l agent.Launch) []string {
	env := map[string]string{}
	put := func(list []string) {
		for _, kv := range list {
			if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
				env[name] = value
			}
		}
	}
	put(b.base())
	put(b.spec.Env)
	put(l.Env)
	delete(env, "TANDEMUX")
	delete(env, "TANDEMUX_HOST")
	env["PWD"] = b.Inside(l.Dir)
	if l.Socket != "" {
		env["TANDEMUX"], env["TANDEMUX_HOST"] = agent.InsideSocket, "unix://"+agent.InsideSocket
	}
	list := make([]string, 0, len(env))
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// language are the host's variables that a sandbox has, too: they only say how to write.
var language = []string{"LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_COLLATE", "LC_TIME", "LC_NUMERIC", "TZ"}

// base returns the environment that every sandbox has.
func (b *Sandbox) base() []string {
	path := []string{}
	for _, m := range b.mounts { // the agent's programs come first
		if m.Inside == m.Outside && !m.Write {
			for _, dir := range []string{m.Inside, filepath.Join(m.Inside, "bin")} {
				if info, err := os.Stat(dir); filepath.Base(dir) == "bin" && err == nil && info.IsDir() {
					path = append(path, dir)
				}
			}
		}
	}
	path = append(path, "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", runDir)
	env := []string{
		"PATH=" + strings.Join(path, ":"), "HOME=" + Home, "USER=" + userName(), "LOGNAME=" + userName(), "SHELL=" + shell(),
		"TMPDIR=/tmp", "CLAUDE_CONFIG_DIR=" + Home + "/.claude",
	}
	for _, name := range language {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// errReadOnly refuses writing to what is shared read-only.
var errReadOnly = &agent.Refusal{Text: "Access denied: the path can only be read in this sandbox"}

func (b *Sandbox) Outside(path string, write bool) (string, error) {
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", &agent.Refusal{Text: fmt.Sprintf("the path %q is not absolute", path)}
	}
	path = filepath.Clean(path)
	for _, m := range slices.Backward(b.mounts) {
		if within(m.Inside, path) {
			if write && !m.Write {
				return "", errReadOnly
			}
			return m.Outside + strings.TrimPrefix(path, m.Inside), nil
		}
	}
	return "", agent.ErrFileOutside
}

func (b *Sandbox) Inside(path string) string {
	if path == b.spec.Program {
		return program
	}
	best, inside := "", path
	for _, m := range b.mounts {
		if within(m.Outside, path) && len(m.Outside) > len(best) {
			best, inside = m.Outside, m.Inside+strings.TrimPrefix(path, m.Outside)
		}
	}
	return inside
}

// arguments returns bubblewrap's arguments, without environment, descriptors and command.
func (b *Sandbox) arguments(l agent.Launch) ([]string, error) {
	args := []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--cap-drop", "ALL",
	}
	if b.spec.NoNetwork {
		args = append(args, "--unshare-net")
	}
	args = append(args, system()...)
	args = append(args, "--dir", Home, "--tmpfs", Home, "--dir", "/tmp", "--dir", runDir)
	if b.spec.tmp() == "" {
		args = append(args, "--tmpfs", "/tmp")
	}
	args = append(args, "--dir", "/var", "--symlink", "/tmp", "/var/tmp", "--symlink", "/run", "/var/run")
	for _, m := range b.mounts {
		if err := b.settled(m); err != nil {
			return nil, err
		}
		how := "--ro-bind"
		if m.Write {
			how = "--bind"
		}
		args = append(args, how, m.Outside, m.Inside)
	}
	for _, dir := range l.Files {
		if _, err := os.Stat(dir); err == nil {
			args = append(args, "--ro-bind", dir, dir)
		}
	}
	args = append(args, "--ro-bind", b.spec.Program, program)
	if l.Socket != "" {
		args = append(args, "--ro-bind", filepath.Dir(l.Socket), socketDir)
		args = append(args, "--symlink", filepath.Base(socketDir)+"/"+filepath.Base(l.Socket), agent.InsideSocket)
	}
	dir := b.Inside(l.Dir)
	if dir == l.Dir && !b.shares(dir) {
		dir = Workspace
	}
	return append(args, "--remount-ro", "/", "--chdir", dir), nil
}

// shares reports whether a path in the agent's view is shared.
func (b *Sandbox) shares(path string) bool {
	_, err := b.Outside(path, false)
	return err == nil
}

// settled returns an error unless a mount point in a directory that is writable inside exists and has
// no link in its path. So bubblewrap makes nothing there.
func (b *Sandbox) settled(m Share) error {
	for _, over := range b.mounts {
		if !over.Write || over.Inside == m.Inside || !within(over.Inside, m.Inside) {
			continue
		}
		if err := noLinks(over.Outside, strings.TrimPrefix(m.Inside, over.Inside+"/")); err != nil {
			return fmt.Errorf("%s can't be mounted: %w", m.Inside, err)
		}
	}
	info, err := os.Lstat(m.Outside)
	if err != nil {
		return fmt.Errorf("%s is not there any more: %w", m.Outside, errors.Unwrap(err))
	}
	if m.Write && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link", m.Outside)
	}
	return nil
}

// noLinks returns an error unless a path below a directory exists and has no link in it.
func noLinks(dir, path string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	at := ""
	for part := range strings.SplitSeq(path, "/") {
		at = filepath.Join(at, part)
		info, err := root.Lstat(at)
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link", at)
		}
	}
	return nil
}

// Support says what this machine can do for a sandbox.
type Support struct {
	// Err, which wraps ErrUnavailable, says why there can be no sandbox and what to do; nil if there
	// can.
	Err error
	// Version is bubblewrap's version.
	Version string
	// Missing says in sentences which restrictions and limits this machine lacks.
	Missing []string
	// Cgroup says that limits apply to a cgroup, and not to each process.
	Cgroup bool
}
