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
	"time"

	"tandemux/ahp"
	"tandemux/host/guard"
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
	return l.label != "" || l.socket != "" && filepath.Clean(l.socket) != filepath.Clean(socket) || l.foreign
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

// command is one that is answered.
type command struct {
	name, alias string
	flags       string // as getopt(3) has them
	most        int    // arguments at most, -1 for any number
	not, moves  string // flags that are refused: as not known here, as moving the focus
	do          func(a *answerer, c call) error
}

// commands are all that are answered, with tmux's names and flags.
func commands() []command {
	return []command{
		{"split-window", "splitw", "bc:de:fF:hIl:p:Pt:vZ", -1, "fI", "Z", (*answerer).splitWindow},
		{"new-window", "neww", "abc:de:F:kn:PSt:", -1, "abkS", "", (*answerer).newWindow},
		{"new-session", "new", "Ac:dDe:EF:f:n:Ps:t:x:Xy:", -1, "ADEfX", "", (*answerer).newSession},
		{"respawn-pane", "respawnp", "c:e:kt:", -1, "", "", on((*answerer).respawnPane, (*answerer).ofTeam)},
		{"break-pane", "breakp", "abdF:n:Ps:t:", 0, "ab", "", (*answerer).breakPane},
		{"join-pane", "joinp", "bdfhl:p:s:t:v", 0, "f", "", (*answerer).joinPane},
		{"move-pane", "movep", "bdfhl:p:s:t:v", 0, "f", "", (*answerer).joinPane},
		{"kill-pane", "killp", "at:", 0, "", "", on((*answerer).killPane)},
		{"kill-window", "killw", "at:", 0, "a", "", on((*answerer).killWindow)},
		{"kill-session", "", "aCt:", 0, "aC", "", (*answerer).killSession},

		{"send-keys", "send", "c:FHKlMN:RXt:", -1, "cFKMRX", "", on((*answerer).sendKeys, (*answerer).ours)},
		{"capture-pane", "capturep", "ab:CeE:JMNpPqS:Tt:", 0, "abCMP", "", on((*answerer).capturePane)},

		{"list-panes", "lsp", "aF:f:st:", 0, "", "", (*answerer).listPanes},
		{"list-windows", "lsw", "aF:f:t:", 0, "", "", (*answerer).listWindows},
		{"list-sessions", "ls", "F:f:", 0, "", "", (*answerer).listSessions},
		{"has-session", "has", "t:", 0, "", "", (*answerer).hasSession},
		{"display-message", "display", "aCc:d:INpt:F:lv", 1, "aCcdINv", "", on((*answerer).displayMessage)},

		{"select-pane", "selectp", "DdegLlMmP:RT:t:UZ", 0, "", "", (*answerer).selectPane},
		{"select-window", "selectw", "lnpTt:", 0, "", "", (*answerer).stay},
		{"select-layout", "selectl", "Enopt:", 1, "nop", "", on((*answerer).selectLayout, (*answerer).near)},
		{"resize-pane", "resizep", "DLMRTt:Ux:y:Z", 1, "MT", "Z", (*answerer).resizePane},
		{"rename-window", "renamew", "t:", 1, "", "", on((*answerer).renameWindow, (*answerer).near)},

		{"set-option", "set", "aFgopqst:uUw", 2, "aFsuU", "", (*answerer).setOption},
		{"set-window-option", "setw", "aFgoqt:u", 2, "aFsuU", "", (*answerer).setOption},
		{"show-options", "show", "AgHpqst:vw", 1, "", "", (*answerer).showOptions},
		{"show-environment", "showenv", "ghst:", 1, "", "", (*answerer).showEnvironment},
		{"load-buffer", "loadb", "b:t:w", 1, "abnt", "", (*answerer).loadBuffer},
		{"set-buffer", "setb", "ab:n:t:w", 1, "abnt", "", (*answerer).loadBuffer},
		{"start-server", "start", "", 0, "", "", (*answerer).stay},
	}
}

// refuse says that a flag is not answered.
func (c call) refuse(flags string, why string) error {
	for i := range len(flags) {
		if c.has(flags[i]) {
			return errors.New(c.name + " -" + flags[i:i+1] + ": " + why)
		}
	}
	return nil
}

// on has a command done on what -t names, if the command may change that.
func on(do func(*answerer, call, spot) error, may ...func(*answerer, spot, string) error) func(*answerer, call) error {
	return func(a *answerer, c call) error {
		_, at, err := a.find(c.value('t'))
		for _, may := range may {
			if err == nil {
				err = may(a, at, c.name)
			}
		}
		if err != nil {
			return err
		}
		return do(a, c, at)
	}
}

// Reasons for refusals.
const (
	unknown = "tandemux, which answers as tmux here, does not know this"
	focus   = "it would move what the person looks at, which no agent does here"
)

// stay is what would move the focus, which stays where the person has it.
func (a *answerer) stay(call) error { return nil }

// askTime is how long a person is given to answer.
const askTime = 2 * time.Minute

// refusals are what comes of a question, by its answer.
var refusals = map[string]string{
	ahp.AskRefused: "the person refused it",
	ahp.AskTimeout: fmt.Sprintf("nobody has answered in %v", askTime),
	ahp.AskNobody:  "nobody is here to allow it",
}

// allowed starts a program, once more when a person has allowed what the host refused.
func (a *answerer) allowed(argv []string, do func() error) error {
	err := do()
	if err == nil {
		return nil
	}
	if _, asks := guard.Asks(refusal(err)); !asks {
		return err
	}
	switch answer, failed := a.ask(ahp.AskParams{Command: guard.Text(argv, "")}); {
	case failed != nil:
		return failed
	case answer != ahp.AskGranted:
		return fmt.Errorf("%w: %s", err, refusals[answer])
	}
	return do()
}

// team asks, once for all of them, whether the teammates get panes.
func (a *answerer) team(c call) error {
	err := a.lead()
	if err != nil {
		return err
	}
	answer, err := a.ask(ahp.AskParams{Channel: a.from, Panes: true})
	if err == nil && answer != ahp.AskGranted {
		err = fmt.Errorf("%s: no panes for teammates: %s", c.name, refusals[answer])
	}
	return err
}

// ask asks a person. Other commands go on meanwhile.
func (a *answerer) ask(p ahp.AskParams) (answer string, err error) {
	a.turn.leave()
	ctx, cancel := context.WithTimeout(a.ctx, askTime+time.Minute)
	defer cancel()
	p.Claim, p.TimeoutMs = ahp.Claim{Kind: ahp.ClaimSession, Session: a.session}, askTime.Milliseconds()
	var r ahp.AskResult
	err = a.leader.Carry(ctx, ahp.MethodAsk, p, &r)
	return r.Answer, errors.Join(err, a.turn.take(), a.open())
}

// refusal is the host's own text.
func refusal(err error) string {
	if e := ahp.FromRPC(err); e != nil {
		return e.Message
	}
	return err.Error()
}
