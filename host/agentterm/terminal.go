package agentterm

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/commandline"
	"tandemux/host/agent/words"
	"tandemux/host/auth"
	"tandemux/host/claims"
	"tandemux/host/confine"
	"tandemux/host/core"
	"tandemux/host/guard"
	"tandemux/host/params"
	"tandemux/host/sessions"
	"tandemux/host/shell"
	"tandemux/host/terminals"
	"tandemux/internal/plaintext"
)

const (
	// agentCols and agentRows are the size of agents' terminals, so that programs that fit lines to it
	// print enough.
	agentCols, agentRows = 120, 40
	// agentOutput is how much of a command's output is kept for the agent by default, mostAgentOutput
	// how much at most, in bytes (docs/contributing/decisions.md §27).
	agentOutput, mostAgentOutput = 1 << 20, 10 << 20
	// keptAgentTerms is how many terminals whose command has ended a chat keeps.
	keptAgentTerms = 50
)

// workplace is what a chat's agent works with: the host's terminals (agent.Terminals) and files
// (agent.Files), by their paths in its sandbox. It shows people what it refuses.
type workplace struct {
	as    *Agents
	c     *sessions.Chat
	k     *confine.Sandbox // of the session; nil for most sessions
	roots *agent.Roots
}

// Create starts a command in a terminal that the session holds.
func (w *workplace) Create(ctx context.Context, s agent.TerminalSpec) (agent.Terminal, error) {
	as := w.as
	dir, err := w.directory(s.Dir)
	if err != nil {
		if errors.Is(err, agent.ErrDirOutside) {
			as.refuse(w.c, "directory", s.Dir, err)
		}
		return nil, err
	}
	argv, line := shellLine(s, dir)
	a := newTerminal(as, w.c.URI(), s.OutputLimit)
	return w.start(ctx, s, a, dir, argv, line, terminals.Quota{Of: "acp " + w.c.Session(), Live: as.Terminals.AgentLimits().Calls})
}

// MayRun implements sessions.Terminals: p may run command lines if it may create a terminal for the
// session.
func (as *Agents) MayRun(p *auth.Principal, session ahp.URI, owner string) string {
	if why := p.Lacks(auth.ScopeCreate); why != "" {
		return why
	}
	if err := claims.MayClaimNew(p, "", ahp.Claim{Kind: ahp.ClaimSession, Session: session}, owner); err != nil {
		return strings.TrimPrefix(err.Message, "create terminal: ")
	}
	return ""
}

// Run implements sessions.Terminals. It uses the person's shell, or /bin/sh in a sandbox. Package
// guard does not judge the command.
func (as *Agents) Run(ctx context.Context, c *sessions.Chat, dir, turn, call, line string) (agent.Terminal, error) {
	k, _ := c.Sandbox().(*confine.Sandbox)
	sh := "/bin/sh"
	if k == nil {
		sh = shell.Find(as.Terminals.Start().Shell)
	}
	a := newTerminal(as, c.URI(), commandline.Output)
	a.person = true
	s := agent.TerminalSpec{TurnID: turn, ToolCallID: call}
	return (&workplace{as: as, c: c, k: k}).start(ctx, s, a, dir, []string{sh, "-c", line}, line, terminals.Quota{})
}

// start makes the terminal of a command. line, if not empty, is what is judged and shown instead of
// argv.
func (w *workplace) start(ctx context.Context, s agent.TerminalSpec, a *used, dir string, argv []string, line string, quota terminals.Quota) (agent.Terminal, error) {
	as := w.as
	title := cmp.Or(line, shell.Quote(argv, ""))
	first, _, _ := strings.Cut(strings.TrimSpace(title), "\n")
	n := terminals.Creation{
		CreateTerminalParams: ahp.CreateTerminalParams{
			Channel: ahp.TerminalScheme + "/" + strings.ToLower(rand.Text()), Cols: agentCols, Rows: agentRows,
			Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: w.c.Session(), Chat: w.c.URI(), TurnID: s.TurnID, ToolCallID: s.ToolCallID},
			Meta:  &ahp.CreateMeta{Command: argv, Env: map[string]string{}, ShellIntegration: new(false)},
		},
		Who: auth.Operator, Holder: w.c.Owner(), Dir: dir,
		Title: cmp.Or(params.CleanTitle(params.Cut(first, words.MaxNamed)), "command"),
		Quota: quota, Line: line,
	}
	for _, v := range s.Env {
		n.Meta.Env[v.Name] = v.Value
	}
	if w.k != nil {
		n.Sandbox, n.In = w.k, w.c.Session()
	}
	n.Known = func(tx core.Tx, t *terminals.Terminal) error {
		if w.c.Dead(tx) {
			return core.ErrClosing
		}
		a.t = t
		t.UsedBy(tx, a, w.c.Label(tx))
		t.Watch(tx, a)
		return nil
	}
	_, err := as.Terminals.Create(context.WithoutCancel(ctx), n)
	if r, is := errors.AsType[*guard.Refusal](err); is && r.May {
		if err = w.permitted(ctx, guard.Text(argv, line), r); err == nil {
			_, err = as.Terminals.Create(context.WithoutCancel(ctx), n)
		}
	}
	var failed terminals.StartError
	switch {
	case errors.As(err, &failed):
		return unstarted{"\nError: " + err.Error() + "\n"}, nil // P17
	case err != nil:
		refused := asRefusal(err)
		if code := ahp.CodeOf(err); code == 0 || code == ahp.CodeConflict { // refused by the policy or a limit
			as.refuse(w.c, "command", title, refused)
		}
		return nil, refused
	}
	as.Core.Locked(func(tx core.Tx) { as.forgetOld(tx, w.c) })
	as.Audit.Note("create", "terminal", n.Channel, "claim", claims.Text(n.Claim), "command", params.Clip(title))
	return a, nil
}

