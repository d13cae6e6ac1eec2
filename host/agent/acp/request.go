package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/internal/jsonrpc"
)

const (
	// maxTerminals bounds the terminals that an agent holds.
	maxTerminals = 200
	// maxPermissions bounds the options of one question.
	maxPermissions = 32
	// maxOutput bounds the output that an agent may ask to keep, in bytes
	// (docs/contributing/decisions.md §27).
	maxOutput = 10 << 20
)

// served has the requests that agents may make. Each has two parts: the first runs in order with all
// messages, and checks the request; the function that it returns may take time.
var served = map[string]func(*session, json.RawMessage) (work, error){
	methodPermission: of((*session).permission),
	methodRead:       of((*session).readFile),
	methodWrite:      of((*session).writeFile),
	methodCreate:     of((*session).createTerminal),
	methodOutput:     ofTerminal(terminalOutput),
	methodWait:       ofTerminal(waitTerminal),
	methodKill:       ofTerminal(killTerminal),
	methodRelease:    of((*session).releaseTerminal),
	methodElicit:     (*session).elicit,
}

// work is the second part of a request.
type work = func(context.Context) (any, error)

// of decodes a request's params and checks its session.
func of[P interface{ session() string }](serve func(*session, P) (work, error)) func(*session, json.RawMessage) (work, error) {
	return func(s *session, raw json.RawMessage) (work, error) {
		var p P
		if len(raw) == 0 || json.Unmarshal(raw, &p) != nil {
			return nil, &agent.Refusal{Text: "params: missing, or not as the protocol has them"}
		}
		if id := s.ID(); id != "" && p.session() != id {
			return nil, &jsonrpc.Error{Code: codeNotFound, Message: fmt.Sprintf("there is no session %q", clip(p.session(), 100))}
		}
		return serve(s, p)
	}
}

// permission handles session/request_permission: it asks a person whether a tool call may run.
func (s *session) permission(p permissionParams) (work, error) {
	var u struct {
		toolCall
		Content json.RawMessage `json:"content"`
	}
	if err := lenient(p.ToolCall, &u); err != nil || u.ID == "" || len(p.Options) == 0 || len(p.Options) > maxPermissions {
		return nil, &agent.Refusal{Text: fmt.Sprintf("params: a toolCall with an id, and 1 to %d options are needed", maxPermissions)}
	}
	cancelled := permissionResult{outcome{Outcome: "cancelled"}}
	q := agent.Confirmation{}
	for _, o := range p.Options {
		q.Options = append(q.Options, agent.Choice{ID: o.ID, Name: clip(cmp.Or(o.Name, o.ID), 500), Group: o.Kind})
	}
	s.mu.Lock()
	t := s.turn
	s.mu.Unlock()
	var c *call
	if t != nil {
		t.do(func(sink agent.Sink) {
			if c = s.merge(t, sink, u.toolCall, u.Content); c == nil {
				return
			}
			if option, ok := agent.OptionOf(q.Options, agent.ConfirmAllowOnce, agent.ConfirmAllowAlways); ok && ahp.Unasked(s.p.c.Confirm, c.Kind) {
				c.Status = max(c.Status, agent.ToolRunning)
				q.Options, cancelled.Outcome = nil, outcome{"selected", option}
			}
			sink.Tool(c.ToolCall)
			q.Call, q.Editable = c.ToolCall, s.editable(c)
		})
	}
	if c == nil || q.Options == nil { // nobody can answer, or no answer is needed
		return func(context.Context) (any, error) { return cancelled, nil }, nil
	}
	return func(ctx context.Context) (any, error) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		defer context.AfterFunc(t.ctx, stop)()
		answer, err := t.sink.Confirm(ctx, q)
		i := slices.IndexFunc(q.Options, func(o agent.Choice) bool { return o.ID == answer.Option })
		if err != nil || i < 0 {
			return cancelled, nil
		}
		if strings.HasPrefix(q.Options[i].Group, "allow") {
			t.do(func(agent.Sink) {
				if from, to := command(c.Input), command(answer.Input); to != "" && to != from {
					if t.edits == nil {
						t.edits = map[string]string{}
					}
					t.edits[c.ID] = to
				}
				c.Status = max(c.Status, agent.ToolRunning)
			})
		}
		return permissionResult{outcome{"selected", answer.Option}}, nil
	}, nil
}

