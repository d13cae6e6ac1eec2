package agent

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Guarded calls a provider, and makes an error of its panic.
func Guarded(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = Errorf(KindCrashed, "the agent's provider failed: %v", r)
		}
	}()
	return call()
}

// Opened is what Open gave: a session, or why there is none.
type Opened struct {
	Session Session
	Err     error
}

// Open is Provider.Open, guarded.
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

// Probe asks a provider that can say it how to log in before a session was opened;
// others have told all that they know.
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

// Confinement shuts a session in: its agent, its terminals, and the files that
// it asks the host for. The host holds one for each session that names a sandbox,
// asks it before anything is started, and starts nothing when it fails. Its
// methods may be called from any goroutine.
//
// There are two views of a path: the host's, which is where a file is, and the
// agent's, which is what it is called inside.
type Confinement interface {
	// Wrap gives what to start in place of l. An error, fit for the agent to read,
	// means that nothing is started: never the command as it was.
	Wrap(ctx context.Context, l Launch) (Launch, error)
	// Outside is the host's view of an agent's absolute path, for reading or for
	// writing. It refuses (a *Refusal) what is not shared with the sandbox, or only
	// for reading; the file need not exist. It resolves no symbolic link: whoever
	// opens the file must do so beneath the session's directories (Roots).
	Outside(path string, write bool) (string, error)
	// Inside is the agent's view of a path of the host's; what is not shared is
	// given as it is.
	Inside(path string) string
}

// InsideSocket is the agent's view of Launch.Socket.
const InsideSocket = "/run/tandemux/host.sock"

// Launch is a process that is to be started for a session.
type Launch struct {
	// Argv is the command; a name without a slash is looked up in Env's PATH, inside.
	Argv []string
	// Env is what is injected, "K=V" each: nothing of the host's own environment.
	// Wrap adds what the sandbox has of its own, over which Env wins. What Wrap gives
	// is the whole environment to start with; values in it are not repeated in Argv.
	Env []string
	// Dir is the working directory in the host's view. Wrap gives where the process
	// is to be started.
	Dir string
	// Socket is the session's own socket of the host's, in the host's view: Wrap
	// makes it reachable inside as InsideSocket, also when a next host makes it anew,
	// and says so by TANDEMUX and TANDEMUX_HOST. Empty: there is none.
	Socket string
	// Files are directories of the host's that Argv and Env name by their paths there:
	// Wrap makes them readable inside, by the same paths.
	Files []string
	// Terminal says that the process gets a pty of its own, which is its controlling
	// terminal inside as well. Without it, the process is cut off from whatever
	// terminal its parent has.
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
