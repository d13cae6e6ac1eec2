package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/words"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/guard"
	"tandemux/host/params"
	"tandemux/host/sessions"
	"tandemux/host/shell"
	"tandemux/internal/plaintext"
)

const (
	// Agents' commands have this size: programs that fit their lines to it give
	// an agent something to read.
	agentCols, agentRows = 120, 40
	// agentOutput is what is kept of a command's output for the agent, in bytes,
	// when it does not say; most, what it may ask for (docs/decisions.md §27).
	agentOutput, mostAgentOutput = 1 << 20, 10 << 20
	// keptAgentTerms is how many terminals whose command has ended a chat keeps.
	keptAgentTerms = 50
)

// chatTerminals are the host's terminals as an agent's, for one chat (agent.
// Terminals). It has no state of its own.
type chatTerminals struct {
	h     *Host
	c     *sessions.Chat
	k     *confined // of the session; nil for most
	roots *agent.Roots
}

// Create starts a command in a terminal that the session holds.
func (ct *chatTerminals) Create(ctx context.Context, s agent.TerminalSpec) (agent.Terminal, error) {
	h := ct.h
	dir, err := ct.directory(s.Dir)
	if err != nil {
		if errors.Is(err, agent.ErrDirOutside) {
			heldTerminals{h}.refuse(ct.c, "directory", s.Dir, err)
		}
		return nil, err
	}
	argv, line := shellLine(s, dir)
	title := cmp.Or(line, shell.Quote(argv, ""))
	first, _, _ := strings.Cut(strings.TrimSpace(title), "\n")
	unmarked := false
	n := creation{
		CreateTerminalParams: ahp.CreateTerminalParams{
			Channel: ahp.TerminalScheme + "/" + strings.ToLower(rand.Text()), Cols: agentCols, Rows: agentRows,
			Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: ct.c.Session(), Chat: ct.c.URI(), TurnID: s.TurnID, ToolCallID: s.ToolCallID},
			Meta:  &ahp.CreateMeta{Command: argv, Env: map[string]string{}, ShellIntegration: &unmarked},
		},
		who: auth.Operator, holder: ct.c.Owner(), dir: dir, confined: ct.k,
		title: cmp.Or(params.CleanTitle(params.Cut(first, words.MaxNamed)), "command"),
		quota: quota{"acp " + ct.c.Session(), h.agentLimits().Calls, 0}, line: line,
	}
	for _, v := range s.Env {
		n.Meta.Env[v.Name] = v.Value
	}
	if ct.k != nil {
		n.in = ct.c.Session()
	}
	a := newAgentTerm(h, s.OutputLimit)
	n.known = func(tx core.Tx, t *term) error {
		if ct.c.Dead(tx) {
			return core.ErrClosing
		}
		a.t, t.used, t.meta.Agent = t, a, ct.c.Label(tx)
		return nil
	}
	_, err = h.create(context.WithoutCancel(ctx), n)
	var failed startError
	switch {
	case errors.As(err, &failed):
		return unstarted{"\nError: " + err.Error() + "\n"}, nil // P17
	case err != nil:
		refused := asRefusal(err)
		if code := ahp.CodeOf(err); code == 0 || code == ahp.CodeConflict { // by the policy, or a limit
			heldTerminals{h}.refuse(ct.c, "command", title, refused)
		}
		return nil, refused
	}
	h.core.Locked(func(tx core.Tx) { heldTerminals{h}.forgetOld(tx, ct.c) })
	h.audit.Note("create", "terminal", n.Channel, "claim", claimText(n.Claim), "command", params.Clip(title))
	return a, nil
}

// directory is the host's view of a directory that the agent names.
func (ct *chatTerminals) directory(path string) (string, error) {
	if ct.k != nil && path != "" {
		var err error
		if path, err = ct.k.Outside(path, false); err != nil {
			return "", err
		}
	}
	return ct.roots.Dir(path)
}

