package task

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"tandemux/host/agent"
	"tandemux/host/task/hook"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/host/task/turns"
)

// hookSession is an agent.Session for an agent that consists of hooks.
type hookSession struct {
	s       *Service
	task    store.Task
	launch  registry.Launch
	spec    agent.Spec
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// openHooks opens a session of hooks. The task's first one runs on_create (U43).
func (s *Service) openHooks(ctx context.Context, t store.Task, l registry.Launch, spec agent.Spec) (agent.Session, error) {
	h := &hookSession{s: s, task: t, launch: l, spec: spec}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	if words := l.Definition.Hooks.OnCreate; len(words) > 0 && !t.Facts.Begun {
		if err := h.call(ctx, "on_create", words, nil, h.aside); err != nil {
			h.cancel()
			return nil, agent.Errorf(agent.KindStart, "%v", err)
		}
	}
	return h, nil
}

// ID returns the task's id.
func (h *hookSession) ID() string { return h.task.ID }

// Resumed returns true, because the task has all that hooks remember.
func (h *hookSession) Resumed() bool { return true }

// SetOption returns an error: there are no options.
func (h *hookSession) SetOption(context.Context, string, string) error {
	return agent.Errorf(agent.KindAgent, "there are no options")
}

// Close ends the running hooks and waits for their end.
func (h *hookSession) Close() error {
	h.cancel()
	h.running.Wait()
	return nil
}

// Prompt runs on_event for the turn's event.
func (h *hookSession) Prompt(ctx context.Context, turn agent.Turn, sink agent.Sink) (agent.Outcome, error) {
	event, err := h.s.Store.Events.Get(ctx, turn.ID)
	if err != nil || event.TaskID != h.task.ID { // somebody prompted the session
		event = store.Event{ID: turn.ID, TaskID: h.task.ID, Content: []store.Part{store.TextPart(turn.Text)}, Created: h.s.Now()}
	}
	v := &voice{h: h, sink: sink, calls: map[string]agent.ToolCall{}}
	err = h.call(ctx, "on_event", h.launch.Definition.Hooks.OnEvent, &event, v.line)
	switch {
	case ctx.Err() != nil:
		return agent.Outcome{Stop: agent.StopCancelled}, nil
	case err != nil:
		return agent.Outcome{}, agent.Errorf(agent.KindAgent, "%v", err)
	}
	return agent.Outcome{Stop: agent.StopEnd}, nil
}

// call runs a hook in the session's sandbox.
func (h *hookSession) call(ctx context.Context, name string, words []string, event *store.Event, line func(hook.Line)) error {
	h.running.Add(1)
	defer h.running.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	limit, err := h.launch.Definition.Hooks.Time()
	if err != nil {
		return err
	}
	if name == "on_cancel" {
		limit = min(limit, cancelTime)
	}
	root, err := h.s.rootOf(h.task)
	if err != nil {
		return err
	}
	l := agent.Launch{Argv: located(registry.HookArgv(words, h.s.codeAt(h.spec, h.launch.CodeDir)), h.spec.Confine != nil), Dir: root, Env: []string{"TANDEMUX_HOOK=" + name}}
	if h.spec.Confine != nil {
		l, err = h.spec.Confine.Wrap(ctx, l)
	} else if err = mayRunBare(h.launch); err == nil {
		l.Env = slices.Concat(h.s.environ(), taskEnv(h.task, h.launch), h.launch.Env, l.Env)
	}
	if err != nil {
		return err
	}
	input, err := h.input(ctx, name, event)
	if err != nil {
		return err
	}
	log := h.s.logger(h.task, h.launch, "hook")
	return hook.Run(ctx, hook.Call{
		Name: name, Launch: l, Input: input, Timeout: limit, Watched: h.spec.Confine != nil,
		Line: line, Stderr: func(text string) { log(store.Warning, text) },
	})
}

// input returns a hook's standard input.
func (h *hookSession) input(ctx context.Context, name string, event *store.Event) ([]byte, error) {
	t, err := h.s.Store.Tasks.Find(ctx, h.task.ID)
	if err != nil {
		return nil, err
	}
	in := hook.Input{
		Hook: name, Task: t, Params: t.Params, Event: hook.NewEvent(event),
		Agent: hook.Agent{ID: h.launch.Agent.ID, Name: h.launch.Agent.Name, Version: h.launch.Version.Number}, State: json.RawMessage("{}"),
	}
	if in.Params == nil {
		in.Params = json.RawMessage("{}")
	}
	in.Task.Params = nil
	if st, err := h.s.Store.State(ctx, t.ID, t.AgentID); err == nil {
		in.State = st.State
	}
	return json.Marshal(in)
}

// aside handles a line that a hook prints outside of a turn.
func (h *hookSession) aside(l hook.Line) {
	if l.Type == hook.Message {
		h.message(l)
		return
	}
	h.word(l)
}

// message stores a message of a hook, and returns its text.
func (h *hookSession) message(l hook.Line) string {
	parts, err := lineParts(l)
	if err == nil {
		_, err = h.s.Store.Messages.Create(h.s.ctx, store.Message{TaskID: h.task.ID, Author: "agent", Content: parts})
	}
	if err != nil {
		h.log(store.Warning, "a message is left out: "+err.Error())
		return ""
	}
	h.s.changed(h.task.ID)
	return hook.Text(parts)
}

func lineParts(l hook.Line) ([]store.Part, error) {
	switch {
	case len(l.Content) > 0:
		return ParseContent(l.Content)
	case len(l.Data) > 0:
		return []store.Part{store.DataPart(l.Data)}, nil
	}
	return []store.Part{store.TextPart(l.Text)}, nil
}

// ParseContent reads the content of a message or an event: a text, a part, or a list of parts (U10).
func ParseContent(raw json.RawMessage) ([]store.Part, error) {
	raw = bytes.TrimSpace(raw)
	var err error
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, store.Errorf(store.Invalid, "there is no content")
	case raw[0] == '"':
		var text string
		err = json.Unmarshal(raw, &text)
		return []store.Part{store.TextPart(text)}, err
	case raw[0] == '[':
		var parts []store.Part
		if err = json.Unmarshal(raw, &parts); err == nil {
			return parts, nil
		}
	default:
		var p store.Part
		if err = json.Unmarshal(raw, &p); err == nil {
			return []store.Part{p}, nil
		}
	}
	return nil, store.Errorf(store.Invalid, `the content is a text, {"type":"text","text":…}, {"type":"data","data":…}, or a list of these: %w`, err)
}