func (s *session) readFile(p fileParams) (work, error) {
	line, limit := 0, 0
	if p.Line != nil {
		line = *p.Line
	}
	if p.Limit != nil {
		limit = *p.Limit
	}
	if s.spec.Files == nil || line < 0 || limit < 0 {
		return nil, &agent.Refusal{Text: "read file: no files here, or a line or limit below 0"}
	}
	return func(ctx context.Context) (any, error) {
		if p.Limit != nil && limit == 0 {
			limit = 1 // no lines are wanted, only whether the file exists
			_, err := s.spec.Files.Read(ctx, p.Path, line, limit)
			return map[string]string{"content": ""}, fileError(err, p.Path)
		}
		text, err := s.spec.Files.Read(ctx, p.Path, line, limit)
		return map[string]string{"content": text}, fileError(err, p.Path)
	}, nil
}

func (s *session) writeFile(p fileParams) (work, error) {
	if s.spec.Files == nil || p.Content == nil {
		return nil, &agent.Refusal{Text: "write file: no files here, or no content"}
	}
	return func(ctx context.Context) (any, error) {
		return struct{}{}, fileError(s.spec.Files.Write(ctx, p.Path, *p.Content), p.Path)
	}, nil
}

func fileError(err error, path string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &jsonrpc.Error{Code: codeNotFound, Message: "Resource not found: " + path}
	}
	return err
}

func (s *session) createTerminal(p createParams) (work, error) {
	s.mu.Lock()
	t, live := s.turn, len(s.terms)
	s.mu.Unlock()
	switch {
	case s.spec.Terminals == nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "there are no terminals here"}
	case p.Command == "":
		return nil, &agent.Refusal{Text: "create terminal: command: missing"}
	case live >= maxTerminals:
		return nil, &agent.Refusal{Text: fmt.Sprintf("create terminal: %d terminals are not released: release some first", live)}
	}
	spec := agent.TerminalSpec{Command: p.Command, Args: p.Args, Env: p.Env, Dir: p.Cwd}
	if limit := p.OutputByteLimit; limit != nil {
		spec.OutputLimit = int(min(*limit, maxOutput))
		if *limit <= 0 {
			spec.OutputLimit = agent.NoOutput
		}
	}
	changed := false
	if t != nil {
		spec.TurnID, spec.ToolCallID = t.id, s.caller(t)
		if len(p.Args) == 0 {
			spec.Command, changed = s.takeEdit(t, p.Command)
		}
	}
	return func(ctx context.Context) (any, error) {
		term, err := s.spec.Terminals.Create(ctx, spec)
		if err != nil {
			return nil, err
		}
		if changed {
			term = editedTerm{term, fmt.Sprintf("[A person changed this command before it ran. What ran is: %s]\n", clip(spec.Command, maxTitle))}
		}
		s.mu.Lock()
		s.lastTerm++
		id := fmt.Sprintf("term_%d", s.lastTerm)
		gone := s.closed || s.l == nil || !s.l.alive()
		if !gone {
			s.terms[id] = term
			s.made.add(id, made{term, clip(strings.Join(append([]string{spec.Command}, p.Args...), " "), maxTitle)})
		}
		s.mu.Unlock()
		if gone { // nobody else would release it
			term.Release()
			return nil, errors.New("create terminal: the session has ended")
		}
		return map[string]string{"terminalId": id}, nil
	}, nil
}

// caller returns the tool call that a new terminal belongs to, if there is only one candidate. Agents
// name the call only later, when they show the terminal.
func (s *session) caller(t *turn) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := ""
	for _, c := range t.calls {
		if c.Status.Over() || c.Kind != "execute" || slices.ContainsFunc(c.items, func(i toolContent) bool { return i.Type == "terminal" }) {
			continue
		}
		if found != "" {
			return ""
		}
		found = c.ID
	}
	return found
}