// shellLine is what to start: a program with arguments as it is; a text alone is
// a shell's line, unless it names a file (docs/decisions.md §11).
func shellLine(s agent.TerminalSpec, dir string) (argv []string, line string) {
	if len(s.Args) > 0 {
		return append([]string{s.Command}, s.Args...), ""
	}
	if file := s.Command; strings.Contains(file, "/") {
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return []string{s.Command}, ""
		}
	}
	return []string{"/bin/sh", "-c", s.Command}, s.Command
}

// asRefusal is an error in the words of the agent's protocol.
func asRefusal(err error) error {
	var e *ahp.Error
	var r *guard.Refusal
	switch {
	case errors.As(err, &e):
		return &agent.Refusal{Text: e.Message}
	case errors.As(err, &r):
		return &agent.Refusal{Text: r.Error()}
	}
	return err
}

// unstarted is the terminal of a command that could not be started.
type unstarted struct{ text string }

func (u unstarted) URI() ahp.URI { return "" }
func (u unstarted) Bind(string)  {}
func (u unstarted) Output() (string, bool, *agent.Exit) {
	x := u.exit()
	return u.text, false, &x
}

func (u unstarted) exit() agent.Exit {
	code := 127 // As a shell says it.
	return agent.Exit{Code: &code}
}
func (u unstarted) Wait(context.Context) (agent.Exit, error) { return u.exit(), nil }
func (u unstarted) Kill(context.Context) error               { return nil }
func (u unstarted) Release()                                 {}

// agentTerm is an agent's use of a terminal, from its making until the agent
// releases it. Guarded by the lock.
type agentTerm struct {
	h     *Host
	t     *term
	limit int

	text     plaintext.Writer
	out      []byte        // plain text, the newest limit bytes and some
	cut      bool          // out lacks its beginning
	detached chan struct{} // closed when a person took the terminal, or sent it away
	away     bool          // detached is closed
	ended    chan struct{} // closed when the command has ended
	exit     *agent.Exit
	released bool
}

func newAgentTerm(h *Host, limit int) *agentTerm {
	if limit <= 0 {
		limit = agentOutput
	}
	return &agentTerm{
		h: h, limit: min(limit, mostAgentOutput),
		detached: make(chan struct{}), ended: make(chan struct{}),
	}
}

// see follows the terminal's actions.
func (a *agentTerm) see(tx core.Tx, action ahp.Action) {
	switch x := action.(type) {
	case ahp.TerminalData:
		if a.released {
			return
		}
		a.out = a.text.Write(a.out, []byte(x.Data))
		if len(a.out) > a.limit+max(a.limit/4, 64<<10) {
			a.out = append([]byte(nil), tail(a.out, a.limit)...)
			a.cut = true
		}
	case ahp.TerminalExited:
		if a.exit != nil {
			return
		}
		a.exit = &agent.Exit{Code: x.ExitCode}
		if e, ok := a.t.t.Exited(); ok && e.Signal != "" {
			a.exit.Signal = e.Signal
		}
		close(a.ended)
	}
}

// taken follows a claim that somebody else made.
func (a *agentTerm) taken(from, to ahp.Claim) {
	busy := from.Kind == ahp.ClaimSession && from.TurnID+from.ToolCallID != ""
	idle := to.TurnID+to.ToolCallID == ""
	if !a.away && (to.Kind == ahp.ClaimClient || busy && idle) {
		a.away = true
		close(a.detached)
	}
}

// tail is the end of a text, at most so many bytes, from a character's beginning.
func tail(b []byte, most int) []byte {
	if len(b) <= most {
		return b
	}
	b = b[len(b)-most:]
	for len(b) > 0 && !utf8.RuneStart(b[0]) {
		b = b[1:]
	}
	return b
}

// URI is the terminal's.
func (a *agentTerm) URI() ahp.URI { return a.t.ch.URI }

