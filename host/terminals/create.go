package terminals

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/engine"
	"tandemux/host/agent"
	"tandemux/host/auth"
	"tandemux/host/claims"
	"tandemux/host/core"
	"tandemux/host/guard"
	"tandemux/host/journal"
	"tandemux/host/journal/record"
	"tandemux/host/keeper"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/host/shell"
	"tandemux/host/terminal"
	"tandemux/internal/fileuri"
	"tandemux/internal/plaintext"
)

const (
	defaultCols, defaultRows = 80, 24
	// spawnTime is how long to wait for the keeper's answer.
	spawnTime = 10 * time.Second
)

// sized refuses a size of 0. A size that is left out is the default.
func sized(create requests.Handler) requests.Handler {
	return func(ctx context.Context, c *requests.Conn, raw json.RawMessage) (any, error) {
		var given struct {
			Cols *int `json:"cols"`
			Rows *int `json:"rows"`
		}
		if err := params.Decode(raw, &given); err != nil {
			return nil, err
		}
		if c, r := given.Cols, given.Rows; c != nil && *c == 0 || r != nil && *r == 0 {
			return nil, ahp.InvalidParams("create terminal: %s", checkSize(0, 0))
		}
		return create(ctx, c, raw)
	}
}

// CreateTerminal starts a process on a new pty (R26, G37–G39).
func (ts *Terminals) CreateTerminal(ctx context.Context, c *requests.Conn, p ahp.CreateTerminalParams) (any, error) {
	p.Cols, p.Rows = cmp.Or(p.Cols, defaultCols), cmp.Or(p.Rows, defaultRows)
	p.Meta = cmp.Or(p.Meta, &ahp.CreateMeta{})
	who := c.Principal
	if err := params.Allowed("create terminal", who.Lacks(auth.ScopeCreate)); err != nil {
		return nil, err
	}
	if _, err := ts.MayClaimNew(c, p.Claim); err != nil {
		return nil, err
	}
	if p.Meta.Before != "" && !who.Operates() {
		return nil, ahp.PermissionDenied("create terminal: tandemux/before: only who operates the host may say what a terminal showed before")
	}
	n := Creation{CreateTerminalParams: p, Who: who, Holder: who.ID, Person: who.Person, Known: func(tx core.Tx, t *Terminal) error {
		t.noteAgent(p.Claim, who)
		return nil
	}}
	var roots []string
	n.Sandbox, n.In, roots = ts.confinementOf(who, p.Claim)
	var err error
	n.Dir, err = ts.startingDirectory(who, n.Sandbox, roots, p.Cwd, p.Meta.CwdOf)
	if ahp.CodeOf(err) == ahp.CodeNotFound && p.Meta.CwdOf != "" && n.Sandbox == nil && len(p.Meta.Command) == 0 {
		n.Dir, err = ts.Home, nil // the other terminal's directory was removed
	}
	if err != nil {
		return nil, err
	}
	if p.Meta.AwaitHolder {
		n.follower = c.Client.ID
	}
	if p.Meta.Stdin {
		n.feeds = c
	}
	if who.Agent != "" {
		if n.Quota, err = ts.quotaOf(who, p.Claim.ToolCallID != ""); err != nil {
			return nil, err
		}
	}
	t, err := ts.Create(context.WithoutCancel(ctx), n)
	if err != nil {
		return nil, Denied(err)
	}
	ts.Audit.Did(c.Who(), "create", p.Channel, "claim", claims.Text(p.Claim), "pid", t.Meta.Pid)
	return nil, nil
}

// Bounds of single values from clients, in bytes unless they say otherwise.
const (
	maxArgs     = 1000 // arguments of a command
	maxArgBytes = 128 << 10
	maxEnv      = 2000 // variables
	maxEnvBytes = 256 << 10
	maxCells    = 250_000 // cells of a screen: a snapshot has all of them
	maxListed   = 256     // bytes of a command in the list of terminals
)

