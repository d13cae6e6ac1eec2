package tmux

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"tandemux/host/listen"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"
	"tandemux/internal/tmux/pane"
)

// Is reports whether this program was called as tmux.
func Is(argv []string) bool { return len(argv) > 0 && filepath.Base(argv[0]) == "tmux" }

// Main answers a command line, with the exit code. What is for another tmux is left to
// that, which then is this process.
func Main(ctx context.Context, args []string) int {
	endpoint.FindRuntimeDir()
	p := endpoint.Endpoint{Dirs: local.FindDirs()}
	l, err := parse(args)
	if elsewhere(l, p.Dirs.Runtime, os.Getenv("TMUX")) {
		err = become(os.Args)
	} else if err == nil {
		err = answer(ctx, p, l)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, cli.OneSentence(err))
		return 1
	}
	return 0
}

// elsewhere reports whether a command line is for another server: another socket than that of
// the pane, or a person's who wants tmux itself.
func elsewhere(l line, runtime, env string) bool {
	socket, _, _ := strings.Cut(env, ",")
	if filepath.Base(socket) != listen.SocketName || filepath.Clean(socket) != filepath.Join(runtime, listen.SocketName) {
		return true
	}
	if l.label != "" || l.socket != "" && filepath.Clean(l.socket) != filepath.Clean(socket) || l.foreign {
		return true
	}
	return false
}

// answer carries out the commands of a line, up to the first that fails.
func answer(ctx context.Context, p endpoint.Endpoint, l line) (err error) {
	if l.version {
		_, err := fmt.Printf("tmux %s (tandemux %s)\n", answersAs, endpoint.Version)
		return err
	}
	if len(l.calls) == 0 {
		return errors.New("tandemux answers as tmux in this pane, and is what shows it: `tandemux --help` says how panes are made; TMUX= tmux is tmux itself")
	}
	a := &answerer{ctx: ctx, p: p, own: os.Getenv("TMUX_PANE"), in: os.Stdin, out: bufio.NewWriter(os.Stdout)}
	defer a.close()
	if a.turn, err = nextTurn(p.Dirs.Runtime); err != nil {
		return err
	}
	defer a.turn.Close()
	for _, c := range l.calls {
		if err := a.open(); err != nil {
			return errors.Join(err, a.out.Flush())
		}
		err := errors.Join(c.refuse(c.not, unknown), c.refuse(c.moves, focus))
		if err == nil {
			err = c.do(a, c)
		}
		if err != nil {
			return errors.Join(err, a.out.Flush())
		}
	}
	return a.out.Flush()
}

// turn is held by the command of all teams that is being carried out: each finds the panes
// as the one before has left them.
type turn struct{ *os.File }

// nextTurn waits for it. It ends with the process.
func nextTurn(runtime string) (turn, error) {
	f, err := os.OpenFile(filepath.Join(runtime, pane.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return turn{}, fmt.Errorf("wait for other commands: %w", err)
	}
	return turn{f}, turn{f}.take()
}

func (t turn) take() error {
	if err := syscall.Flock(int(t.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("wait for other commands: %w", err)
	}
	return nil
}

func (t turn) leave() { syscall.Flock(int(t.Fd()), syscall.LOCK_UN) } //nolint:errcheck // taking it again says so

// become runs the tmux that comes after this one on PATH, if there is one.
func become(argv []string) error {
	self, err := local.Program()
	if err != nil {
		return err
	}
	self, err = filepath.EvalSymlinks(self)
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		at := filepath.Join(dir, "tmux")
		if info, err := os.Stat(at); err != nil || info.IsDir() || info.Mode().Perm()&0o111 == 0 {
			continue
		}
		if real, err := filepath.EvalSymlinks(at); err != nil || real == self {
			continue
		}
		return fmt.Errorf("start %s: %w", at, syscall.Exec(at, append([]string{at}, argv[1:]...), environ()))
	}
	return errors.New("this is for tmux itself, and no tmux is installed: in this pane tandemux answers what agents ask of one")
}

// environ is ours without what says that tmux runs around it, where that is this program.
func environ() []string {
	ours := filepath.Join(local.FindDirs().Runtime, listen.SocketName) + ","
	if !strings.HasPrefix(os.Getenv("TMUX"), ours) {
		return os.Environ()
	}
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "TMUX=") || strings.HasPrefix(kv, "TMUX_PANE=")
	})
}
