package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/front"
	"tandemux/host/listen"
	"tandemux/host/params"
	"tandemux/host/sessions"
	"tandemux/internal/daemon"
	"tandemux/internal/fileuri"
	"tandemux/internal/jsonrpc"
)

// confined is what a session with a sandbox is shut in with: an agent.Confinement
// that is got when it is needed first, so that a new host begins at once and asks
// for it before anything is started. Its methods may be called from any goroutine,
// without the lock.
type confined struct {
	h       *Host
	session ahp.URI
	sandbox string
	// socket is the session's own of ours; empty where it can't be made.
	socket string
	// shell is where the scripts of the shell integration are.
	shell string

	mu  sync.Mutex
	got agent.Confinement

	listener *daemon.Listener // at socket, while it is open; guarded by the sequencing lock
}

// confine makes a session's confinement.
func (h *Host) confine(session ahp.URI, sandbox string) sessions.Sandbox {
	return &confined{h: h, session: session, sandbox: sandbox, socket: h.sessionSocket(session), shell: filepath.Join(h.cfg.Runtime, ShellDir)}
}

// Ready implements sessions.Sandbox.
func (k *confined) Ready() error {
	_, err := k.get()
	return err
}

// get asks for the confinement unless there is one.
func (k *confined) get() (agent.Confinement, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.got != nil {
		return k.got, nil
	}
	if k.h.cfg.Confine == nil {
		return nil, &agent.Refusal{Text: fmt.Sprintf("nothing is started: this host can't make the sandbox %q that the session belongs in", params.Clip(k.sandbox))}
	}
	got, err := k.h.cfg.Confine(k.sandbox)
	if err == nil && got == nil {
		err = errors.New("there is none")
	}
	if err != nil {
		return nil, &agent.Refusal{Text: fmt.Sprintf("nothing is started, as the sandbox %q can't be made: %v", params.Clip(k.sandbox), err)}
	}
	k.got = got
	return got, nil
}

// Wrap implements agent.Confinement.
func (k *confined) Wrap(ctx context.Context, c agent.Launch) (agent.Launch, error) {
	got, err := k.get()
	if err != nil {
		return agent.Launch{}, err
	}
	c.Socket = k.socket
	if c.Terminal {
		c.Files = append(slices.Clip(c.Files), k.shell)
	}
	return got.Wrap(ctx, c)
}

// Outside implements agent.Confinement.
func (k *confined) Outside(path string, write bool) (string, error) {
	got, err := k.get()
	if err != nil {
		return "", err
	}
	return got.Outside(path, write)
}

// Inside implements agent.Confinement. Without a confinement nothing is started
// that could be told a path.
func (k *confined) Inside(path string) string {
	got, err := k.get()
	if err != nil {
		return path
	}
	return got.Inside(path)
}

// directory is the host's view of a directory of the session's, "" being the first;
// who is inside names it as it is seen there.
func (k *confined) directory(p *auth.Principal, roots []string, path string) (string, error) {
	r, err := agent.NewRoots(roots)
	if err != nil {
		return "", err
	}
	if path != "" && p.Sandbox != "" {
		if path, err = k.Outside(path, false); err != nil {
			return "", err
		}
	}
	return r.Dir(path)
}

// wrap makes of a plan what the keeper starts.
func (k *confined) wrap(ctx context.Context, pl *plan) error {
	if k == nil {
		return nil
	}
	c, err := k.Wrap(ctx, agent.Launch{Argv: pl.spec.Argv, Env: pl.spec.Env, Dir: pl.dir, Terminal: true})
	if err != nil {
		return err
	}
	pl.spec.Argv, pl.spec.Env, pl.spec.Dir = c.Argv, c.Env, c.Dir
	return nil
}

// inside is Inside for a terminal that may be confined.
func (k *confined) inside(path string) string {
	if k == nil {
		return path
	}
	return k.Inside(path)
}

// whereabouts is the first of some directories, as seen inside, that is one outside.
// The leader of a command's group is the sandbox around it, which is nowhere.
func (k *confined) whereabouts(dirs ...string) (string, bool) {
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

// insideFiles are an agent's files by the names that they have in its sandbox.
type insideFiles struct {
	k     *confined
	roots *agent.Roots
}

// Read implements agent.Files.
func (f *insideFiles) Read(ctx context.Context, path string, line, limit int) (string, error) {
	at, err := f.k.Outside(path, false)
	if err != nil {
		return "", err
	}
	text, err := f.roots.Read(ctx, at, line, limit)
	return text, asSeen(err, at, path)
}

// Write implements agent.Files.
func (f *insideFiles) Write(ctx context.Context, path, content string) error {
	at, err := f.k.Outside(path, true)
	if err != nil {
		return err
	}
	return asSeen(f.roots.Write(ctx, at, content), at, path)
}

// asSeen is an error about a file in the words of who calls it by another path: where
// it is outside is not theirs to know.
func asSeen(err error, outside, inside string) error {
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return err // The agent is told of its own path.
	case strings.Contains(err.Error(), outside):
		return &agent.Refusal{Text: strings.ReplaceAll(err.Error(), outside, inside)}
	case strings.Contains(err.Error(), filepath.Dir(outside)):
		return &agent.Refusal{Text: inside + ": it can't be read or written"}
	}
	return err
}