// Creation is a request for a terminal, by a client or by an agent below the host. The caller
// has checked the claim and the directory.
type Creation struct {
	ahp.CreateTerminalParams                 // Meta is not nil
	Who                      *auth.Principal // the name must be unique among the terminals that it reaches
	Holder, Person           string          // the principal behind the claim, and its Person
	Title                    string          // while the terminal has no name; "" for the command's
	Dir                      string          // where it starts, in the host's view
	// Sandbox is the sandbox of session In that the process runs in; nil for none.
	Sandbox agent.Confinement
	In      ahp.URI
	// Quota is set for an agent: the terminal counts in it, and Line or, if that is empty,
	// the command is judged.
	Quota Quota
	Line  string
	// Known is called under the lock under which the terminal gets its channel.
	Known func(tx core.Tx, t *Terminal) error

	follower string         // the client that must miss no output
	feeds    *requests.Conn // the connection that feeds the command's stdin, or nil
}

// Create makes a terminal. It checks in the order of docs/contributing/decisions.md §22. If the
// checks passed but the command could not be started, the error is a StartError.
func (ts *Terminals) Create(ctx context.Context, n Creation) (t *Terminal, err error) {
	pl, err := ts.plan(n)
	if err != nil {
		return nil, err
	}
	var slot *guard.Slot
	if n.Quota.Of != "" {
		ts.Core.Locked(func(tx core.Tx) { err = ts.MayRun(tx, n.Claim.Session, n.Meta.Command, n.Line) })
		if err != nil {
			return nil, err
		}
		if slot, err = ts.quotas.Reserve(n.Quota.Of, n.Quota.Live, n.Quota.Rate); err != nil {
			return nil, ahp.Conflict("%s", err.Error())
		}
	}
	defer func() {
		if err != nil {
			slot.Cancel()
			pl.feed.End()
		}
	}()
	if pl.name, err = ts.reserve(n); err != nil {
		return nil, err
	}
	if t, err = ts.spawn(ctx, &pl); err != nil {
		ts.Core.Locked(func(tx core.Tx) { delete(ts.reserved, n.Channel) })
		return nil, StartError{err}
	}
	ts.Core.Do(func(tx core.Tx) {
		delete(ts.reserved, n.Channel)
		if err = core.ErrClosing; !tx.Closing() {
			err = n.Known(tx, t)
		}
		if err == nil {
			t.slot = slot
			ts.addTerm(tx, n.Channel, t, t.unborn)
			ts.Host.FollowWork(tx, t.Value, t.work())
		}
	})
	if err != nil {
		ts.later(t.end)
		return nil, err
	}
	return t, nil
}

// StartError says why a command could not be started.
type StartError struct{ error }

func (e StartError) Unwrap() error { return e.error }

// plan is a checked Creation.
type plan struct {
	Creation
	name   string
	spec   keeper.Spec
	engine string
	shell  bool
	nonce  string // of the shell's marks
	// promptEnds says that the marks tell where prompts end.
	promptEnds bool
	feed       *Feeder // feeds the command's stdin, or nil
}