// Bind claims the terminal for a tool call, if it is for none yet.
func (a *agentTerm) Bind(toolCallID string) {
	a.h.core.Do(func(tx core.Tx) {
		c := a.t.value.Claim
		if toolCallID == "" || c.Kind != ahp.ClaimSession || c.TurnID == "" || c.ToolCallID != "" || a.removed(tx) {
			return
		}
		c.ToolCallID = toolCallID
		a.t.claimForAgent(tx, c)
	})
}

// claimForAgent changes what in its session a terminal is claimed for.
func (t *term) claimForAgent(tx core.Tx, to ahp.Claim) {
	t.transfer(tx, to, nil, &auth.Principal{ID: t.holder})
}

// removed reports whether the terminal was disposed of.
func (a *agentTerm) removed(tx core.Tx) bool { return tx.Channel(a.t.ch.URI) != a.t.ch }

// awayNote is what an agent reads at the end of a terminal that runs on without
// it.
const awayNote = "\n[" + agent.Detached + "]\n"

// Output is what the agent reads.
func (a *agentTerm) Output() (text string, truncated bool, exit *agent.Exit) {
	a.h.core.Do(func(tx core.Tx) {
		if !a.removed(tx) {
			a.t.flush(tx)
		}
		all := a.text.AppendLine(slices.Clone(a.out))
		kept := tail(all, a.limit)
		text, truncated = strings.ToValidUTF8(string(kept), "\uFFFD"), a.cut || len(kept) < len(all)
		if exit = a.exit; exit == nil && a.away {
			text += awayNote
		}
	})
	return text, truncated, exit
}

// Wait waits for the end of the command.
func (a *agentTerm) Wait(ctx context.Context) (agent.Exit, error) {
	select {
	case <-a.ended:
	case <-a.detached:
		select {
		case <-a.ended: // Both: the end counts.
		default:
			return agent.Exit{}, agent.ErrDetached
		}
	case <-ctx.Done():
		return agent.Exit{}, ctx.Err()
	}
	tx := a.h.core.Lock()
	defer tx.Unlock()
	return *a.exit, nil
}

// held reports whether the terminal is the session's still.
func (a *agentTerm) held(tx core.Tx) bool { return a.t.value.Claim.Kind == ahp.ClaimSession }

// errNotKilled is T21's.
var errNotKilled = &agent.Refusal{Text: "Cannot kill visible or user-owned terminals"}

