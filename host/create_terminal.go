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
	plan, err := h.plan(c, p)
	if err != nil {
		return nil, err
	}
	slot, err := h.judge(c.Principal, p)
	if err == nil {
		if plan.name, err = h.reserve(c.Principal, p); err != nil {
			slot.Cancel()
		}
	}
	if err != nil {
		plan.feed.end()
		return nil, err
	}
	t, err := h.spawn(context.WithoutCancel(ctx), plan)
	if err == nil {
		t.slot = slot
	}
	closing := false
	h.core.Locked(func(tx core.Tx) {
		delete(h.reserved, p.Channel)
		if closing = tx.Closing(); err == nil && !closing {
			t.noteAgent(p.Claim, c.Principal)
			h.addTerm(tx, p.Channel, t, t.unborn)
		}
	})
	switch {
	case err != nil:
		plan.feed.end()
		slot.Cancel()
		return nil, err
	case closing:
		plan.feed.end()
		t.abandon()
		return nil, core.ErrClosing
	}
	h.audit.Did(c.Who(), "create", p.Channel, "claim", claimText(p.Claim), "pid", t.meta.Pid)
	return nil, nil
}

// plan is a checked request.
type plan struct {
	params ahp.CreateTerminalParams
	holder string
	title  string // while it has no name
	name   string
	dir    string
	spec   keeper.Spec
	engine string
	shell  bool
	nonce  string // of the shell's marks
	// promptEnds says that they tell where prompts end.
	promptEnds bool
	follower   string  // the client that must miss no output
	feed       *feeder // nil unless the command is fed
	before     string  // what it shows before anything else
	// confined is what the process is shut in with, for the session in; nil: it isn't.
	confined *confined
	in       ahp.URI
}

func (h *Host) plan(c *requests.Conn, p ahp.CreateTerminalParams) (plan, error) {
	pl := plan{params: p, holder: c.Principal.ID}
	if err := params.Allowed("create terminal", c.Principal.Lacks(auth.ScopeCreate)); err != nil {
		return pl, err
	}
	if err := params.CheckURI(p.Channel); err != nil {
		return pl, err
	}
	if err := mayClaimNew(c.Principal, c.Client.ID, p.Claim); err != nil {
		return pl, err
	}
	if p.Cols == 0 {
		p.Cols = defaultCols
	}
	if p.Rows == 0 {
		p.Rows = defaultRows
	}
	if s := checkSize(p.Cols, p.Rows); s != "" {
		return pl, ahp.InvalidParams("create terminal: %s", s)
	}
	if s := params.CheckTitle(p.Name); s != "" {
		return pl, ahp.InvalidParams("create terminal: name: %s", s)
	}
	meta := p.Meta
	if meta == nil {
		meta = &ahp.CreateMeta{}
	}
	if s := checkName(meta.Name); s != "" {
		return pl, ahp.InvalidParams("create terminal: tandemux/name: %s", s)
	}
	var roots []string
	pl.confined, pl.in, roots = h.confinementOf(c.Principal, p.Claim)
	dir, err := h.startingDirectory(c.Principal, pl.confined, roots, p.Cwd, meta.CwdOf)
	if err != nil {
		return pl, err
	}
	start := h.start()
	if meta.Shell == "" {
		with := *meta
		with.Shell = start.Shell
		meta = &with
	}
	argv, err := h.command(*meta)
	if err != nil {
		return pl, err
	}
	if err := checkEnv(meta.Env); err != nil {
		return pl, err
	}
	if err := checkScrollback(meta.Scrollback); err != nil {
		return pl, err
	}
	if pl.before, err = before(c.Principal, meta.Before); err != nil {
		return pl, err
	}
	pl.params = p
	pl.engine = start.Engine
	pl.dir = dir
	pl.title = commandTitle(argv)
	pl.spec = keeper.Spec{
		ID: strings.ToLower(rand.Text()), Argv: argv, Dir: dir, Cols: p.Cols, Rows: p.Rows,
		Env: h.environ(pl.confined, meta.Env, p.Channel, dir),
	}
	if meta.AwaitHolder {
		pl.follower = c.Client.ID
	}
	if meta.Stdin {
		if len(meta.Command) == 0 {
			return pl, ahp.InvalidParams("create terminal: tandemux/stdin: only a tandemux/command can be fed")
		}
		if pl.feed, err = h.newFeeder(c); err != nil {
			return pl, err
		}
	}
	// A shell that was given as a command is a shell, too, if it marks its commands.
	pl.shell = pl.feed == nil && start.integrates(*meta) && h.inject(&pl) || len(meta.Command) == 0
	return pl, nil
}

