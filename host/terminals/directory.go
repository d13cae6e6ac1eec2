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

// Directory is the working directory that a client asked for: a file URI, a
// plain absolute path, or nothing for the user's home.
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

// confinementOf is the confinement that a new terminal belongs in: of the session
// that it is for, or of the one whose sandbox asks; with that session and its
// directories. It is called without the lock.
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

// startingDirectory is where a new terminal starts, in the host's view: beside
// another one, or where the client says; who is in a sandbox says it as seen there.
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

// outside is the first of some directories, as seen in a sandbox, that is one outside.
// The leader of a command's group is the sandbox around it, which is nowhere.
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

// whereabouts is the directory that a new terminal beside another is started in:
// where the other's foreground program works, as people expect who split while
// something runs, or whose shell does not tell. What the shell told is used where
// it names the same place, as it may have come there by a link, and where the
// system does not say. Reading it costs nothing until it is asked for.
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
	if inside { // What it calls its directory means something else outside.
		return outside(k, dir, told)
	}
	if real, err := filepath.EvalSymlinks(told); told != "" && (dir == "" || err == nil && real == dir) {
		dir = told
	}
	info, err := os.Stat(dir)
	return dir, err == nil && info.IsDir()
}

// workingDirectory is a process's, "" where the system does not say: that takes
// /proc.
func workingDirectory(pid int) string {
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}