// terminalContent returns a terminal as content of a tool call, with how its command ended if the call
// is over, and its size.
func (s *session) terminalContent(id string, over bool) (agent.Content, int) {
	s.mu.Lock()
	m, known := s.made.byID[id]
	d := s.displays[id]
	var shown agent.TerminalContent
	if d != nil {
		shown = *d
	}
	s.mu.Unlock()
	switch {
	case known && m.URI() != "":
		shown = agent.TerminalContent{URI: m.URI(), Title: m.title}
		if over {
			_, _, shown.Exit = m.Output()
		}
	case known:
		text, _, exit := m.Output()
		shown = agent.TerminalContent{Title: m.title, Output: text, Exit: exit}
	case d == nil:
		return agent.Content{}, 0
	}
	return agent.Content{Terminal: &shown}, len(shown.URI) + len(shown.Title) + len(shown.Output)
}

// bind tells the terminals that a tool call shows which call they belong to. The turn's mutex must be
// held.
func (s *session) bind(t *turn, c *call) {
	turn := t.id
	if c.Status.Over() {
		turn = ""
	}
	for _, item := range c.items {
		if item.Type != "terminal" {
			continue
		}
		s.mu.Lock()
		term := s.terms[item.TerminalID]
		s.mu.Unlock()
		if term != nil {
			term.Bind(turn, c.ID)
		}
	}
}

// use tells a terminal that the agent uses which tool call it belongs to: one that shows it, else the
// only one that is not over.
func (s *session) use(id string, term agent.Terminal) {
	s.mu.Lock()
	t := s.turn
	s.mu.Unlock()
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	var open []string
	shown := false
	for _, c := range t.calls {
		switch {
		case c.Status.Over():
		case slices.ContainsFunc(c.items, func(i toolContent) bool { return i.Type == "terminal" && i.TerminalID == id }):
			shown = true
			term.Bind(t.id, c.ID)
		default:
			open = append(open, c.ID)
		}
	}
	if !shown && len(open) == 1 {
		term.Bind(t.id, open[0])
	}
}

// ofTerminal finds the terminal that a request names, and calls serve with it.
func ofTerminal(serve func(agent.Terminal) work) func(*session, json.RawMessage) (work, error) {
	return of(func(s *session, p terminalParams) (work, error) {
		s.mu.Lock()
		t := s.terms[p.TerminalID]
		s.mu.Unlock()
		if t == nil {
			return nil, &jsonrpc.Error{Code: codeNotFound, Message: "Terminal not found: " + clip(p.TerminalID, 200)} // P8
		}
		s.use(p.TerminalID, t)
		return serve(t), nil
	})
}

func terminalOutput(t agent.Terminal) work {
	return func(context.Context) (any, error) {
		text, truncated, exit := t.Output()
		r := outputResult{Output: text, Truncated: truncated}
		if exit != nil {
			r.ExitStatus = wireExit(*exit)
		}
		return r, nil
	}
}

// waitTerminal answers when the command has ended, or when a person has taken the terminal. Then the
// answer has neither exit code nor signal, and the agent goes on.
func waitTerminal(t agent.Terminal) work {
	return func(ctx context.Context) (any, error) {
		exit, err := t.Wait(ctx)
		if errors.Is(err, agent.ErrDetached) {
			return exitStatus{}, nil
		}
		return wireExit(exit), err
	}
}

func wireExit(x agent.Exit) *exitStatus {
	e := &exitStatus{ExitCode: x.Code}
	if x.Signal != "" {
		e.ExitCode, e.Signal = nil, &x.Signal
	}
	return e
}

func killTerminal(t agent.Terminal) work {
	return func(ctx context.Context) (any, error) { return struct{}{}, t.Kill(ctx) }
}

// releaseTerminal succeeds even if the terminal does not exist (P13).
func (s *session) releaseTerminal(p terminalParams) (work, error) {
	s.mu.Lock()
	t := s.terms[p.TerminalID]
	delete(s.terms, p.TerminalID)
	s.mu.Unlock()
	return func(context.Context) (any, error) {
		if t != nil {
			t.Release()
		}
		return struct{}{}, nil
	}, nil
}
