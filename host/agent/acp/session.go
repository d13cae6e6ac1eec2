package acp

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"tandemux/host/agent"
)

// session is a chat's session with an agent, over several processes.
type session struct {
	p    *Provider
	spec agent.Spec
	// ownShell says that the agent, perhaps an older version, did not start with Panes' arguments.
	ownShell bool

	// telling is held while Events are called, so that the calls are in order.
	telling sync.Mutex
	// starting is held while the agent is started again.
	starting sync.Mutex

	mu      sync.Mutex
	l       *link // nil before the first one, and while the agent is ended because it was idle
	rest    rest
	id      string
	resumed bool
	closed  bool
	turn    *turn // nil between turns
	options options
	usage   agent.Usage // reported between turns

	// The agent's terminals, by the ids that it knows.
	terms    map[string]agent.Terminal
	made     madeList // including released ones
	displays map[string]*agent.TerminalContent
	lastTerm int
	lastAsk  int
	// through are the tools whose commands have used terminal/create.
	through map[string]bool
}

// rest is the state of ending an idle agent and starting it again.
type rest struct {
	timer *time.Timer
	woken int   // counts the calls of wake
	last  *link // the link that was ended last
	// never says that the agent has once not remembered its session.
	never bool
	// notice is what the next turn says about the start.
	notice string
}

// ID returns the agent's id of the session.
func (s *session) ID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// Resumed reports whether the agent remembers the session to resume.
func (s *session) Resumed() bool { return s.resumed }

// connect starts the agent and opens a session: it resumes one if it can, or copies one.
func (s *session) connect(ctx context.Context, resume, fork string) (resumed bool, err error) {
	l, err := s.p.dial(ctx, s.spec.Roots[0], s)
	if e, is := errors.AsType[*agent.Error](err); is && e.Kind == agent.KindCrashed && len(s.panes().Args) > 0 {
		s.p.log.Warn("the agent does not take what has it leave commands to us, and keeps its own shell", "agent", s.p.c.ID, "err", err)
		s.ownShell = true
		l, err = s.p.dial(ctx, s.spec.Roots[0], s)
	}
	if err != nil {
		return false, err
	}
	var r sessionResult
	if fork != "" {
		r, err = s.fork(ctx, l, fork)
		resumed = err == nil
	} else {
		r, resumed, err = s.open(ctx, l, resume)
	}
	if err != nil {
		return false, l.unusable(err)
	}
	s.mu.Lock()
	s.l, s.id = l, r.SessionID
	closed := s.closed
	s.mu.Unlock()
	if closed {
		l.stop()
		return false, agent.Errorf(agent.KindClosed, "the session was closed")
	}
	s.tellOptions(func(o *options) { o.set(r) })
	return resumed, nil
}

func (s *session) open(ctx context.Context, l *link, resume string) (r sessionResult, resumed bool, err error) {
	params := s.openParams(l)
	if method := l.resumes(); resume != "" && method != "" {
		params.SessionID = resume
		err := l.call(ctx, method, params, &r)
		var failed *agent.Error
		switch {
		case err == nil:
			r.SessionID = resume
			return r, true, nil
		case !errors.As(err, &failed) || failed.Kind != agent.KindAgent:
			return r, false, err
		}
		s.p.log.Info("session not resumed", "agent", s.p.c.ID, "err", err)
		params.SessionID = ""
	}
	if err := l.call(ctx, methodNew, params, &r); err != nil {
		return r, false, err
	}
	if r.SessionID == "" {
		return r, false, agent.Errorf(agent.KindProtocol, "the agent %s answered session/new without a sessionId", s.p.c.ID)
	}
	return r, false, nil
}

// openParams returns the params for a new session.
func (s *session) openParams(l *link) sessionParams {
	params := sessionParams{Cwd: s.inside(s.spec.Roots[0]), MCPServers: s.servers(), Meta: s.panes().Meta}
	if given(l.init.AgentCapabilities.SessionCapabilities.AdditionalDirectories) {
		for _, root := range s.spec.Roots[1:] {
			params.AdditionalDirectories = append(params.AdditionalDirectories, s.inside(root))
		}
	}
	return params
}

func (s *session) fork(ctx context.Context, l *link, from string) (r sessionResult, err error) {
	if !given(l.init.AgentCapabilities.SessionCapabilities.Fork) {
		return r, agent.Errorf(agent.KindAgent, "the agent %s can't begin a session as a copy of another", s.p.c.ID)
	}
	params := s.openParams(l)
	params.SessionID = from
	if err := l.call(ctx, methodFork, params, &r); err != nil {
		return r, err
	}
	if r.SessionID == "" || r.SessionID == from {
		return r, agent.Errorf(agent.KindProtocol, "the agent %s answered session/fork without a new sessionId", s.p.c.ID)
	}
	return r, nil
}

// inside returns the agent's view of a path of the host.
func (s *session) inside(path string) string {
	if s.spec.Confine == nil {
		return path
	}
	return s.spec.Confine.Inside(path)
}