// before is the text that a terminal begins with. What is on a person's screen
// without a program having written it is only the owner's to say.
func before(p *auth.Principal, text string) (string, error) {
	switch {
	case text == "":
		return "", nil
	case !p.Operates():
		return "", ahp.PermissionDenied("create terminal: tandemux/before: only who operates the host may say what a terminal showed before")
	case len(text) > ahp.MaxBefore:
		return "", ahp.InvalidParams("create terminal: tandemux/before: longer than %d bytes", ahp.MaxBefore)
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text), nil
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
func (h *Host) command(m ahp.CreateMeta) ([]string, error) {
	if len(m.Command) == 0 {
		if m.Shell == "" {
			return []string{h.shell}, nil
		}
		if !filepath.IsAbs(m.Shell) || strings.ContainsRune(m.Shell, 0) {
			return nil, ahp.InvalidParams("create terminal: tandemux/shell: %q is not an absolute path", m.Shell)
		}
		return []string{m.Shell}, nil
	}
	size := 0
	for _, a := range m.Command {
		size += len(a)
		if strings.ContainsRune(a, 0) {
			return nil, ahp.InvalidParams("create terminal: tandemux/command: an argument has a zero byte in it")
		}
	}
	switch {
	case len(m.Command) > maxArgs || size > maxArgBytes:
		return nil, ahp.InvalidParams("create terminal: tandemux/command: more than %d arguments or %d bytes", maxArgs, maxArgBytes)
	case m.Command[0] == "":
		return nil, ahp.InvalidParams("create terminal: tandemux/command: the command's name is empty")
	}
	return m.Command, nil
}

// reserve keeps the URI, the name, and a place under the limit, while the process
// starts. The name is as tandemux/name says; of AHP's name, which need not be unique,
// one is made that is.
func (h *Host) reserve(pr *auth.Principal, p ahp.CreateTerminalParams) (name string, err error) {
	tx := h.core.Lock()
	defer tx.Unlock()
	uri := p.Channel
	taken := tx.Channel(uri) != nil
	_, reserved := h.reserved[uri]
	switch {
	case tx.Closing():
		return "", core.ErrClosing
	case taken || reserved:
		return "", ahp.AlreadyExists("create terminal: %s exists already: choose another URI", uri)
	case len(h.terms)+len(h.reserved) >= h.limits.Terminals:
		return "", ahp.Conflict("create terminal: there are %d terminals already, the most this host keeps: end some first", h.limits.Terminals)
	case p.Meta != nil && p.Meta.Name != "":
		name = p.Meta.Name
		if s := h.nameTaken(tx, pr, name, uri); s != "" {
			return "", ahp.AlreadyExists("create terminal: %s", s)
		}
	default:
		name = h.freeName(tx, pr, p.Name, uri)
	}
	h.reserved[uri] = name
	return name, nil
}

// spawn starts the process and its terminal, which nobody knows yet. Its journal
// is the keeper's before the process is, and the keeper's note says enough to make
// a terminal of the process should the journal still be empty then.
func (h *Host) spawn(ctx context.Context, pl plan) (*term, error) {
	p := pl.params
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
	colors := h.colorsOf(tx, p.Claim)
	tx.Unlock()
	t, n := h.unborn(pl, colors)
	if err := pl.confined.wrap(ctx, &pl); err != nil {
		h.core.Locked(func(tx core.Tx) { delete(h.procs.early, pl.spec.ID) })
		return nil, ahp.Conflict("create terminal: %v", err)
	}
	if pl.feed != nil {
		pl.spec.Argv = pl.feed.fed(pl.spec.Argv)
	}
	pl.spec.Note = n.encode()
	j, werr := h.journals.Terminal(pl.spec.ID, p.Channel)
	if werr == nil && pl.before != "" {
		werr = j.Append(journal.Record{Type: record.TypeBefore, Version: record.Version, Data: []byte(pl.before)})
	}
	if werr != nil {
		h.activity.Warn("journal a terminal", werr)
	}
	ctx, cancel := context.WithTimeout(ctx, spawnTime)
	defer cancel()
	proc, err := k.Spawn(ctx, pl.spec)
	if err != nil {
		h.core.Locked(func(tx core.Tx) {
			delete(h.procs.early, pl.spec.ID)
			h.journals.Drop(j)
		})
		return nil, h.spawnError(err)
	}
	t.meta.Pid = proc.Pid
	c, err := h.terminalConfig(t, proc, j)
	if err != nil {
		proc.Pty.Close()
		return nil, ahp.Internal("create terminal: %v", err)
	}
	c.Command, c.Nonce, c.PromptEnds, c.Dir, c.Title, c.Before = n.Command, n.Nonce, n.PromptEnds, n.Cwd, n.Title, pl.before
	if !pl.shell {
		c.Command = commandLine(p)
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
func (h *Host) unborn(pl plan, colors emulator.Colors) (*term, childNote) {
	p := pl.params
	yes := true
	t := &term{
		h: h, proc: pl.spec.ID, holder: pl.holder, sandbox: pl.in, colors: colors, engine: pl.engine, feed: pl.feed, auto: pl.title,
		value: ahp.TerminalState{
			Title: cmp.Or(pl.name, pl.title), Cwd: fileuri.Of(pl.confined.inside(pl.dir)), Cols: p.Cols, Rows: p.Rows,
			Lifecycle: ahp.Lifecycle{Status: ahp.StatusRunning}, Claim: p.Claim, IsPty: &yes,
		},
		meta: ahp.TerminalMeta{Created: time.Now().UnixMilli(), Principal: clientPrincipal(p.Claim, pl.holder), Name: pl.name},
	}
	if p.Meta != nil {
		t.meta.Scrollback = p.Meta.Scrollback
	}
	t.follower.expect(pl.follower)
	n := childNote{
		Channel: p.Channel, Title: pl.title, Claim: p.Claim, Cwd: t.value.Cwd, Cols: p.Cols, Rows: p.Rows,
		Nonce: pl.nonce, PromptEnds: pl.promptEnds,
	}
	if p.Meta != nil {
		t.meta.Command = listedCommand(p.Meta.Command)
	}
	if pl.shell {
		t.shell, t.meta.CommandIsShell = pl.spec.Argv[0], t.meta.Command != nil
	} else {
		n.Command = commandLine(p)
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
func (h *Host) spawnError(err error) error {
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