func (ts *Terminals) plan(n Creation) (plan, error) {
	pl := plan{Creation: n}
	if err := params.CheckURI(n.Channel); err != nil {
		return pl, err
	}
	for _, c := range []struct{ what, wrong string }{
		{"", claims.Check(n.Claim)}, {"", checkSize(n.Cols, n.Rows)}, {"name: ", params.CheckTitle(n.Name)}, {"tandemux/name: ", checkName(n.Meta.Name)},
	} {
		if c.wrong != "" {
			return pl, ahp.InvalidParams("create terminal: %s%s", c.what, c.wrong)
		}
	}
	start := ts.Start()
	start.Shell = shell.Find(start.Shell)
	argv, err := CheckCommand(n.Meta.Command, cmp.Or(n.Meta.Shell, start.Shell))
	if err != nil {
		return pl, err
	}
	if err := checkEnv(n.Meta.Env); err != nil {
		return pl, err
	}
	if err := checkScrollback(n.Meta.Scrollback); err != nil {
		return pl, err
	}
	if len(n.Meta.Before) > ahp.MaxBefore {
		return pl, ahp.InvalidParams("create terminal: tandemux/before: longer than %d bytes", ahp.MaxBefore)
	}
	if n.feeds != nil && len(n.Meta.Command) == 0 {
		return pl, ahp.InvalidParams("create terminal: tandemux/stdin: only a tandemux/command can be fed")
	}
	pl.engine = start.Engine
	pl.Title = cmp.Or(pl.Title, commandTitle(argv))
	pl.spec = keeper.Spec{
		ID: strings.ToLower(rand.Text()), Argv: argv, Dir: n.Dir, Cols: n.Cols, Rows: n.Rows,
		Env: ts.environ(n.Sandbox, n.Meta.Env, n.Channel, n.Dir, start.Tmux == shell.TmuxAsk || start.Tmux == shell.TmuxOn),
	}
	// A command that is a shell counts as one if it marks its commands.
	pl.shell = n.feeds == nil && start.integrates(*n.Meta) && ts.inject(&pl) || len(n.Meta.Command) == 0
	return pl, nil
}

