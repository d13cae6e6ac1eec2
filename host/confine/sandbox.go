package confine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/listen"
	"tandemux/host/params"
	"tandemux/internal/daemon"
)

// Sandbox is what a session with a sandbox is shut in with: an agent.Confinement
// that is got when it is needed first, so that a new host begins at once and asks
// for it before anything is started. Its methods may be called from any goroutine,
// without the lock.
// It implements agent.Confinement and sessions.Sandbox.
type Sandbox struct {
	o       *Options
	session ahp.URI
	sandbox string
	// socket is the session's own of ours; empty where it can't be made.
	socket string

	mu  sync.Mutex
	got agent.Confinement

	listener *daemon.Listener // at socket, while it is open; guarded by the sequencing lock
}

// Options are what sandboxes need of the host. The functions may be called from any
// goroutine.
type Options struct {
	Runtime string // the host's directory
	Shell   string // the directory of the shell integration's scripts
	Log     *slog.Logger
	// Make gives the confinement of a sandbox; nil for a host that has none.
	Make func(sandbox string) (agent.Confinement, error)
	// Serve serves those who connect to a listener, as who.
	Serve func(ln net.Listener, who *auth.Principal) error
	// HangUp ends the connections from a session's sandbox.
	HangUp func(tx core.Tx, session ahp.URI)
}

func New(o *Options, session ahp.URI, sandbox string) *Sandbox {
	return &Sandbox{o: o, session: session, sandbox: sandbox, socket: o.socket(session)}
}

func (k *Sandbox) Ready() error {
	_, err := k.get()
	return err
}

// get asks for the confinement unless there is one.
func (k *Sandbox) get() (agent.Confinement, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.got != nil {
		return k.got, nil
	}
	if k.o.Make == nil {
		return nil, &agent.Refusal{Text: fmt.Sprintf("nothing is started: this host can't make the sandbox %q that the session belongs in", params.Clip(k.sandbox))}
	}
	got, err := k.o.Make(k.sandbox)
	if err == nil && got == nil {
		err = errors.New("there is none")
	}
	if err != nil {
		return nil, &agent.Refusal{Text: fmt.Sprintf("nothing is started, as the sandbox %q can't be made: %v", params.Clip(k.sandbox), err)}
	}
	k.got = got
	return got, nil
}

func (k *Sandbox) Wrap(ctx context.Context, c agent.Launch) (agent.Launch, error) {
	got, err := k.get()
	if err != nil {
		return agent.Launch{}, err
	}
	c.Socket = k.socket
	if c.Terminal {
		c.Files = append(slices.Clip(c.Files), k.o.Shell)
	}
	return got.Wrap(ctx, c)
}

func (k *Sandbox) Outside(path string, write bool) (string, error) {
	got, err := k.get()
	if err != nil {
		return "", err
	}
	return got.Outside(path, write)
}

// Inside implements agent.Confinement. Without a confinement nothing is started
// that could be told a path.
func (k *Sandbox) Inside(path string) string {
	got, err := k.get()
	if err != nil {
		return path
	}
	return got.Inside(path)
}

// Servers are the host's MCP servers for an agent in a sandbox: nothing of the
// host's environment goes along, and what they reach is the session's own socket.
func (k *Sandbox) Servers(all []agent.Server) []agent.Server {
	var some []agent.Server
	for _, s := range all {
		if k.socket == "" {
			break
		}
		env := []agent.Var{{Name: "TANDEMUX_HOST", Value: "unix://" + agent.InsideSocket}}
		for _, v := range s.Env {
			if strings.HasPrefix(v.Name, "TANDEMUX_") && v.Name != "TANDEMUX_HOST" {
				env = append(env, v)
			}
		}
		s.Env, s.Program = env, true
		some = append(some, s)
	}
	return some
}

// Refused decides who may name a sandbox: the tasks of this host's own program.
func Refused(p *auth.Principal) string {
	if p.ID != tasksPrincipal {
		return "tandemux/sandbox is the host's own tasks' to give"
	}
	return ""
}

// tasksPrincipal is who makes tasks' sessions.
const tasksPrincipal = "service:tasks"

// socket is where a session's own socket is: in a directory of its own,
// which is what its sandbox gets to see, so that the next host's socket is found
// there as well. "" where the path would be too long.
func (o *Options) socket(session ahp.URI) string {
	sum := sha256.Sum256([]byte(session))
	path := filepath.Join(o.Runtime, sandboxDir, hex.EncodeToString(sum[:8]), listen.SocketName)
	if len(path) > listen.MaxSocketPath {
		o.Log.Warn("a sandbox can't reach the host: the socket's path is too long", "path", path)
		return ""
	}
	return path
}

// sandboxDir is the directory below Config.Runtime that holds sessions' sockets.
const sandboxDir = "s"

// Open listens on the session's own socket. Whoever connects there is in the
// session's sandbox, or as good as: a guest of the session's, which reaches nothing
// but what runs in there (terminals.Reaches).
func (k *Sandbox) Open(tx core.Tx) {
	if k.socket == "" {
		return
	}
	o := k.o
	var ln *daemon.Listener
	err := ownSessionDirectory(k.socket)
	if err == nil {
		ln, err = daemon.Listen(k.socket)
	}
	if err != nil {
		o.Log.Warn("a sandbox can't reach the host", "session", k.session, "err", err)
		return
	}
	k.listener = ln
	who := auth.InSandbox(k.session)
	go func() {
		if err := o.Serve(ln, who); err != nil {
			o.Log.Warn("serve a sandbox", "session", who.Sandbox, "err", err)
		}
	}()
}

func ownSessionDirectory(socket string) error {
	for _, dir := range []string{filepath.Dir(filepath.Dir(socket)), filepath.Dir(socket)} {
		if err := listen.OwnDirectory(dir); err != nil {
			return err
		}
	}
	return nil
}

// Rebind binds anew what had a socket in a runtime directory that was removed. What runs
// in the sandbox already still sees that directory.
func (k *Sandbox) Rebind(tx core.Tx) {
	if k.listener == nil || k.listener.Bound() {
		return
	}
	err := ownSessionDirectory(k.listener.Path())
	if err == nil {
		err = k.listener.Rebind()
	}
	if err != nil {
		k.o.Log.Warn("a sandbox can't reach the host", "session", k.session, "err", err)
	}
}

// Close ends what a disposed session's sandbox may still ask for.
func (k *Sandbox) Close(tx core.Tx) {
	if k.listener == nil {
		return
	}
	k.listener.Close()
	k.o.HangUp(tx, k.session)
	os.Remove(filepath.Dir(k.socket)) //nolint:errcheck // or it is left, empty
}