// permitted asks a person whether the agent may run what the policy refused.
func (w *workplace) permitted(ctx context.Context, command string, r *guard.Refusal) error {
	answer, err := w.c.Permit(ctx, command, r.What)
	switch {
	case err != nil:
		return err
	case answer != ahp.AskGranted:
		return &agent.Refusal{Text: r.Error() + way[answer]}
	}
	w.as.Terminals.Belt.Allow(w.c.Session(), "", command)
	return nil
}

// way tells an agent what to do if nobody allowed the command, by the answer.
var way = map[string]string{
	ahp.AskRefused: " (the person refused it: ask what to do instead)",
	ahp.AskTimeout: " (nobody has answered: do it another way, or try again later)",
	ahp.AskNobody:  " (nobody can be asked: do it another way)",
}

// Allowed implements sessions.Terminals. The policy does not refuse what a person has allowed while
// the call runs.
func (as *Agents) Allowed(c *sessions.Chat, call string, t agent.ToolCall) {
	if command := commandOf(t); command != "" {
		as.Terminals.Belt.Allow(c.Session(), allowedBy(c, call), command)
	}
}

// allowedBy names the tool call with which a command was allowed; call "" stands for all calls of the
// chat.
func allowedBy(c *sessions.Chat, call string) string { return c.URI() + "#" + call }

// commandOf returns the command of a tool call, as a person has read it. It is "" if the input does
// not have it, or was not shown completely, as with a change of a file.
func commandOf(t agent.ToolCall) string {
	var in map[string]json.RawMessage
	var line string
	var argv []string
	switch changes := func(c agent.Content) bool { return c.Diff != nil }; {
	case slices.ContainsFunc(t.Content, changes) || json.Unmarshal(t.Input, &in) != nil:
	case json.Unmarshal(in["line"], &line) == nil && line != "": // of tandemux's run_command
		return line
	case json.Unmarshal(in["command"], &line) == nil:
		return line
	case json.Unmarshal(in["command"], &argv) == nil && len(argv) > 0:
		return guard.Text(argv, "")
	}
	return ""
}

// directory returns the host's view of a directory that the agent names.
func (w *workplace) directory(path string) (string, error) {
	if w.k != nil && path != "" {
		var err error
		if path, err = w.k.Outside(path, false); err != nil {
			return "", err
		}
	}
	return w.roots.Dir(path)
}

// shellLine returns what to start: a program with arguments as it is, a text alone as a shell's
// command line, unless it names a file (docs/contributing/decisions.md §11).
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

// asRefusal converts an error to one for the agent.
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

func (u unstarted) URI() ahp.URI        { return "" }
func (u unstarted) Bind(string, string) {}
func (u unstarted) Output() (string, bool, *agent.Exit) {
	return u.text, false, new(u.exit())
}

func (u unstarted) exit() agent.Exit                         { return agent.Exit{Code: new(127)} } // a shell's exit code for that
func (u unstarted) Wait(context.Context) (agent.Exit, error) { return u.exit(), nil }
func (u unstarted) Kill(context.Context) error               { return nil }
func (u unstarted) Release()                                 {}

// used is an agent's use of a terminal, from its creation until the agent releases it. It is guarded
// by the core's lock. It implements terminals.User and terminals.Watcher.
type used struct {
	as    *Agents
	chat  ahp.URI
	t     *terminals.Terminal
	limit int

	text     plaintext.Writer
	out      []byte        // plain text: the newest limit bytes, and some more
	cut      bool          // the beginning of the output is missing
	detached chan struct{} // closed when a person took the terminal or sent it to the background
	away     bool          // detached is closed
	person   bool          // a person's command, for which the person waits anyway
	lost     []string      // tool calls it was taken from, or turns if no call was known
	ended    chan struct{} // closed when the command has ended
	exit     *agent.Exit
	released bool
}

