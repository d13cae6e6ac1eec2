package host

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
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/guard"
	"tandemux/host/journal"
	"tandemux/host/journal/record"
	"tandemux/host/keeper"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/host/terminal"
	"tandemux/internal/fileuri"
)

const (
	defaultCols, defaultRows = 80, 24
	// spawnTime bounds a keeper that does not answer.
	spawnTime = 10 * time.Second
)

// sized refuses a size of 0, which is none; one that is left out is the default.
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

// createTerminal starts a process on a new pty (R26, G37–G39).
func createTerminal(ctx context.Context, h *Host, c *requests.Conn, p ahp.CreateTerminalParams) (any, error) {
	p.Cols, p.Rows = cmp.Or(p.Cols, defaultCols), cmp.Or(p.Rows, defaultRows)
	if p.Meta == nil {
		p.Meta = &ahp.CreateMeta{}
	}
	who := c.Principal
	if err := params.Allowed("create terminal", who.Lacks(auth.ScopeCreate)); err != nil {
		return nil, err
	}
	if err := mayClaimNew(who, c.Client.ID, p.Claim); err != nil {
		return nil, err
	}
	if p.Meta.Before != "" && !who.Operates() {
		return nil, ahp.PermissionDenied("create terminal: tandemux/before: only who operates the host may say what a terminal showed before")
	}
	n := creation{CreateTerminalParams: p, who: who, holder: who.ID, known: func(tx core.Tx, t *term) error {
		t.noteAgent(p.Claim, who)
		return nil
	}}
	var roots []string
	n.confined, n.in, roots = h.confinementOf(who, p.Claim)
	var err error
	if n.dir, err = h.startingDirectory(who, n.confined, roots, p.Cwd, p.Meta.CwdOf); err != nil {
		return nil, err
	}
	if p.Meta.AwaitHolder {
		n.follower = c.Client.ID
	}
	if p.Meta.Stdin {
		n.feeds = c
	}
	if who.Agent != "" {
		limits := h.agentLimits()
		if n.quota = (quota{who.QuotaKey(), limits.Terminals, limits.Spawns}); p.Claim.ToolCallID != "" {
			n.quota = quota{who.QuotaKey() + " calls", limits.Calls, 0}
		}
	}
	t, err := h.create(context.WithoutCancel(ctx), n)
	if err != nil {
		return nil, asDenied(err)
	}
	h.audit.Did(c.Who(), "create", p.Channel, "claim", claimText(p.Claim), "pid", t.meta.Pid)
	return nil, nil
}

// creation is a terminal that is asked for, by a client or by an agent below the host.
// Who asks has made sure that the claim and the directory are right.
type creation struct {
	ahp.CreateTerminalParams                 // Meta is not nil
	who                      *auth.Principal // who must not have the name of another terminal in reach
	holder                   string          // the principal behind the claim
	title                    string          // while it has no name; "" for the command's
	dir                      string          // the host's view of where it starts
	// confined is what the process is shut in with, for the session in; nil: it isn't.
	confined *confined
	in       ahp.URI
	// quota is an agent's: its command is judged, or if there is one the line in place of
	// the command, and it gets a place. Others get none and need none.
	quota    quota
	line     string
	follower string         // the client that must miss no output
	feeds    *requests.Conn // who feeds the command, nil for nobody
	// known is called in the turn in which the terminal becomes known.
	known func(tx core.Tx, t *term) error
}

// quota is a bound of what one agent has at once, and of what it starts in a while.
type quota struct {
	of         string
	live, rate int
}

// create makes a terminal. What is checked is checked in the order of docs/decisions.md
// §22. An error after which nothing was refused, but could not be started, is a startError.
func (h *Host) create(ctx context.Context, n creation) (t *term, err error) {
	pl, err := h.plan(n)
	if err != nil {
		return nil, err
	}
	var slot *guard.Slot
	if n.quota.of != "" {
		if err := h.judge(n.Meta.Command, n.line); err != nil {
			return nil, err
		}
		if slot, err = h.quotas.Reserve(n.quota.of, n.quota.live, n.quota.rate); err != nil {
			return nil, ahp.Conflict("%s", err.Error())
		}
	}
	defer func() {
		if err != nil {
			slot.Cancel()
			pl.feed.end()
		}
	}()
	if pl.name, err = h.reserve(n); err != nil {
		return nil, err
	}
	if t, err = h.spawn(ctx, &pl); err != nil {
		h.core.Locked(func(tx core.Tx) { delete(h.reserved, n.Channel) })
		return nil, startError{err}
	}
	h.core.Do(func(tx core.Tx) {
		delete(h.reserved, n.Channel)
		if err = core.ErrClosing; !tx.Closing() {
			err = n.known(tx, t)
		}
		if err == nil {
			t.slot = slot
			h.addTerm(tx, n.Channel, t, t.unborn)
		}
	})
	if err != nil {
		t.abandon()
		return nil, err
	}
	return t, nil
}

