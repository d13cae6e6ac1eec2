package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// ReadyEnv names the descriptor on which a background process tells its
// starter that it serves, or why it can't.
const ReadyEnv = "TANDEMUX_READY_FD"

// Readiness is the background process's end of local.Start. Without one,
// as in the foreground, telling does nothing.
type Readiness struct{ pipe *os.File }

func InheritReadiness() Readiness {
	if os.Getenv(ReadyEnv) == "" {
		return Readiness{}
	}
	os.Unsetenv(ReadyEnv)
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4) // the program itself, if it was started from an open file
	return Readiness{os.NewFile(3, "ready")}
}

func (r Readiness) Ready() { r.tell("ready") }

// Failed passes the reason to the starter and gives it back.
func (r Readiness) Failed(err error) error {
	if err != nil {
		r.tell(strings.Join(strings.FieldsFunc(err.Error(), unicode.IsControl), " "))
	}
	return err
}

func (r Readiness) tell(line string) {
	if r.pipe != nil {
		fmt.Fprintln(r.pipe, line)
		r.pipe.Close()
	}
}

// KeeperName is the keeper's socket in the runtime directory.
const KeeperName = "keeper.sock"

// RebindSignal has a host or a keeper bind its socket anew.
const RebindSignal = syscall.SIGUSR1

func (d Dirs) HostPlace() Place   { return PlaceOf(d.State, "host", d.Runtime) }
func (d Dirs) KeeperPlace() Place { return PlaceOf(d.State, "keeper", d.Runtime) }

// TakePlace makes this process the one host or keeper. Where the state directory
// can't be written to, or not be locked, it goes on without: the socket's own lock
// holds as long as the runtime directory stays.
func TakePlace(p Place, log *slog.Logger) (release func(), err error) {
	// One that ends may have it for a moment longer than its socket.
	for end := time.Now().Add(time.Second); ; time.Sleep(10 * time.Millisecond) {
		if release, err = p.Take(); !errors.Is(err, ErrTaken) || time.Now().After(end) {
			break
		}
	}
	switch {
	case errors.Is(err, ErrTaken):
		return nil, err
	case err != nil:
		log.Warn("this process is not found any more if the runtime directory is removed", "err", err)
		return func() {}, nil
	}
	return release, nil
}

// Rebinds gives the requests to bind anew. It is to be called before the place is
// taken: by default the signal ends a process.
func Rebinds() <-chan os.Signal {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, RebindSignal)
	return asked
}

// OnRebind calls f for each request until ctx ends.
func OnRebind(ctx context.Context, asked <-chan os.Signal, f func()) {
	for {
		select {
		case <-asked:
			f()
		case <-ctx.Done():
			return
		}
	}
}

// SameUser refuses a peer of a unix socket that runs as another user.
func SameUser(conn *net.UnixConn) error {
	uid, _, err := Peer(conn)
	if err != nil {
		return fmt.Errorf("read the peer's uid: %w", err)
	}
	if me := os.Getuid(); uid != me {
		return fmt.Errorf("peer runs as uid %d, not as %d: %w", uid, me, syscall.EPERM)
	}
	return nil
}

// Peer is the process at the other end; its pid is 0 when it is not known.
func Peer(conn *net.UnixConn) (uid, pid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return -1, 0, err
	}
	failed := raw.Control(func(fd uintptr) { uid, pid, err = peerOf(int(fd)) })
	return uid, pid, errors.Join(failed, err)
}
