package agent

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Guarded calls a function of a provider, and returns a panic as an error.
func Guarded(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = Errorf(KindCrashed, "the agent's provider failed: %v", r)
		}
	}()
	return call()
}

// Opened is the result of Open.
type Opened struct {
	Session Session
	Err     error
}

// Open calls Provider.Open, guarded.
func Open(ctx context.Context, p Provider, spec Spec) (o Opened) {
	o.Err = Guarded(func() (err error) {
		o.Session, err = p.Open(ctx, spec)
		return err
	})
	if o.Err == nil && o.Session == nil {
		o.Err = Errorf(KindStart, "the agent's provider opened nothing")
	}
	return o
}

// Probe asks a provider how to log in before a session was opened, if it can tell; of others it
// returns Info.
func Probe(ctx context.Context, p Provider) (i Info, err error) {
	can, ok := p.(interface {
		Probe(ctx context.Context) (Info, error)
	})
	if !ok {
		return p.Info(), nil
	}
	err = Guarded(func() (err error) {
		i, err = can.Probe(ctx)
		return err
	})
	return i, err
}

// Confinement confines a session: its agent, its terminals, and the files that it asks the host for.
// The host has one for each session that names a sandbox, calls it before it starts anything, and
// starts nothing if that fails. Its methods may be called from any goroutine.
//
// A path has two views: the host's, which is where the file is, and the agent's, which is its name in
// the sandbox.
type Confinement interface {
	// Wrap returns what to start instead of l. On an error, which is written for the agent, the caller
	// must start nothing.
	Wrap(ctx context.Context, l Launch) (Launch, error)
	// Outside returns the host's view of an agent's absolute path, for reading or writing. The error
	// is a *Refusal if the path is not shared with the sandbox, or only for reading. The file need not
	// exist. Symbolic links are not resolved: whoever opens the file must do so beneath the session's
	// directories (Roots).
	Outside(path string, write bool) (string, error)
	// Inside returns the agent's view of a path of the host. One that is not shared is returned
	// unchanged.
	Inside(path string) string
}

// InsideSocket is the agent's view of Launch.Socket.
const InsideSocket = "/run/tandemux/host.sock"

// Launch describes a process to start for a session.
type Launch struct {
	// Argv is the command line. A name without a slash is looked up in Env's PATH, inside the sandbox.
	Argv []string
	// Env has variables to add, "K=V" each, none of them from the host's environment. Wrap adds those
	// of the sandbox, which Env overrides. Wrap returns the whole environment of the process; its
	// values are not repeated in Argv.
	Env []string
	// Dir is the working directory in the host's view. Wrap returns the directory in which to start
	// the process.
	Dir string
	// Socket is the session's socket of the host, in the host's view, or "". Wrap makes it reachable
	// in the sandbox as InsideSocket, also after a later host makes it anew, and sets TANDEMUX and
	// TANDEMUX_HOST to that.
	Socket string
	// Files are directories of the host that Argv and Env name by their paths. Wrap makes them
	// readable inside by the same paths.
	Files []string
	// Terminal says that the process gets its own pty as its controlling terminal, in a sandbox as
	// well. Otherwise the process has no access to its parent's terminal.
	Terminal bool
}

// LookPath looks a program up in the PATH of an environment, as the child would.
func LookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	path := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 && filepath.IsAbs(file) {
			return file, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}