// word handles a line in which a hook reports about its task.
func (h *hookSession) word(l hook.Line) {
	ctx := h.s.ctx
	var err error
	switch l.Type {
	case hook.Log:
		level, bad := store.ParseLevel(l.Level)
		if bad != nil {
			level = store.Info
		}
		h.log(level, l.Text)
	case hook.Progress:
		var line *string
		if l.Text != "" {
			line = new(turns.Clip(l.Text, maxProgress))
		}
		_, err = h.s.setProgress(ctx, h.task.ID, l.Percent, line)
	case hook.State:
		err = h.s.changeState(ctx, h.task.ID, h.task.AgentID, l)
	case hook.Failure, hook.Reasoning, hook.Usage, hook.ToolCall, hook.ToolResult:
	default:
		h.log(store.Warning, fmt.Sprintf("the hook said something of the type %.40q, which means nothing", l.Type))
	}
	if err != nil {
		h.log(store.Warning, "what the hook said of its "+l.Type+" is left out: "+err.Error())
	}
}

func (h *hookSession) log(level store.Level, text string) {
	h.s.logger(h.task, h.launch, "hook")(level, text)
}

// changeState changes a task's state as a hook's line says.
func (s *Service) changeState(ctx context.Context, task, agentID string, l hook.Line) error {
	have, err := s.Store.State(ctx, task, agentID)
	missing := errors.Is(err, store.NotFound)
	if err != nil && !missing {
		return err
	}
	switch {
	case l.Delete && missing:
	case l.Delete:
		err = s.Store.States.Delete(ctx, have.ID)
	case len(l.Replace) > 0 && missing:
		_, err = s.Store.States.Create(ctx, store.State{TaskID: task, AgentID: agentID, State: l.Replace})
	case len(l.Replace) > 0:
		_, err = s.Store.ReplaceState(ctx, have.ID, l.Replace)
	case len(l.Merge) == 0:
		return errors.New("it says neither merge, replace nor delete")
	case missing:
		_, err = s.Store.States.Create(ctx, store.State{TaskID: task, AgentID: agentID, State: l.Merge})
	default:
		_, err = s.Store.MergeState(ctx, have.ID, l.Merge)
	}
	return err
}

// voice turns the lines that on_event prints into parts of its turn.
type voice struct {
	h     *hookSession
	sink  agent.Sink
	said  bool
	usage agent.Usage
	calls map[string]agent.ToolCall
}

func (v *voice) line(l hook.Line) {
	switch l.Type {
	case hook.Message:
		text := v.h.message(l)
		if text == "" {
			return
		}
		if v.said {
			text = "\n\n" + text // each message is a paragraph
		}
		v.said = true
		v.sink.Message(text)
	case hook.Reasoning:
		v.sink.Reasoning(l.Text)
	case hook.Usage:
		v.usage.InputTokens, v.usage.OutputTokens = l.InputTokens, l.OutputTokens
		v.sink.Usage(v.usage)
	case hook.ToolCall:
		if l.ID == "" || len(v.calls) >= 1000 {
			return
		}
		c := agent.ToolCall{ID: l.ID, Name: l.Name, Title: l.Title, Kind: "other", Status: agent.ToolRunning, Input: l.Input}
		c.Title = cmp.Or(c.Title, l.Name)
		v.calls[l.ID] = c
		v.sink.Tool(c)
	case hook.ToolResult:
		c, ok := v.calls[l.ID]
		if !ok {
			return
		}
		c.Status, c.Output = agent.ToolCompleted, l.Output
		if l.Error != "" {
			c.Status, c.Content = agent.ToolFailed, []agent.Content{{Text: l.Error}}
		}
		v.sink.Tool(c)
	default:
		v.h.word(l)
	}
}

// onCancel runs the on_cancel of a task's agent, if it has one (U43).
func (s *Service) onCancel(ctx context.Context, t store.Task) {
	launch, err := s.Agents.Launch(ctx, t.LaunchedID)
	if err != nil || len(launch.Definition.Hooks.OnCancel) == 0 {
		return
	}
	h := &hookSession{s: s, task: t, launch: launch, spec: agent.Spec{Session: t.Session}}
	h.ctx, h.cancel = context.WithCancel(ctx)
	defer h.cancel()
	if !t.Facts.Bare {
		if h.spec.Confine, err = s.Confine(t.ID); err != nil {
			h.log(store.Warning, "on_cancel is not run: "+err.Error())
			return
		}
	}
	if err := h.call(ctx, "on_cancel", launch.Definition.Hooks.OnCancel, nil, h.aside); err != nil {
		h.log(store.Warning, err.Error())
	}
}
