package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/adrg/xdg"

	"tandemux/host/keeper"
	"tandemux/host/listen"
	"tandemux/internal/cli"
	"tandemux/internal/daemon"
	"tandemux/internal/pace"
)

// The host and the keeper are found by their sockets in the runtime directory. That
// can go while they run: logind removes it when the person has logged out
// everywhere, and anybody may clean up. Then they are found by their places in the
// state directory: whoever needs them signals them, and they bind anew.

// rebindTime is how long one may take over that.
const rebindTime = 5 * time.Second

// DialHost connects to this user's own host.
func (d Dirs) DialHost(ctx context.Context) (net.Conn, error) {
	return d.dialSocket(ctx, listen.SocketName, "host", d.HostPlace())
}

// dialSocket connects to a host or a keeper that runs, and has it bind its socket
// anew if that is gone.
func (d Dirs) dialSocket(ctx context.Context, name, kind string, at daemon.Place) (net.Conn, error) {
	path, err := d.Socket(name)
	if err != nil {
		return nil, err
	}
	dial := func() (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "unix", path) }
	c, err := dial()
	if err == nil || !NobodyThere(err) || d.CheckSocket(name) != nil {
		return c, err
	}
	if pid, _ := at.Holder(); pid <= 0 { //nolint:errcheck // what can't be asked is as good as nobody
		return nil, err
	}
	if err := d.Make(); err != nil {
		return nil, err
	}
	pid, serr := at.Signal(daemon.RebindSignal)
	if serr != nil || pid <= 0 {
		return nil, err
	}
	for end := time.Now().Add(rebindTime); ; {
		if c, err = dial(); err == nil || !NobodyThere(err) {
			return c, err
		}
		if now, herr := at.Holder(); herr != nil || now != pid { // it ends
			return nil, err
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("the %s (pid %d) runs, but its socket %s is gone and it does not make a new one: %s.log in %s says why; if it is stopped, `kill -CONT %d` lets it go on", kind, pid, path, kind, d.State, pid)
		}
		if !pace.Sleep(ctx, 10*time.Millisecond) {
			return nil, fmt.Errorf("wait for the %s (pid %d) to bind its socket anew: %w", kind, pid, ctx.Err())
		}
	}
}

// CheckSocket names what lies where a socket should be.
func (d Dirs) CheckSocket(name string) error {
	path, err := d.Socket(name)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket == 0 {
		return fmt.Errorf("%s is not a socket; move it away", path)
	}
	return nil
}

// ReachKeeper is the path of the keeper's socket, which a keeper that runs has been
// made to bind if it was gone.
func (d Dirs) ReachKeeper(ctx context.Context) (string, error) {
	path, err := d.Socket(listen.KeeperName)
	if err != nil {
		return "", err
	}
	c, err := d.dialSocket(ctx, listen.KeeperName, "keeper", d.KeeperPlace())
	if err == nil {
		c.Close()
	}
	return path, err
}

// Unattended is the error of who wants a host where none runs, but a keeper with
// programs does: a host was ended by a signal.
type Unattended struct{ keeper.Census }

func (u Unattended) Error() string {
	pids := make([]string, 0, len(u.Running))
	for _, c := range u.Running {
		pids = append(pids, strconv.Itoa(c.Pid))
	}
	return fmt.Sprintf("no host is running, but the keeper (pid %d) holds %s (pids %s): `tandemux` shows them again, `tandemux stop` ends them",
		u.Pid, cli.Count(len(u.Running), "program"), strings.Join(pids, ", "))
}

// ErrNoHost says that there is neither a host nor a keeper with programs.
var ErrNoHost error = noHost{}

type noHost struct{}

func (noHost) Error() string     { return "no host is running; `tandemux` or `tandemux host` starts one" }
func (noHost) ErrorCode() string { return "no_host" }

// NoHost says what there is without a host: ErrNoHost for nothing.
func (d Dirs) NoHost(ctx context.Context) error {
	path, err := d.ReachKeeper(ctx)
	if err == nil {
		var c keeper.Census
		if c, err = keeper.Probe(ctx, path); len(c.Running) > 0 {
			return Unattended{c}
		}
	}
	switch {
	case err == nil || NobodyThere(err):
		return ErrNoHost
	case errors.Is(err, keeper.ErrVersion):
		return fmt.Errorf("no host is running, and what the keeper holds is not known: %w", err)
	}
	return fmt.Errorf("no host is running: %w", err)
}

// EndKeeper ends a keeper that has no host, and its programs.
func (d Dirs) EndKeeper(ctx context.Context) error {
	k, err := d.dialKeeper(ctx)
	if err != nil {
		return err
	}
	defer k.Close()
	return k.Shutdown(ctx)
}

// dialKeeper connects to this user's keeper and takes it over from another host.
func (d Dirs) dialKeeper(ctx context.Context) (*keeper.Client, error) {
	path, err := d.ReachKeeper(ctx)
	if err != nil {
		return nil, err
	}
	return keeper.Dial(ctx, path)
}

// Listen makes this process the one host, and listens.
func (d Dirs) Listen(log *slog.Logger) (*listen.Socket, error) {
	release, err := daemon.TakePlace(d.HostPlace(), log)
	var ln *listen.Socket
	if err == nil {
		if ln, err = listen.Unix(d.Runtime); err == nil {
			ln.OnClose(release)
			return ln, nil
		}
		release()
	}
	if errors.Is(err, listen.ErrRunning) || errors.Is(err, daemon.ErrTaken) {
		return nil, fmt.Errorf("a host is running already: `listen` in the configuration has it listen elsewhere at once, `tandemux stop` ends it and its terminals: %w", err)
	}
	return nil, err
}

// NobodyThere tells a socket that is absent or left over, or whose process
// died while we knocked, from one that refuses us for another reason.
func NobodyThere(err error) bool {
	gone := []error{
		os.ErrNotExist, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF,
		net.ErrClosed, os.ErrClosed, // by net/http, which saw the end and wrote all the same
	}
	return slices.ContainsFunc(gone, func(one error) bool { return errors.Is(err, one) }) ||
		err != nil && strings.Contains(err.Error(), "http: server closed idle connection") // net/http has it for itself: closed before anything was sent
}

// Dirs are the places of one user's tandemux.
type Dirs struct {
	daemon.Dirs
	Config string // config.toml, themes
}

// FindDirs follows the XDG base directories. Without XDG_RUNTIME_DIR the
// sockets live in a directory of this user's own below the temporary one.
func FindDirs() Dirs {
	xdg.Reload()
	runtime := os.Getenv("XDG_RUNTIME_DIR")
	if !filepath.IsAbs(runtime) { // a relative one is to be ignored, as the standard says
		runtime = filepath.Join(os.TempDir(), "tandemux-"+strconv.Itoa(os.Getuid()))
	} else {
		runtime = filepath.Join(runtime, "tandemux")
	}
	return Dirs{
		Dirs:   daemon.Dirs{Runtime: runtime, State: filepath.Join(xdg.StateHome, "tandemux")},
		Config: filepath.Join(xdg.ConfigHome, "tandemux"),
	}
}
