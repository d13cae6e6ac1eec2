package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent"
)

// scripted is a provider whose agent does what a script says for the prompt that
// it gets: one step a line.
//
//	heard                       says what it was asked, with what is attached
//	say TEXT · think TEXT · notice TEXT · title TEXT
//	tool ID STATUS KIND TITLE   status: pending, running, completed, failed
//	terminal ID URI             content of a running tool call
//	confirm ID KIND TITLE       asks, says "chose OPTION", and goes on
//	editable ID KIND TITLE      the same, with an input that may be edited
//	ask JSON                    asks a person, says how that ended
//	client ID NAME JSON         has a client carry a tool out, says the result
//	usage IN OUT · plan STATUS TEXT · option ID VALUE CHOICES…
//	await WORD                  waits until the test says so, or the turn ends
//	stop WORD · fail TEXT · die · hang    how it ends; without: well
//	flood N                     says N kilobytes
type scripted struct {
	id      string
	mu      sync.Mutex
	scripts map[string]string
	words   map[string]chan struct{}
	refuse  error                 // what Open gives
	opening func(context.Context) // delays Open
	plain   bool                  // its sessions take no steering
	forks   atomic.Bool           // its sessions can be copied
	auth    []agent.AuthMethod
	env     []agent.Var                           // what the last Open was given
	opens   atomic.Int32                          // sessions opened so far
	closed  atomic.Int32                          //
	resumed map[string]bool                       // sessions that can be resumed
	run     func(s *scriptedSession, text string) // instead of a script
}

func newScripted(id string) *scripted {
	return &scripted{id: id, scripts: map[string]string{}, words: map[string]chan struct{}{}, resumed: map[string]bool{}}
}

func (p *scripted) word(w string) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.words[w] == nil {
		p.words[w] = make(chan struct{})
	}
	return p.words[w]
}

func (p *scripted) Info() agent.Info {
	return agent.Info{ID: p.id, Name: strings.ToUpper(p.id[:1]) + p.id[1:], Description: "does as it is told", Fork: p.forks.Load(), Auth: p.auth}
}

func (p *scripted) Authenticate(_ context.Context, method string) error {
	if method != "login" {
		return errors.New("there is no such way to log in")
	}
	return nil
}

func (p *scripted) Open(ctx context.Context, spec agent.Spec) (agent.Session, error) {
	if p.opening != nil {
		p.opening(ctx)
	}
	if p.refuse != nil {
		return nil, p.refuse
	}
	p.mu.Lock()
	p.env = spec.Env
	n := p.opens.Add(1)
	s := &scriptedSession{p: p, spec: spec, id: fmt.Sprint("agent-session-", n)}
	if spec.Resume != "" && p.resumed[spec.Resume] {
		s.id, s.known = spec.Resume, true
	}
	p.mu.Unlock()
	if spec.Fork != "" {
		if !strings.HasPrefix(spec.Fork, "agent-session-") {
			return nil, &agent.Error{Kind: agent.KindAgent, Message: "there is no such session"}
		}
		s.id, s.known = "copy-of-"+spec.Fork, true
	}
	spec.Events.Commands([]agent.Command{{Name: "review", Description: "Review the changes", Hint: "what"}, {Name: "reset"}})
	if p.plain {
		return s, nil
	}
	return &steered{s}, nil
}

type scriptedSession struct {
	p     *scripted
	spec  agent.Spec
	id    string
	known bool
	mu    sync.Mutex // of the rest
	sink  agent.Sink
	ctx   context.Context
	asked agent.Turn
}

func (s *scriptedSession) turn() (context.Context, agent.Sink) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ctx, s.sink
}

// steered is a session that takes messages in a turn.
type steered struct{ *scriptedSession }

func (s *steered) Steers() bool { return true }

// Steer may be called before Prompt has got to run.
func (s *steered) Steer(ctx context.Context, t agent.Turn) error {
	for {
		if _, sink := s.turn(); sink != nil {
			text := "steered: " + t.Text
			for _, a := range t.Attachments {
				text += "\n[" + a.Label + "] " + string(a.Data)
			}
			sink.Message(text)
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New("no turn runs")
		case <-time.After(time.Millisecond):
		}
	}
}

func (s *scriptedSession) ID() string    { return s.id }
func (s *scriptedSession) Resumed() bool { return s.known }

func (s *scriptedSession) Close() error {
	s.p.closed.Add(1)
	return nil
}

func (s *scriptedSession) SetOption(_ context.Context, id, value string) error {
	if value == "broken" {
		return errors.New("it can't be set")
	}
	return nil
}

func (s *scriptedSession) Prompt(ctx context.Context, t agent.Turn, sink agent.Sink) (agent.Outcome, error) {
	s.mu.Lock()
	s.ctx, s.sink, s.asked = ctx, sink, t
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sink = nil
	}()
	if s.p.run != nil {
		s.p.run(s, t.Text)
		return agent.Outcome{Stop: agent.StopEnd}, nil
	}
	s.p.mu.Lock()
	text, ok := s.p.scripts[t.Text]
	s.p.mu.Unlock()
	if !ok {
		text = "say You said: " + t.Text
		for _, a := range t.Attachments {
			text += " [" + a.Label + "]"
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if out, err, end := s.step(line); end {
			return out, err
		}
	}
	return agent.Outcome{Stop: agent.StopEnd}, nil
}

