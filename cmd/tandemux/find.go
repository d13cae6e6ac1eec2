package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tandemux/host/keeper"
	"tandemux/host/listen"
	"tandemux/internal/cli"
	"tandemux/internal/daemon"
)

// The host and the keeper are found by their sockets in the runtime directory. That
// can go while they run: logind removes it when the person has logged out
// everywhere, and anybody may clean up. Then they are found by their places in the
// state directory: whoever needs them signals them, and they bind anew.

// rebindSignal has a host or a keeper bind its socket anew.
const rebindSignal = syscall.SIGUSR1

// rebindTime is how long one may take over that.
const rebindTime = 5 * time.Second

func (d dirs) hostPlace() daemon.Place   { return daemon.PlaceOf(d.state, "host", d.runtime) }
func (d dirs) keeperPlace() daemon.Place { return daemon.PlaceOf(d.state, "keeper", d.runtime) }

// takePlace makes this process the one host or keeper. Where the state directory
// can't be written to, or not be locked, it goes on without: the socket's own lock
// holds as long as the runtime directory stays.
func takePlace(p daemon.Place, log *slog.Logger) (release func(), err error) {
	// One that ends may have it for a moment longer than its socket.
	for end := time.Now().Add(time.Second); ; time.Sleep(10 * time.Millisecond) {
		if release, err = p.Take(); !errors.Is(err, daemon.ErrTaken) || time.Now().After(end) {
			break
		}
	}
	switch {
	case errors.Is(err, daemon.ErrTaken):
		return nil, err
	case err != nil:
		log.Warn("this process is not found any more if the runtime directory is removed", "err", err)
		return func() {}, nil
	}
	return release, nil
}

// rebinds gives the requests to bind anew. It is to be called before the place is
// taken: by default the signal ends a process.
func rebinds() <-chan os.Signal {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, rebindSignal)
	return asked
}

// follow calls f for each request until ctx ends.
func follow(ctx context.Context, asked <-chan os.Signal, f func()) {
	for {
		select {
		case <-asked:
			f()
		case <-ctx.Done():
			return
		}
	}
}

// dialHost connects to this user's own host.
func (d dirs) dialHost(ctx context.Context) (net.Conn, error) {
	return d.dialSocket(ctx, listen.SocketName, "host", d.hostPlace())
}

// dialSocket connects to a host or a keeper that runs, and has it bind its socket
// anew if that is gone.
func (d dirs) dialSocket(ctx context.Context, name, kind string, at daemon.Place) (net.Conn, error) {
	path, err := d.socket(name)
	if err != nil {
		return nil, err
	}
	dial := func() (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "unix", path) }
	c, err := dial()
	if err == nil || !isNobodyThere(err) || notASocket(path) != nil {
		return c, err
	}
	if pid, _ := at.Holder(); pid <= 0 { //nolint:errcheck // what can't be asked is as good as nobody
		return nil, err
	}
	if err := d.make(); err != nil {
		return nil, err
	}
	pid, serr := at.Signal(rebindSignal)
	if serr != nil || pid <= 0 {
		return nil, err
	}
	for end := time.Now().Add(rebindTime); ; {
		if c, err = dial(); err == nil || !isNobodyThere(err) {
			return c, err
		}
		if now, herr := at.Holder(); herr != nil || now != pid { // it ends
			return nil, err
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("the %s (pid %d) runs, but its socket %s is gone and it does not make a new one: %s.log in %s says why; if it is stopped, `kill -CONT %d` lets it go on", kind, pid, path, kind, d.state, pid)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the %s (pid %d) to bind its socket anew: %w", kind, pid, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// notASocket names what lies where a socket should be.
func notASocket(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&os.ModeSocket == 0 {
		return fmt.Errorf("%s is not a socket; move it away", path)
	}
	return nil
}

// reachKeeper is the path of the keeper's socket, which a keeper that runs has been
// made to bind if it was gone.
func (d dirs) reachKeeper(ctx context.Context) (string, error) {
	path, err := d.socket(listen.KeeperName)
	if err != nil {
		return "", err
	}
	c, err := d.dialSocket(ctx, listen.KeeperName, "keeper", d.keeperPlace())
	if err == nil {
		c.Close()
	}
	return path, err
}

// unattended is the error of who wants a host where none runs, but a keeper with
// programs does: a host was ended by a signal.
type unattended struct{ keeper.Census }

func (u unattended) Error() string {
	pids := make([]string, 0, len(u.Running))
	for _, c := range u.Running {
		pids = append(pids, strconv.Itoa(c.Pid))
	}
	return fmt.Sprintf("no host is running, but the keeper (pid %d) holds %s (pids %s): `tandemux` shows them again, `tandemux stop` ends them",
		u.Pid, cli.Count(len(u.Running), "program"), strings.Join(pids, ", "))
}

// noHost says what there is without a host: errNoHost for nothing.
func (d dirs) noHost(ctx context.Context) error {
	path, err := d.reachKeeper(ctx)
	if err == nil {
		var c keeper.Census
		if c, err = keeper.Probe(ctx, path); len(c.Running) > 0 {
			return unattended{c}
		}
	}
	switch {
	case err == nil || isNobodyThere(err):
		return errNoHost
	case errors.Is(err, keeper.ErrVersion):
		return fmt.Errorf("no host is running, and what the keeper holds is not known: %w", err)
	}
	return fmt.Errorf("no host is running: %w", err)
}

// endKeeper ends a keeper that has no host, and its programs.
func (d dirs) endKeeper(ctx context.Context) error {
	k, err := d.dialKeeper(ctx)
	if err != nil {
		return err
	}
	defer k.Close()
	return k.Shutdown(ctx)
}

// dialKeeper connects to this user's keeper and takes it over from another host.
func (d dirs) dialKeeper(ctx context.Context) (*keeper.Client, error) {
	path, err := d.reachKeeper(ctx)
	if err != nil {
		return nil, err
	}
	return keeper.Dial(ctx, path)
}