// given reports whether a capability is set.
func given(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null" && string(raw) != "false"
}

// servers returns the MCP servers with the agent's view of their paths.
func (s *session) servers() []server {
	out := []server{}
	for _, m := range s.spec.Servers {
		command := m.Command
		if m.Program {
			command = s.inside(command)
		}
		out = append(out, server{Name: m.Name, Command: command, Args: append([]string{}, m.Args...), Env: append([]agent.Var{}, m.Env...)})
	}
	return out
}

// running returns a link to a running agent, which it starts again if needed.
func (s *session) running(ctx context.Context) (*link, error) {
	s.starting.Lock()
	defer s.starting.Unlock()
	s.mu.Lock()
	l, id, closed, rested := s.l, s.id, s.closed, s.rest.last
	s.mu.Unlock()
	if closed {
		return nil, agent.Errorf(agent.KindClosed, "the session is closed")
	}
	if l != nil && l.alive() {
		return l, nil
	}
	if l == nil && rested != nil {
		<-rested.done
	}
	ctx, cancel := context.WithTimeout(ctx, s.p.c.Start)
	defer cancel()
	resumed, err := s.connect(ctx, id, "")
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !resumed:
		s.rest.never = true
		s.rest.notice = fmt.Sprintf("The agent %s was started again and does not remember what was said before.", s.p.c.ID)
	case l != nil:
		s.rest.notice = fmt.Sprintf("The agent %s was started again.", s.p.c.ID)
	}
	return s.l, nil
}

// wake keeps the agent from being ended as idle until done is called.
func (s *session) wake() (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rest.timer != nil {
		s.rest.timer.Stop()
	}
	s.rest.woken++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.p.c.Idle > 0 && !s.closed && s.l != nil && s.l.resumes() != "" && !s.ownShell && !s.rest.never {
			n := s.rest.woken
			s.rest.timer = time.AfterFunc(s.p.c.Idle, func() { s.endIdle(n) })
		}
	}
}

// endIdle ends the agent, unless it was woken since, works, or has terminals that would end with it.
func (s *session) endIdle(woken int) {
	s.mu.Lock()
	l := s.l
	if s.rest.woken != woken || s.closed || l == nil || s.turn != nil || len(s.terms) > 0 {
		s.mu.Unlock()
		return
	}
	s.l, s.rest.last = nil, l
	s.mu.Unlock()
	s.p.log.Info("the agent is idle and ended; the next message starts it", "agent", s.p.c.ID)
	l.stop()
}

func (s *session) Prompt(ctx context.Context, t agent.Turn, sink agent.Sink) (agent.Outcome, error) {
	defer s.wake()()
	l, err := s.running(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return agent.Outcome{Stop: agent.StopCancelled}, nil
		}
		return agent.Outcome{}, err
	}
	tn := newTurn(ctx, t.ID, sink)
	defer tn.end()
	s.mu.Lock()
	if s.turn != nil || s.closed {
		s.mu.Unlock()
		return agent.Outcome{}, agent.Errorf(agent.KindClosed, "another turn runs in this session, or it is closed")
	}
	s.turn, tn.usage, tn.open = tn, s.usage, 1
	id, notice := s.id, s.rest.notice
	s.rest.notice = ""
	s.mu.Unlock()
	if notice != "" {
		sink.Notice(notice)
	}
	defer func() {
		s.mu.Lock()
		s.turn = nil
		s.mu.Unlock()
	}()
	if err := s.ask(l, tn, id, t); err != nil {
		return agent.Outcome{}, l.failed(ctx, methodPrompt, err)
	}
	return s.await(ctx, l, tn, id)
}

// promptAnswer is the agent's answer to session/prompt.
type promptAnswer struct {
	result promptResult
	err    error
}

// await waits for the answers to a turn's prompt and to the messages that were added to the turn.
func (s *session) await(ctx context.Context, l *link, tn *turn, id string) (agent.Outcome, error) {
	for ctx.Err() == nil {
		select {
		case a := <-tn.answers:
			if last := s.lastAnswer(tn); last || a.err != nil {
				if a.err != nil {
					return agent.Outcome{}, l.failed(ctx, methodPrompt, a.err)
				}
				o, ok := stops[a.result.StopReason]
				if !ok {
					o = agent.Outcome{Stop: agent.StopOther, Message: fmt.Sprintf("the agent stopped for the reason %q", clip(a.result.StopReason, 100))}
				}
				tn.end()
				o.Usage = tn.finished
				return o, nil
			}
		case <-ctx.Done():
		}
	}
	tn.end() // the turn's sink gets nothing more, and open questions are given up
	if err := l.conn.Notify(methodCancel, sessionOnly{id}); err != nil {
		s.p.log.Debug("cancel", "agent", s.p.c.ID, "err", err)
	}
	timer := time.After(s.p.c.Grace)
	for {
		select {
		case <-tn.answers:
			if !s.lastAnswer(tn) {
				continue
			}
		case <-timer:
			s.p.log.Warn("the agent does not cancel its turn and is ended", "agent", s.p.c.ID)
			l.stop()
		}
		break
	}
	return agent.Outcome{Stop: agent.StopCancelled}, nil
}