func newTerminal(as *Agents, chat ahp.URI, limit int) *used {
	switch limit {
	case 0:
		limit = agentOutput
	case agent.NoOutput:
		limit = 0
	}
	return &used{
		as: as, chat: chat, limit: min(limit, mostAgentOutput),
		detached: make(chan struct{}), ended: make(chan struct{}),
	}
}

func (a *used) Told(tx core.Tx, action ahp.Action) {
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
		if e, ok := a.t.Term.Exited(); ok && e.Signal != "" {
			a.exit.Signal = e.Signal
		}
		close(a.ended)
	}
}

func (a *used) Follow(core.Tx, ahp.Action) {}

func (a *used) Gone(core.Tx) {}

func (a *used) Taken(_ core.Tx, from, to ahp.Claim) {
	busy := from.Kind == ahp.ClaimSession && from.TurnID+from.ToolCallID != ""
	idle := to.TurnID+to.ToolCallID == ""
	if busy && idle {
		a.lost = append(a.lost, cmp.Or(from.ToolCallID, from.TurnID))
	}
	switch {
	case !idle && to.Chat == a.chat:
		a.regain()
	case !a.away && !a.person && (to.Kind == ahp.ClaimClient || busy):
		a.away = true
		close(a.detached)
	}
}

// regain makes the agent wait for the command again.
func (a *used) regain() {
	if a.away {
		a.away, a.detached = false, make(chan struct{})
	}
}

// tail returns the end of a text, at most most bytes, from the start of a character on.
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

func (a *used) URI() ahp.URI { return a.t.URI() }

// Bind gives the terminal to a tool call if no other call has it, or has it again (G45).
func (a *used) Bind(turnID, toolCallID string) {
	a.as.Core.Do(func(tx core.Tx) {
		c := a.t.Value.Claim
		switch {
		case toolCallID == "" || c.Kind != ahp.ClaimSession || c.Chat != a.chat || c.ToolCallID != "" || a.t.Removed(tx):
			return
		case c.TurnID != "":
		case turnID == "" || a.exit != nil || slices.Contains(a.lost, toolCallID) || slices.Contains(a.lost, turnID):
			return
		default:
			c.TurnID = turnID
			a.regain()
		}
		c.ToolCallID = toolCallID
		a.t.ClaimOwn(tx, c)
	})
}

// awayNote is the end of the output of a terminal that runs on without the agent.
const awayNote = "\n[" + agent.Detached + "]\n"

// Output returns what the agent reads.
func (a *used) Output() (text string, truncated bool, exit *agent.Exit) {
	a.as.Core.Do(func(tx core.Tx) {
		if !a.t.Removed(tx) {
			a.t.Flush(tx)
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
func (a *used) Wait(ctx context.Context) (agent.Exit, error) {
	tx := a.as.Core.Lock()
	detached := a.detached
	tx.Unlock()
	select {
	case <-a.ended:
	case <-detached:
		select {
		case <-a.ended: // if both have happened, the end counts
		default:
			return agent.Exit{}, agent.ErrDetached
		}
	case <-ctx.Done():
		return agent.Exit{}, ctx.Err()
	}
	tx = a.as.Core.Lock()
	defer tx.Unlock()
	return *a.exit, nil
}

// held reports whether the session still holds the terminal.
func (a *used) held(tx core.Tx) bool { return a.t.Value.Claim.Kind == ahp.ClaimSession }

// errNotKilled is the error of T21.
var errNotKilled = &agent.Refusal{Text: "Cannot kill visible or user-owned terminals"}

// Kill ends the command (P10–P12).
func (a *used) Kill(ctx context.Context) error {
	tx := a.as.Core.Lock()
	over, held := a.exit != nil || a.t.Removed(tx), a.held(tx)
	tx.Unlock()
	switch {
	case over:
		return nil
	case !held:
		return errNotKilled
	}
	if err := a.t.Term.Kill(ctx); err != nil {
		return err
	}
	select { // after that the output is complete
	case <-a.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release ends the agent's use of the terminal, and its command unless a person has the terminal
// (docs/contributing/decisions.md §1) or the host ends and leaves it to the next one.
func (a *used) Release() {
	a.as.Core.Do(func(tx core.Tx) {
		if a.released {
			return
		}
		a.released, a.out = true, nil
		if a.t.Removed(tx) || tx.Closing() {
			return
		}
		if c := a.t.Value.Claim; c.Kind == ahp.ClaimSession && c.TurnID+c.ToolCallID != "" && a.exit != nil {
			c.TurnID, c.ToolCallID = "", ""
			a.t.ClaimOwn(tx, c)
		}
		if a.exit != nil || !a.held(tx) || a.away {
			return
		}
		a.t.Kill(tx)
	})
}
