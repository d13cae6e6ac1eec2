package terminals

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/auth"
	"tandemux/host/params"
	"tandemux/internal/fileuri"
)

// Directory is the path of the working directory that a client asked for. cwd is a file URI,
// an absolute path, or "" for the user's home.
func (ts *Terminals) Directory(cwd ahp.URI) (string, error) {
	if cwd == "" {
		return ts.Home, nil
	}
	dir, ok := fileuri.Local(cwd, ts.Hostname)
	if !ok {
		return "", ahp.InvalidParams("create terminal: cwd: %q is not a file URI with an absolute path on this machine", params.Clip(cwd))
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", ahp.NotFound("create terminal: cwd: %v", err)
	}
	if !info.IsDir() {
		return "", ahp.NotFound("create terminal: cwd: %s is not a directory", dir)
	}
	return dir, nil
}

// confinementOf is the sandbox that a new terminal runs in: that of the claim's session, or of
// the session from whose sandbox the request comes. It returns that session and its
// directories too. The caller must not hold the lock.
func (ts *Terminals) confinementOf(p *auth.Principal, claim ahp.Claim) (k agent.Confinement, session ahp.URI, roots []string) {
	session = p.Sandbox
	if session == "" && claim.Kind == ahp.ClaimSession {
		session = claim.Session
	}
	if session == "" {
		return nil, "", nil
	}
	tx := ts.Core.Lock()
	defer tx.Unlock()
	if k, roots = ts.Host.Confined(tx, session); k == nil {
		return nil, "", nil
	}
	return k, session, roots
}

// startingDirectory is where a new terminal starts, in the host's view: beside another
// terminal, or where the client says. A client in a sandbox names paths as seen there.
func (ts *Terminals) startingDirectory(p *auth.Principal, k agent.Confinement, roots []string, cwd, beside ahp.URI) (string, error) {
	if k == nil {
		if beside != "" {
			if dir, found := ts.whereabouts(p, beside); found {
				return dir, nil
			}
		}
		return ts.Directory(cwd)
	}
	path, ok := fileuri.Local(cwd, ts.Hostname)
	if cwd != "" && !ok {
		return "", ahp.InvalidParams("create terminal: cwd: %q is not a file URI with an absolute path on this machine", params.Clip(cwd))
	}
	r, err := agent.NewRoots(roots)
	if err == nil && path != "" && p.Sandbox != "" {
		path, err = k.Outside(path, false)
	}
	dir := ""
	if err == nil {
		dir, err = r.Dir(path)
	}
	var refused *agent.Refusal
	switch {
	case err == nil:
		return dir, nil
	case errors.As(err, &refused):
		return "", ahp.PermissionDenied("create terminal: cwd: %s", refused.Text)
	}
	return "", ahp.NotFound("create terminal: cwd: %v", err)
}

// outside is the host's path of the first of dirs, as seen in a sandbox, that exists outside.
// The group leader of a command in a sandbox is the sandbox's own process, which has no
// directory.
func outside(k agent.Confinement, dirs ...string) (string, bool) {
	for _, dir := range dirs {
		if k == nil || dir == "" {
			continue
		}
		at, err := k.Outside(dir, false)
		if err != nil {
			continue
		}
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			return at, true
		}
	}
	return "", false
}

// whereabouts is the directory in which a terminal beside another one starts: the working
// directory of the other's foreground program, as people expect who split while a program
// runs. The path that the shell reported is used if it is the same directory (it may go
// through a symbolic link), or if the system does not tell the working directory.
func (ts *Terminals) whereabouts(p *auth.Principal, uri ahp.URI) (dir string, ok bool) {
	tx := ts.Core.Lock()
	t, ok := At(tx, uri)
	if !ok || !Reaches(tx, p, uri) {
		tx.Unlock()
		return "", false
	}
	told, _ := fileuri.Local(t.Value.Cwd, ts.Hostname)
	pid, exited := t.Meta.Pid, t.Value.Lifecycle.Exited()
	k, _ := ts.Host.Confined(tx, t.sandbox)
	inside := t.sandbox != ""
	tx.Unlock()
	if !exited {
		if fg := t.Term.Foreground(); fg > 0 {
			pid = fg
		}
		dir = workingDirectory(pid)
	}
	if inside { // the sandbox's paths mean something else outside
		return outside(k, dir, told)
	}
	if real, err := filepath.EvalSymlinks(told); told != "" && (dir == "" || err == nil && real == dir) {
		dir = told
	}
	info, err := os.Stat(dir)
	return dir, err == nil && info.IsDir()
}

// workingDirectory is the working directory of a process, "" without /proc.
func workingDirectory(pid int) string {
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}