// stops maps ACP's stop reasons to outcomes.
var stops = map[string]agent.Outcome{
	"end_turn":          {Stop: agent.StopEnd},
	"cancelled":         {Stop: agent.StopCancelled},
	"max_tokens":        {Stop: agent.StopLimit, Message: "the agent stopped: the answer reached the limit of tokens"},
	"max_turn_requests": {Stop: agent.StopLimit, Message: "the agent stopped: the turn reached the limit of requests to its model"},
	"refusal":           {Stop: agent.StopRefusal, Message: "the agent refuses to go on"},
}

func (s *session) Close() error {
	s.mu.Lock()
	s.closed = true
	l := cmp.Or(s.l, s.rest.last)
	if s.rest.timer != nil {
		s.rest.timer.Stop()
	}
	s.mu.Unlock()
	if l != nil {
		l.stop()
	}
	return nil
}

// lenient decodes JSON and ignores members of a wrong type.
func lenient(raw json.RawMessage, to any) error {
	err := json.Unmarshal(raw, to)
	if _, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		return nil
	}
	return err
}

// blocks converts a message to ACP's content blocks.
func blocks(t agent.Turn, can agentCapabilities) []contentBlock {
	out := []contentBlock{}
	if t.Text != "" || len(t.Attachments) == 0 {
		out = append(out, contentBlock{Type: "text", Text: t.Text})
	}
	for _, a := range t.Attachments {
		out = append(out, block(a, can))
	}
	return out
}

// attached returns the message with the agent's view of its attachments' paths.
func (s *session) attached(t agent.Turn) agent.Turn {
	if s.spec.Confine == nil {
		return t
	}
	t.Attachments = slices.Clone(t.Attachments)
	for i, a := range t.Attachments {
		if u, err := url.Parse(a.URI); err == nil && u.Scheme == "file" && u.Host == "" {
			u.Path = s.inside(u.Path)
			t.Attachments[i].URI = u.String()
		}
	}
	return t
}

// block converts an attachment to the best form that the agent accepts.
func block(a agent.Attachment, can agentCapabilities) contentBlock {
	p := can.PromptCapabilities
	data := base64.StdEncoding.EncodeToString(a.Data)
	switch {
	case a.Data == nil && a.URI != "":
		return contentBlock{Type: "resource_link", URI: a.URI, Name: cmp.Or(a.Label, a.URI), MIMEType: a.Type}
	case strings.HasPrefix(a.Type, "image/") && p.Image:
		return contentBlock{Type: "image", Data: data, MIMEType: a.Type, URI: a.URI}
	case strings.HasPrefix(a.Type, "audio/") && p.Audio:
		return contentBlock{Type: "audio", Data: data, MIMEType: a.Type}
	case textual(a.Type) && p.EmbeddedContext:
		return contentBlock{Type: "resource", Resource: &resource{URI: cmp.Or(a.URI, "attachment:///"+a.Label), MIMEType: a.Type, Text: strings.ToValidUTF8(string(a.Data), "\uFFFD")}}
	case p.EmbeddedContext:
		return contentBlock{Type: "resource", Resource: &resource{URI: cmp.Or(a.URI, "attachment:///"+a.Label), MIMEType: a.Type, Blob: data}}
	case a.URI != "":
		return contentBlock{Type: "resource_link", URI: a.URI, Name: cmp.Or(a.Label, a.URI), MIMEType: a.Type}
	case textual(a.Type):
		return contentBlock{Type: "text", Text: fmt.Sprintf("Attached: %s\n\n%s", a.Label, strings.ToValidUTF8(string(a.Data), "\uFFFD"))}
	}
	return contentBlock{Type: "text", Text: fmt.Sprintf("(Attached was %s of the type %s, which this agent can't take.)", a.Label, a.Type)}
}

func textual(contentType string) bool {
	return strings.HasPrefix(contentType, "text/") || slices.Contains([]string{"application/json", "application/toml", "application/yaml", "application/xml"}, contentType)
}

// made is a terminal that the agent created, released or not.
type made struct {
	agent.Terminal
	title string
}

// madeList has the newest maxMade terminals by id.
type madeList struct {
	byID  map[string]made
	order []string
}

const maxMade = 1000

func (l *madeList) add(id string, m made) {
	if l.byID == nil {
		l.byID = map[string]made{}
	}
	l.byID[id] = m
	if l.order = append(l.order, id); len(l.order) > maxMade {
		delete(l.byID, l.order[0])
		l.order = l.order[1:]
	}
}

// lost releases the terminals of an agent whose connection has ended.
func (s *session) lost(l *link) {
	s.mu.Lock()
	if s.l != l && s.l != nil {
		s.mu.Unlock()
		return
	}
	terms := s.terms
	s.terms, s.displays = map[string]agent.Terminal{}, map[string]*agent.TerminalContent{}
	s.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(terms)) {
		terms[id].Release()
	}
}