// startError says why a command could not be started.
type startError struct{ error }

func (e startError) Unwrap() error { return e.error }

// plan is a creation that was checked.
type plan struct {
	creation
	name   string
	spec   keeper.Spec
	engine string
	shell  bool
	nonce  string // of the shell's marks
	// promptEnds says that they tell where prompts end.
	promptEnds bool
	feed       *feeder // nil unless the command is fed
}

func (h *Host) plan(n creation) (plan, error) {
	pl := plan{creation: n}
	if err := params.CheckURI(n.Channel); err != nil {
		return pl, err
	}
	for _, c := range []struct{ what, wrong string }{
		{"", wellFormed(n.Claim)}, {"", checkSize(n.Cols, n.Rows)}, {"name: ", params.CheckTitle(n.Name)}, {"tandemux/name: ", checkName(n.Meta.Name)},
	} {
		if c.wrong != "" {
			return pl, ahp.InvalidParams("create terminal: %s%s", c.what, c.wrong)
		}
	}
	start := h.start()
	argv, err := command(n.Meta.Command, cmp.Or(n.Meta.Shell, start.Shell))
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
	if pl.title == "" {
		pl.title = commandTitle(argv)
	}
	pl.spec = keeper.Spec{
		ID: strings.ToLower(rand.Text()), Argv: argv, Dir: n.dir, Cols: n.Cols, Rows: n.Rows,
		Env: h.environ(n.confined, n.Meta.Env, n.Channel, n.dir),
	}
	// A shell that was given as a command is a shell, too, if it marks its commands.
	pl.shell = n.feeds == nil && start.integrates(*n.Meta) && h.inject(&pl) || len(n.Meta.Command) == 0
	return pl, nil
}

// before is the text that a terminal begins with.
func (n *creation) before() string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, n.Meta.Before)
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