// before is the text that a terminal begins with.
func (n *Creation) before() string {
	return plaintext.Without(n.Meta.Before, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' })
}

func checkSize(cols, rows int) string {
	if cols < 1 || cols > emulator.MaxCols || rows < 1 || rows > emulator.MaxRows {
		return fmt.Sprintf("a size of %d columns by %d rows is out of range: use 1 to %d by 1 to %d", cols, rows, emulator.MaxCols, emulator.MaxRows)
	}
	if cols*rows > maxCells {
		return fmt.Sprintf("a size of %d columns by %d rows is out of range: use %d cells at most", cols, rows, maxCells)
	}
	return ""
}

// CheckCommand returns the command to start: argv, or the shell if that is empty.
func CheckCommand(argv []string, shell string) ([]string, error) {
	if len(argv) == 0 {
		if !filepath.IsAbs(shell) || strings.ContainsRune(shell, 0) {
			return nil, ahp.InvalidParams("create terminal: tandemux/shell: %q is not an absolute path", shell)
		}
		return []string{shell}, nil
	}
	size := 0
	for _, a := range argv {
		size += len(a)
		if strings.ContainsRune(a, 0) {
			return nil, ahp.InvalidParams("create terminal: tandemux/command: an argument has a zero byte in it")
		}
	}
	switch {
	case len(argv) > maxArgs || size > maxArgBytes:
		return nil, ahp.InvalidParams("create terminal: tandemux/command: more than %d arguments or %d bytes", maxArgs, maxArgBytes)
	case argv[0] == "":
		return nil, ahp.InvalidParams("create terminal: tandemux/command: the command's name is empty")
	}
	return argv, nil
}

// reserve reserves the URI, the name and a place under the limit of terminals while the
// process starts. The name is tandemux/name, or a unique one made of AHP's name, which need
// not be unique.
func (ts *Terminals) reserve(n Creation) (name string, err error) {
	tx := ts.Core.Lock()
	defer tx.Unlock()
	uri := n.Channel
	taken := tx.Channel(uri) != nil
	_, reserved := ts.reserved[uri]
	switch {
	case tx.Closing():
		return "", core.ErrClosing
	case taken || reserved:
		return "", ahp.AlreadyExists("create terminal: %s exists already: choose another URI", uri)
	case len(ts.all)+len(ts.reserved) >= ts.Limits.Terminals:
		return "", ahp.Conflict("create terminal: there are %d terminals already, the most this host keeps: end some first", ts.Limits.Terminals)
	case n.Meta.Name != "":
		name = n.Meta.Name
		if s := ts.nameTaken(tx, n.Who, name, uri); s != "" {
			return "", ahp.AlreadyExists("create terminal: %s", s)
		}
	default:
		name = ts.freeName(tx, n.Who, n.Name, uri)
	}
	ts.reserved[uri] = name
	return name, nil
}

// spawn starts the process and its terminal, which has no channel yet. The keeper gets the
// journal before it starts the process, and a note from which the next host can make a
// terminal if the journal is still empty.
func (ts *Terminals) spawn(ctx context.Context, pl *plan) (_ *Terminal, err error) {
	if !slices.Contains(engine.Names(), pl.engine) {
		_, err := engine.New(pl.engine, emulator.Options{Cols: 1, Rows: 1})
		return nil, ahp.Internal("create terminal: %v", err)
	}
	if err := ts.regainKeeper(); err != nil {
		return nil, ahp.Internal("create terminal: %v", err)
	}
	k := ts.Keeper()
	tx := ts.Core.Lock()
	ts.procs.early[pl.spec.ID] = nil
	colors := ts.colorsOf(tx, pl.Claim)
	tx.Unlock()
	defer func() {
		if err != nil {
			ts.Core.Locked(func(tx core.Tx) { delete(ts.procs.early, pl.spec.ID) })
		}
	}()
	if pl.feeds != nil {
		if k.TakesStdin() {
			pl.feed, pl.spec.Stdin, err = newPipe(ts, pl.feeds)
		} else if _, err = keeper.FindCommand(&pl.spec); err != nil && pl.Sandbox == nil {
			return nil, spawnError(err) // the shell that opens a named pipe would not report it
		} else {
			pl.feed, err = ts.NewFeeder(pl.feeds)
		}
		if err != nil {
			return nil, err
		}
		defer pl.spec.Stdin.Close()
	}
	t, n := ts.unborn(pl, colors)
	if pl.Sandbox != nil {
		c, err := pl.Sandbox.Wrap(ctx, agent.Launch{Argv: pl.spec.Argv, Env: pl.spec.Env, Dir: pl.Dir, Terminal: true})
		if err != nil {
			return nil, ahp.Conflict("create terminal: %v", err)
		}
		pl.spec.Argv, pl.spec.Env, pl.spec.Dir = c.Argv, c.Env, c.Dir
	}
	if pl.feed != nil && pl.spec.Stdin == nil {
		pl.spec.Argv = pl.feed.fed(pl.spec.Argv)
	}
	pl.spec.Note = n.encode()
	j, werr := ts.Journals.Terminal(pl.spec.ID, pl.Channel)
	before := pl.before()
	if werr == nil && before != "" {
		werr = j.Append(journal.Record{Type: record.TypeBefore, Version: record.Version, Data: []byte(before)})
	}
	if werr != nil {
		ts.Activity.Warn("journal a terminal", werr)
	}
	ctx, cancel := context.WithTimeout(ctx, spawnTime)
	defer cancel()
	proc, err := k.Spawn(ctx, pl.spec)
	if err != nil {
		ts.Core.Locked(func(tx core.Tx) { ts.Journals.Drop(j) })
		return nil, spawnError(err)
	}
	t.Meta.Pid = proc.Pid
	c, err := ts.terminalConfig(t, proc, j)
	if err != nil {
		proc.Pty.Close()
		return nil, ahp.Internal("create terminal: %v", err)
	}
	c.Command, c.Nonce, c.PromptEnds, c.Dir, c.Title, c.Before = n.Command, n.Nonce, n.PromptEnds, n.Cwd, n.Title, before
	t.unborn = j
	// The reader starts at once and may call wake before t.Term is set: wake waits for the
	// lock.
	tx = ts.Core.Lock()
	t.Term, t.keeper = terminal.New(c), k
	ts.procs.terms[proc.ID] = t
	exit := ts.procs.early[proc.ID]
	delete(ts.procs.early, proc.ID)
	tx.Unlock()
	select {
	case <-k.Done():
		ts.orphan(k)
	default:
	}
	if exit != nil {
		t.Term.Exit(*exit)
	}
	return t, nil
}

// unborn makes a terminal without a process, and the note that the next host needs.
func (ts *Terminals) unborn(pl *plan, colors emulator.Colors) (*Terminal, childNote) {
	p := pl.CreateTerminalParams
	owner := claims.Owner{Holder: pl.Holder, Person: pl.Person}
	dir := pl.Dir
	if pl.Sandbox != nil {
		dir = pl.Sandbox.Inside(dir)
	}
	t := &Terminal{
		ts: ts, process: process{proc: pl.spec.ID, sandbox: pl.In, engine: pl.engine}, holding: holding{Owner: owner, colors: colors},
		feed: pl.feed, auto: pl.Title,
		Value: ahp.TerminalState{
			Title: cmp.Or(pl.name, pl.Title), Cwd: fileuri.Of(dir), Cols: p.Cols, Rows: p.Rows,
			Lifecycle: ahp.Lifecycle{Status: ahp.StatusRunning}, Claim: p.Claim, IsPty: new(true),
		},
		Meta: ahp.TerminalMeta{
			Created: time.Now().UnixMilli(), Principal: owner.Told(p.Claim), Name: pl.name,
			Scrollback: p.Meta.Scrollback, Fit: p.Meta.Fit, Command: listedCommand(p.Meta.Command),
		},
	}
	t.follower.expect(pl.follower)
	n := childNote{
		Channel: p.Channel, Title: pl.Title, Claim: p.Claim, Cwd: t.Value.Cwd, Cols: p.Cols, Rows: p.Rows,
		Nonce: pl.nonce, PromptEnds: pl.promptEnds,
	}
	if pl.shell {
		t.shell, t.Meta.CommandIsShell = pl.spec.Argv[0], t.Meta.Command != nil
	} else {
		n.Command = pl.commandLine()
	}
	n.Facts = facts{Owner: t.Owner, Shell: t.shell, Engine: t.engine, Meta: t.Meta, Sandbox: t.sandbox, Follower: pl.follower}
	return t, n
}

// commandLine is the command line to show for a new terminal: an agent's line, or the command
// as a person started it.
func (n *Creation) commandLine() string {
	if n.Claim.Kind == ahp.ClaimSession {
		return guard.Text(n.Meta.Command, "")
	}
	return shell.Quote(n.Meta.Command, "")
}

// listedCommand is the part of a command that the list of terminals shows. It is bounded, as
// every client gets the list at every change.
func listedCommand(argv []string) []string {
	left := maxListed
	var shown []string
	for _, a := range argv {
		if len(a) > left {
			shown = append(shown, strings.ToValidUTF8(a[:left], "")+"…")
			break
		}
		shown = append(shown, a)
		left -= len(a) + 1
		if left <= 0 {
			break
		}
	}
	return shown
}

// spawnErrors maps the keeper's errors to AHP's (AHP, Error Codes), and to the exit code that
// a shell would return.
var spawnErrors = []struct {
	is         error
	code, exit int
}{
	{keeper.ErrNoDir, ahp.CodeNotFound, 0},
	{keeper.ErrNoCommand, ahp.CodeNotFound, 127},
	{keeper.ErrNotExecutable, ahp.CodePermissionDenied, 126},
	{keeper.ErrInvalid, ahp.CodeInvalidParams, 0},
}

// spawnError is the AHP error for a failed start.
func spawnError(err error) error {
	for _, e := range spawnErrors {
		if errors.Is(err, e.is) {
			return &ahp.Error{Code: e.code, Message: fmt.Sprintf("create terminal: %v", err), Data: ahp.NotStarted{ExitCode: e.exit}}
		}
	}
	return ahp.Internal("create terminal: %v", err)
}