// serversInside are the host's MCP servers for an agent in a sandbox: nothing of the
// host's environment goes along, and what they reach is the session's own socket.
// Servers that are reached by a URL are left out: the host's may know other secrets.
func (h *Host) serversInside(k *confined, all []agent.Server) []agent.Server {
	var some []agent.Server
	for _, s := range all {
		if s.URL != "" || k.socket == "" {
			continue
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

// startingDirectory is where a new terminal starts, in the host's view: beside
// another one, or where the client says; who is in a sandbox says it as seen there.
func (h *Host) startingDirectory(p *auth.Principal, k *confined, roots []string, cwd, beside ahp.URI) (string, error) {
	if k == nil {
		if beside != "" {
			if dir, found := h.whereabouts(p, beside); found {
				return dir, nil
			}
		}
		return h.directory(cwd)
	}
	path, ok := fileuri.Local(cwd, h.hostname)
	if cwd != "" && !ok {
		return "", ahp.InvalidParams("create terminal: cwd: %q is not a file URI with an absolute path on this machine", params.Clip(cwd))
	}
	dir, err := k.directory(p, roots, path)
	var refused *agent.Refusal
	switch {
	case err == nil:
		return dir, nil
	case errors.As(err, &refused):
		return "", ahp.PermissionDenied("create terminal: cwd: %s", refused.Text)
	}
	return "", ahp.NotFound("create terminal: cwd: %v", err)
}

// mayConfine decides who may name a sandbox: the tasks of this host's own program.
func mayConfine(p *auth.Principal) string {
	if p.ID != tasksPrincipal {
		return "tandemux/sandbox is the host's own tasks' to give"
	}
	return ""
}

// tasksPrincipal is who makes tasks' sessions.
const tasksPrincipal = "service:tasks"

// confinementOf is the confinement that a new terminal belongs in: of the session
// that it is for, or of the one whose sandbox asks. The caller holds no lock.
func (h *Host) confinementOf(p *auth.Principal, claim ahp.Claim) (k *confined, session ahp.URI, roots []string) {
	if p.Sandbox == "" && claim.Kind != ahp.ClaimSession {
		return nil, "", nil
	}
	session = claim.Session
	if p.Sandbox != "" {
		session = p.Sandbox
	}
	tx := h.core.Lock()
	defer tx.Unlock()
	b, roots := h.sessions.Confined(tx, session)
	if k, ok := b.(*confined); ok {
		return k, session, roots
	}
	return nil, "", nil
}

// sessionSocket is where a session's own socket is: in a directory of its own,
// which is what its sandbox gets to see, so that the next host's socket is found
// there as well. "" where the path would be too long.
func (h *Host) sessionSocket(session ahp.URI) string {
	sum := sha256.Sum256([]byte(session))
	path := filepath.Join(h.cfg.Runtime, sandboxDir, hex.EncodeToString(sum[:8]), listen.SocketName)
	if len(path) > listen.MaxSocketPath {
		h.log.Warn("a sandbox can't reach the host: the socket's path is too long", "path", path)
		return ""
	}
	return path
}

// sandboxDir is the directory below Config.Runtime that holds sessions' sockets.
const sandboxDir = "s"

// Open listens on the session's own socket. Whoever connects there is in the
// session's sandbox, or as good as: a guest of the session's, which reaches nothing
// but what runs in there (confine.go).
func (k *confined) Open(tx core.Tx) {
	if k.socket == "" {
		return
	}
	h := k.h
	ln, err := listenConfined(k.socket)
	if err != nil {
		h.log.Warn("a sandbox can't reach the host", "session", k.session, "err", err)
		return
	}
	k.listener = ln
	who := auth.InSandbox(k.session)
	go func() {
		if err := h.front.ServeAs(context.Background(), ln, front.Unix, who); err != nil {
			h.log.Warn("serve a sandbox", "session", who.Sandbox, "err", err)
		}
	}()
}

func listenConfined(path string) (*daemon.Listener, error) {
	if err := ownSessionDirectory(path); err != nil {
		return nil, err
	}
	return daemon.Listen(path)
}

func ownSessionDirectory(socket string) error {
	for _, dir := range []string{filepath.Dir(filepath.Dir(socket)), filepath.Dir(socket)} {
		if err := listen.OwnDirectory(dir); err != nil {
			return err
		}
	}
	return nil
}

// Rebound binds anew what else had a socket in the runtime directory, after
// Socket.Rebind. What runs in a sandbox already still sees the directory that was
// removed.
func (h *Host) Rebound() {
	tx := h.core.Lock()
	defer tx.Unlock()
	h.roster.Forget()
	h.enroll(tx)
	for _, b := range h.sessions.Sandboxes(tx) {
		k, ok := b.(*confined)
		if !ok || k.listener == nil || k.listener.Bound() {
			continue
		}
		err := ownSessionDirectory(k.listener.Path())
		if err == nil {
			err = k.listener.Rebind()
		}
		if err != nil {
			h.log.Warn("a sandbox can't reach the host", "session", k.session, "err", err)
		}
	}
}

// Close ends what a disposed session's sandbox may still ask for.
func (k *confined) Close(tx core.Tx) {
	if k.listener == nil {
		return
	}
	k.listener.Close()
	for c := range k.h.requests.Conns(tx) {
		if c.Principal.Sandbox == k.session {
			c.Out.Close(jsonrpc.ClosePolicy, "the session was disposed of")
		}
	}
	os.Remove(filepath.Dir(k.socket)) //nolint:errcheck // or it is left, empty
}