// command is what to start: the given one, or a shell.
func command(argv []string, shell string) ([]string, error) {
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

// reserve keeps the URI, the name, and a place under the limit, while the process
// starts. The name is as tandemux/name says; of AHP's name, which need not be unique,
// one is made that is.
func (h *Host) reserve(n creation) (name string, err error) {
	tx := h.core.Lock()
	defer tx.Unlock()
	uri := n.Channel
	taken := tx.Channel(uri) != nil
	_, reserved := h.reserved[uri]
	switch {
	case tx.Closing():
		return "", core.ErrClosing
	case taken || reserved:
		return "", ahp.AlreadyExists("create terminal: %s exists already: choose another URI", uri)
	case len(h.terms)+len(h.reserved) >= h.limits.Terminals:
		return "", ahp.Conflict("create terminal: there are %d terminals already, the most this host keeps: end some first", h.limits.Terminals)
	case n.Meta.Name != "":
		name = n.Meta.Name
		if s := h.nameTaken(tx, n.who, name, uri); s != "" {
			return "", ahp.AlreadyExists("create terminal: %s", s)
		}
	default:
		name = h.freeName(tx, n.who, n.Name, uri)
	}
	h.reserved[uri] = name
	return name, nil
}

// spawn starts the process and its terminal, which nobody knows yet. Its journal
// is the keeper's before the process is, and the keeper's note says enough to make
// a terminal of the process should the journal still be empty then.
func (h *Host) spawn(ctx context.Context, pl *plan) (_ *term, err error) {
	if !slices.Contains(engine.Names(), pl.engine) {
		_, err := engine.New(pl.engine, emulator.Options{Cols: 1, Rows: 1})
		return nil, ahp.Internal("create terminal: %v", err)
	}
	if err := h.regainKeeper(); err != nil {
		return nil, ahp.Internal("create terminal: %v", err)
	}
	k := h.keeper()
	tx := h.core.Lock()
	h.procs.early[pl.spec.ID] = nil
	colors := h.colorsOf(tx, pl.Claim)
	tx.Unlock()
	defer func() {
		if err != nil {
			h.core.Locked(func(tx core.Tx) { delete(h.procs.early, pl.spec.ID) })
		}
	}()
	if pl.feeds != nil {
		if pl.feed, err = h.newFeeder(pl.feeds); err != nil {
			return nil, err
		}
	}
	t, n := h.unborn(pl, colors)
	if err := pl.confined.wrap(ctx, pl); err != nil {
		return nil, ahp.Conflict("create terminal: %v", err)
	}
	if pl.feed != nil {
		pl.spec.Argv = pl.feed.fed(pl.spec.Argv)
	}
	pl.spec.Note = n.encode()
	j, werr := h.journals.Terminal(pl.spec.ID, pl.Channel)
	before := pl.before()
	if werr == nil && before != "" {
		werr = j.Append(journal.Record{Type: record.TypeBefore, Version: record.Version, Data: []byte(before)})
	}
	if werr != nil {
		h.activity.Warn("journal a terminal", werr)
	}
	ctx, cancel := context.WithTimeout(ctx, spawnTime)
	defer cancel()
	proc, err := k.Spawn(ctx, pl.spec)
	if err != nil {
		h.core.Locked(func(tx core.Tx) { h.journals.Drop(j) })
		return nil, spawnError(err)
	}
	t.meta.Pid = proc.Pid
	c, err := h.terminalConfig(t, proc, j)
	if err != nil {
		proc.Pty.Close()
		return nil, ahp.Internal("create terminal: %v", err)
	}
	c.Command, c.Nonce, c.PromptEnds, c.Dir, c.Title, c.Before = n.Command, n.Nonce, n.PromptEnds, n.Cwd, n.Title, before
	if !pl.shell {
		c.Command = commandLine(pl.creation)
	}
	t.unborn = j
	// The reader starts at once and may wake us before t.t is set: wake waits
	// for the lock.
	tx = h.core.Lock()
	t.t, t.keeper = terminal.New(c), k
	h.procs.terms[proc.ID] = t
	exit := h.procs.early[proc.ID]
	delete(h.procs.early, proc.ID)
	tx.Unlock()
	select {
	case <-k.Done():
		h.orphan(k)
	default:
	}
	if exit != nil {
		t.t.Exit(*exit)
	}
	return t, nil
}

// unborn makes a terminal that has no process yet, and what a next host must
// know of it.
func (h *Host) unborn(pl *plan, colors emulator.Colors) (*term, childNote) {
	p, yes := pl.CreateTerminalParams, true
	t := &term{
		h: h, proc: pl.spec.ID, holder: pl.holder, sandbox: pl.in, colors: colors, engine: pl.engine, feed: pl.feed, auto: pl.title,
		value: ahp.TerminalState{
			Title: cmp.Or(pl.name, pl.title), Cwd: fileuri.Of(pl.confined.inside(pl.dir)), Cols: p.Cols, Rows: p.Rows,
			Lifecycle: ahp.Lifecycle{Status: ahp.StatusRunning}, Claim: p.Claim, IsPty: &yes,
		},
		meta: ahp.TerminalMeta{
			Created: time.Now().UnixMilli(), Principal: clientPrincipal(p.Claim, pl.holder), Name: pl.name,
			Scrollback: p.Meta.Scrollback, Command: listedCommand(p.Meta.Command),
		},
	}
	t.follower.expect(pl.follower)
	n := childNote{
		Channel: p.Channel, Title: pl.title, Claim: p.Claim, Cwd: t.value.Cwd, Cols: p.Cols, Rows: p.Rows,
		Nonce: pl.nonce, PromptEnds: pl.promptEnds,
	}
	if pl.shell {
		t.shell, t.meta.CommandIsShell = pl.spec.Argv[0], t.meta.Command != nil
	} else {
		n.Command = commandLine(pl.creation)
	}
	n.Facts = facts{Holder: t.holder, Shell: t.shell, Engine: t.engine, Meta: t.meta, Sandbox: t.sandbox, Follower: pl.follower}
	return t, n
}

// listedCommand is what of a command the list of terminals shows: it goes to
// every client at every change.
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

// abandon ends the process of a terminal that nobody knows, or no longer, in the
// background: Shutdown waits for it.
func (t *term) abandon() {
	h := t.h
	h.ending.Add(1)
	go func() {
		defer h.ending.Done()
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		t.end(ctx)
	}()
}

// spawnError says in the client's terms why nothing was started.
func spawnError(err error) error {
	for _, e := range spawnErrors {
		if errors.Is(err, e.is) {
			return ahp.Errorf(e.code, "create terminal: %v", err)
		}
	}
	return ahp.Internal("create terminal: %v", err)
}

func claimText(c ahp.Claim) string {
	if c.Kind == ahp.ClaimClient {
		return "client " + c.ClientID
	}
	return strings.TrimSpace("session " + c.Session + " " + c.ToolCallID)
}

// clientPrincipal is TerminalMeta.Principal for a claim.
func clientPrincipal(c ahp.Claim, holder string) string {
	if c.Kind == ahp.ClaimClient {
		return holder
	}
	return ""
}