// Kill ends the command (P10–P12).
func (a *agentTerm) Kill(ctx context.Context) error {
	tx := a.h.core.Lock()
	over, held := a.exit != nil || a.removed(tx), a.held(tx)
	tx.Unlock()
	switch {
	case over:
		return nil
	case !held:
		return errNotKilled
	}
	if err := a.t.t.Kill(ctx); err != nil {
		return err
	}
	select { // Its output is whole then.
	case <-a.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release lets go of the terminal and ends its command, unless a person has it
// (docs/decisions.md §1): then, and when the host goes and leaves it to the next
// one, it runs on.
func (a *agentTerm) Release() {
	a.h.core.Do(func(tx core.Tx) {
		if a.released {
			return
		}
		a.released, a.out = true, nil
		if a.removed(tx) || tx.Closing() {
			return
		}
		if c := a.t.value.Claim; c.Kind == ahp.ClaimSession && c.TurnID+c.ToolCallID != "" && a.exit != nil {
			c.TurnID, c.ToolCallID = "", ""
			a.t.claimForAgent(tx, c)
		}
		if a.exit != nil || !a.held(tx) || a.away {
			return
		}
		a.h.ending.Add(1)
		go func() {
			defer a.h.ending.Done()
			ctx, cancel := context.WithTimeout(context.Background(), endTime)
			defer cancel()
			if err := a.t.t.Kill(ctx); err != nil {
				a.h.log.Warn("end an agent's terminal", "err", err)
			}
		}()
	})
}

// heldTerminals are the host's terminals as far as sessions hold them; it implements
// sessions.Terminals.
type heldTerminals struct{ h *Host }

// Supply implements sessions.Terminals.
func (ts heldTerminals) Supply(tx core.Tx, c *sessions.Chat, spec *agent.Spec) {
	h := ts.h
	roots, err := agent.NewRoots(spec.Roots)
	if err != nil {
		h.log.Warn("an agent gets neither terminals nor files", "session", c.Session(), "err", err)
		return
	}
	k, _ := c.Sandbox().(*confined)
	spec.Terminals = &chatTerminals{h: h, c: c, k: k, roots: roots}
	var files agent.Files = roots
	if k != nil {
		files = &insideFiles{k, roots}
	}
	spec.Files = chatFiles{files, h, c}
	if h.cfg.AgentServers != nil {
		servers := h.cfg.AgentServers(c.Provider(), c.Session(), c.URI())
		if k != nil {
			servers = h.serversInside(k, servers)
		}
		spec.Servers = append(spec.Servers, servers...)
	}
}

// where are the terminals whose claim is a session's and is meant.
func (ts heldTerminals) where(meant func(claim ahp.Claim) bool) (list []*term) {
	for _, t := range ts.h.terms {
		if claim := t.value.Claim; claim.Kind == ahp.ClaimSession && meant(claim) {
			list = append(list, t)
		}
	}
	return list
}

// CallEnded implements sessions.Terminals: the terminals of what has ended are the
// session's in the background then (G41).
func (ts heldTerminals) CallEnded(tx core.Tx, c *sessions.Chat, turn, call string) {
	for _, t := range ts.where(func(claim ahp.Claim) bool {
		return claim.Chat == c.URI() && claim.TurnID+claim.ToolCallID != "" &&
			(turn == "" || claim.TurnID == turn) && (call == "" || claim.ToolCallID == call)
	}) {
		claim := t.value.Claim
		claim.TurnID, claim.ToolCallID = "", ""
		t.claimForAgent(tx, claim)
	}
}

// ChatEnded implements sessions.Terminals (G42, G46).
func (ts heldTerminals) ChatEnded(tx core.Tx, c *sessions.Chat) {
	for _, t := range ts.where(func(claim ahp.Claim) bool { return claim.Chat == c.URI() }) {
		t.dispose(tx)
	}
}

// SessionEnded implements sessions.Terminals.
func (ts heldTerminals) SessionEnded(tx core.Tx, session ahp.URI) {
	for _, t := range ts.where(func(claim ahp.Claim) bool { return claim.Session == session }) {
		t.dispose(tx)
	}
}

// State implements sessions.Terminals.
func (ts heldTerminals) State(tx core.Tx, uri ahp.URI) (ahp.TerminalState, bool) {
	if t, ok := termAt(tx, uri); ok {
		return t.value, true
	}
	return ahp.TerminalState{}, false
}

// HeldFor implements sessions.Terminals.
func (ts heldTerminals) HeldFor(tx core.Tx, c *sessions.Chat, call string) (list []ahp.URI) {
	for _, t := range ts.where(func(claim ahp.Claim) bool { return claim.Chat == c.URI() && claim.ToolCallID == call }) {
		list = append(list, t.ch.URI)
	}
	return list
}

// forgetOld removes the oldest of a chat's terminals whose command has ended, so
// that a long conversation does not fill the host.
func (ts heldTerminals) forgetOld(tx core.Tx, c *sessions.Chat) {
	over := slices.DeleteFunc(ts.where(func(claim ahp.Claim) bool { return claim.Chat == c.URI() && claim.TurnID == "" }), func(t *term) bool {
		return !t.value.Lifecycle.Exited() || t.inLayout(tx)
	})
	for len(over) > keptAgentTerms {
		over[0].dispose(tx)
		over = over[1:]
	}
}