var statuses = map[string]agent.ToolStatus{"pending": agent.ToolPending, "running": agent.ToolRunning, "completed": agent.ToolCompleted, "failed": agent.ToolFailed}

// step does one line; end says that the turn is over.
func (s *scriptedSession) step(line string) (out agent.Outcome, err error, end bool) {
	verb, rest, _ := strings.Cut(line, " ")
	words := strings.Fields(rest)
	word := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	after := func(i int) string {
		if i < len(words) {
			return strings.Join(words[i:], " ")
		}
		return ""
	}
	switch verb {
	case "say":
		s.sink.Message(strings.ReplaceAll(rest, `\n`, "\n"))
	case "heard":
		text := "heard " + s.asked.Text
		for _, a := range s.asked.Attachments {
			text += "\n[" + a.Label + "] " + string(a.Data)
		}
		s.sink.Message(text)
	case "think":
		s.sink.Reasoning(rest)
	case "notice":
		s.sink.Notice(rest)
	case "title":
		s.spec.Events.Title(rest)
	case "usage":
		var u agent.Usage
		fmt.Sscan(rest, &u.InputTokens, &u.OutputTokens)
		s.sink.Usage(u)
	case "plan":
		s.sink.Plan([]agent.PlanEntry{{Status: word(0), Text: after(1)}})
	case "option":
		o := agent.Option{AgentOption: ahp.AgentOption{ID: word(0), Name: word(0)}, Value: word(1)}
		for _, w := range words[2:] {
			o.Choices = append(o.Choices, agent.Choice{ID: w, Name: w})
		}
		s.spec.Events.Options([]agent.Option{o})
	case "tool":
		s.sink.Tool(agent.ToolCall{ID: word(0), Status: statuses[word(1)], Kind: word(2), Name: word(2), Title: after(3)})
	case "terminal":
		s.sink.Tool(agent.ToolCall{ID: word(0), Status: agent.ToolRunning, Kind: "execute", Name: "execute", Title: word(0), Content: []agent.Content{{Terminal: &agent.TerminalContent{URI: word(1), Title: word(0)}}}})
	case "confirm":
		s.confirm(word(0), word(1), after(2), "")
	case "editable":
		s.confirm(word(0), word(1), after(2), "of")
	case "ask":
		s.ask(rest)
	case "client":
		r, err := s.spec.Clients.Call(s.ctx, word(0), word(1), json.RawMessage(after(2)))
		s.sink.Message(fmt.Sprintf("client: %v %v %v", r.Success, resultText(r), err))
	case "tools":
		var names []string
		for _, t := range s.spec.Clients.List() {
			names = append(names, t.Name)
		}
		s.sink.Message("tools: " + strings.Join(names, " "))
	case "await":
		select {
		case <-s.p.word(rest):
		case <-s.ctx.Done():
			return agent.Outcome{Stop: agent.StopCancelled}, nil, true
		}
	case "flood":
		n := 0
		fmt.Sscan(rest, &n)
		for range n {
			s.sink.Message(strings.Repeat("0123456789abcde\n", 64))
		}
	case "stop":
		return agent.Outcome{Stop: agent.Stop(word(0)), Message: after(1)}, nil, true
	case "fail":
		return out, &agent.Error{Kind: agent.KindCrashed, Message: rest}, true
	case "die":
		panic("scripted")
	case "hang":
		<-s.p.word("let go")
		s.sink.Message("too late")
		return agent.Outcome{Stop: agent.StopEnd}, nil, true
	default:
		panic("scripted: no step " + verb)
	}
	return out, nil, false
}

func resultText(r ahp.ToolResult) string {
	if r.Error != nil {
		return r.Error.Message
	}
	var all []string
	for _, c := range r.Content {
		all = append(all, c.Text)
	}
	return strings.Join(all, " ")
}

func (s *scriptedSession) confirm(id, kind, title, editable string) {
	call := agent.ToolCall{ID: id, Name: kind, Kind: kind, Title: title, Input: json.RawMessage(`{"of":"` + id + `"}`)}
	s.sink.Tool(call)
	answer, err := s.sink.Confirm(s.ctx, agent.Confirmation{Call: call, Editable: editable, Options: []agent.Choice{
		{ID: "always", Name: "Always", Group: agent.ConfirmAllowAlways},
		{ID: "once", Name: "Once", Group: agent.ConfirmAllowOnce},
		{ID: "no", Name: "No", Group: agent.ConfirmRejectOnce},
	}})
	if err != nil {
		return
	}
	chosen := answer.Option
	if answer.Input != nil {
		s.sink.Message("edited: " + string(answer.Input))
	}
	if chosen != "no" {
		call.Status = agent.ToolCompleted
		call.Content = []agent.Content{{Text: "chose " + chosen}}
		s.sink.Tool(call)
		return
	}
	s.sink.Message("chose " + chosen)
}

func (s *scriptedSession) ask(raw string) {
	var r ahp.InputRequest
	if err := json.Unmarshal([]byte(raw), &r); err != nil {
		panic(err)
	}
	a, err := s.sink.(agent.Asker).Ask(s.ctx, r)
	if err != nil {
		return
	}
	answers, _ := json.Marshal(a.Answers)
	s.sink.Message("answered: " + a.Response + " " + string(answers))
}
