package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/commandline"
	"tandemux/host/agent/words"
	"tandemux/host/core"
	"tandemux/host/params"
)

// prompting is a turn that an agent works on, from its start until Prompt has returned, which may be
// after the turn has ended for clients. It is guarded by the core's lock except where a comment says
// otherwise. It implements agent.Asker and agent.Sink.
type prompting struct {
	c       *Chat
	id      string
	sent    ahp.Message // as the client sent it
	message ahp.Message // with what was added for the agent
	started time.Time
	ctx     context.Context // immutable
	cancel  context.CancelCauseFunc
	done    chan struct{} // closed when Prompt has returned or was given up
	// over says that the turn has ended. What the agent still says is dropped.
	over  bool
	begun bool // Prompt was called, or is about to be
	// broken is why the resumed turn failed, if the agent had begun to answer it.
	broken string

	text  gathered
	calls map[string]*call
	asks  map[string]chan ahp.ChatInputCompleted
	said  int         // bytes that the agent said
	parts int         // number of response parts
	quiet *time.Timer // runs out if the agent says nothing for too long
}

// startTurn applies a turnStarted and starts the agent on it. The caller has checked that no turn is
// active.
func (c *Chat) startTurn(tx core.Tx, a ahp.ChatTurnStarted, by *core.By) {
	sent := a.Message
	if commandline.Of(sent) == "" {
		a.Message = commandline.Attach(c.all.Annotations.Attach(tx, c.Session(), sent), c.value.Turns)
	}
	r := newPrompting(c, a.TurnID, a.Message)
	r.sent = sent
	a.StartedAt = ahp.InstantOf(r.started.UnixMilli())
	c.begin(tx, r, a, by)
	c.s.nameAfter(tx, a.Message)
}

func newPrompting(c *Chat, turn string, m ahp.Message) *prompting {
	r := &prompting{
		c: c, id: turn, message: m, started: c.all.Now(), done: make(chan struct{}),
		calls: map[string]*call{}, asks: map[string]chan ahp.ChatInputCompleted{},
	}
	r.ctx, r.cancel = context.WithCancelCause(c.all.ctx)
	return r
}

// begin applies the action that makes a turn active, and starts the agent on it.
func (c *Chat) begin(tx core.Tx, r *prompting, a ahp.Action, by *core.By) {
	before := c.now
	c.now = r
	c.apply(tx, a, by)
	c.all.work.Go(func() { r.run(before) })
}

// nameAfter makes the first message the title of a session without one.
func (s *session) nameAfter(tx core.Tx, m ahp.Message) {
	if s.value.Title != "" {
		return
	}
	line, _, _ := strings.Cut(strings.TrimSpace(m.Text), "\n")
	if title := params.CleanTitle(params.ClipTo(line, words.MaxNamed)); title != "" {
		s.apply(tx, ahp.SessionTitleChanged{Title: title}, nil)
	}
}

// run executes the turn, once the agent is done with the turn before.
func (r *prompting) run(before *prompting) {
	ss := r.c.all
	defer close(r.done)
	if before != nil {
		<-before.done // that turn has ended, so this is short
	}
	var out agent.Outcome
	err := context.Cause(r.ctx)
	if line := commandline.Of(r.message); line == "" {
		out, err = r.ask(err)
	} else if err == nil {
		out, err = commandline.Run(r.ctx, ss.ctx, line, r, func(call string) (agent.Terminal, error) {
			return ss.Terminals.Run(r.ctx, r.c, r.c.s.facts.Roots[0], r.id, call, line)
		})
	}
	ss.Core.Do(func(tx core.Tx) { r.finish(tx, out, err) })
}

// ask opens the agent's session and prompts it, unless err is set.
func (r *prompting) ask(err error) (out agent.Outcome, _ error) {
	tx := r.c.all.Core.Lock()
	o := r.c.open(tx)
	tx.Unlock()
	select {
	case <-o.done:
		if err == nil {
			err = o.err
		}
	case <-r.ctx.Done():
		err = context.Cause(r.ctx)
	}
	if err == nil {
		r.wake()
		out, err = r.prompt(o.agent)
	}
	return out, err
}

// prompt calls the agent and waits for it, after the end of the turn at most for AgentGrace.
func (r *prompting) prompt(a agent.Session) (agent.Outcome, error) {
	ss := r.c.all
	type result struct {
		out agent.Outcome
		err error
	}
	got := make(chan result, 1)
	go func() {
		r.setModel(a)
		var x result
		x.err = agent.Guarded(func() (err error) {
			x.out, err = a.Prompt(r.ctx, r.asked(), r)
			return err
		})
		got <- x
	}()
	select {
	case x := <-got:
		return x.out, x.err
	case <-r.ctx.Done():
	}
	select {
	case x := <-got:
		return x.out, x.err
	case <-time.After(ss.Limits.AgentGrace):
	}
	tx := ss.Core.Lock()
	if r.c.agent == a { // else it is being closed already
		r.c.forsake(tx)
	}
	tx.Unlock()
	return agent.Outcome{}, agent.Errorf(agent.KindTimeout, "the agent did not end its turn when it was told to; it was ended")
}

// asked returns the message in the provider's form.
func (r *prompting) asked() agent.Turn {
	t := r.c.words(r.id, r.message)
	if r.broken != "" {
		t.Text = words.GoOn(t.Text, r.broken)
	}
	return t
}

// words returns a message in the provider's form, with the annotations attached to it.
func (c *Chat) words(id string, m ahp.Message) agent.Turn {
	t := words.Turn(id, m)
	inside := func(path string) string { return path }
	if c.s.sandbox != nil {
		inside = c.s.sandbox.Inside
	}
	if text := c.all.Annotations.Context(c.all.Core, c.Session(), m, inside); text != "" {
		t.Attachments = append(t.Attachments, agent.Attachment{Label: "comments", Type: "text/plain", Data: []byte(text)})
	}
	return t
}

// setModel sets the model that the message names, if the agent has such an option.
func (r *prompting) setModel(a agent.Session) {
	m := r.message.Model
	if m == nil {
		return
	}
	var o agent.Option
	r.c.all.Core.Locked(func(core.Tx) {
		if i := slices.IndexFunc(r.c.options, func(o agent.Option) bool { return o.Category == "model" }); i >= 0 {
			o = r.c.options[i]
		}
	})
	var err error
	switch {
	case o.ID == "":
		err = errors.New("the agent has no models to choose from")
	case o.Value != m.ID:
		err = a.SetOption(r.ctx, o.ID, m.ID)
	}
	if err != nil {
		r.Notice("The model could not be set: " + err.Error())
	}
}

// finish ends the turn with the agent's outcome, unless it has ended before.
func (r *prompting) finish(tx core.Tx, out agent.Outcome, err error) {
	c := r.c
	r.cancel(nil)
	r.stopWatch()
	if c.agent != nil && c.agent.ID() != c.facts.Resume {
		c.facts.Resume, c.dirty = c.agent.ID(), true
	}
	if c.now == r {
		defer func() {
			if c.now == r {
				c.now = nil
			}
		}()
	}
	if r.over || c.Dead(tx) {
		return
	}
	if out.Usage != nil {
		c.apply(tx, ahp.ChatUsage{TurnID: r.id, Usage: words.Usage(*out.Usage)}, nil)
	}
	switch {
	case err == nil && out.Stop == agent.StopCancelled:
		r.end(tx, ahp.ChatTurnCancelled{TurnID: r.id, Duration: r.took()}, nil)
	case err == nil && (out.Stop == agent.StopEnd || out.Stop == ""):
		r.end(tx, ahp.ChatTurnComplete{TurnID: r.id, Duration: r.took()}, nil)
	case err == nil && out.Stop == agent.StopRefusal:
		r.fail(tx, ahp.ErrorInfo{ErrorType: words.ErrorRefusal, Message: cmp.Or(out.Message, "The agent refused to go on.")})
	case err == nil:
		r.part(tx, ahp.ResponsePart{
			Kind: ahp.PartSystemNotification, Note: ahp.Plain(params.ClipTo(cmp.Or(out.Message, "The agent stopped early: "+string(out.Stop)), words.MaxError)),
			Meta: fmt.Appendf(nil, `{"tandemux/stop":%q}`, out.Stop),
		})
		r.end(tx, ahp.ChatTurnComplete{TurnID: r.id, Duration: r.took()}, nil)
	default:
		if cause := context.Cause(r.ctx); cause != nil && r.ctx.Err() != nil && cause != context.Canceled {
			err = cause
		}
		r.fail(tx, words.Error(err))
	}
}

func (r *prompting) fail(tx core.Tx, info ahp.ErrorInfo) {
	r.end(tx, ahp.ChatError{TurnID: r.id, Duration: r.took(), Part: words.FailedPart(info)}, nil)
}

// took returns how long the turn has taken, in milliseconds.
func (r *prompting) took() *int64 {
	return new(max(0, r.c.all.Now().Sub(r.started).Milliseconds()))
}

// end applies the action that ends the turn, and stops the agent.
func (r *prompting) end(tx core.Tx, a ahp.Action, by *core.By) {
	c := r.c
	r.flush(tx)
	_, complete := a.(ahp.ChatTurnComplete)
	c.settleCalls(tx, complete, false)
	r.stop(tx, context.Canceled)
	c.endPlan(tx)
	if c.value.Activity != "" {
		tx.Apply(c.ch, ahp.ChatActivityChanged{}, nil)
	}
	c.tally(tx, r)
	c.apply(tx, a, by)
	c.all.Terminals.CallEnded(tx, c, r.id, "")
	// A window this large must not wait until no client is subscribed.
	if len(c.value.Turns) > 2*windowTurns || core.TurnsBytes(c.value.Turns) > 2*windowBytes {
		c.compact(tx)
	}
	if _, failed := a.(ahp.ChatError); !failed {
		c.drain(tx)
	}
}

// stop gives up everything that the turn waits for, and cancels the agent with why.
func (r *prompting) stop(tx core.Tx, why error) {
	r.over = true
	r.cancel(why)
	r.stopWatch()
	for _, k := range r.calls {
		k.giveUp(tx)
	}
	for id := range r.asks {
		r.closeAsk(tx, id)
	}
}

// drain begins a turn with a waiting message if no turn is active: a steering message that came too
// late for its turn, then the queued ones in order. After a turn that failed messages keep waiting, so
// that an agent that can't work does not use them up.
func (c *Chat) drain(tx core.Tx) {
	if c.value.ActiveTurn != nil || c.Dead(tx) || c.s.value.Lifecycle == ahp.LifecycleFailed {
		return
	}
	next, kind := c.value.SteeringMessage, ahp.PendingSteering
	if next == nil && len(c.value.QueuedMessages) > 0 {
		next, kind = &c.value.QueuedMessages[0], ahp.PendingQueued
	}
	if next == nil {
		return
	}
	m := *next
	c.apply(tx, ahp.ChatPendingMessageRemoved{Kind: kind, ID: m.ID}, nil)
	c.startTurn(tx, ahp.ChatTurnStarted{TurnID: newID("turn"), Message: m.Message, QueuedMessageID: m.ID}, nil)
}

// wake is called when the agent is prompted, and starts the timer for its silence.
func (r *prompting) wake() {
	r.c.all.Core.Do(func(tx core.Tx) {
		if r.over || r.c.Dead(tx) {
			return
		}
		if c := r.c; c.facts.Forgot {
			c.facts.Forgot, c.dirty, r.broken = false, true, ""
			r.note(tx, "The agent starts without memory of what was said before.")
		}
		r.begun = true
		r.c.all.Annotations.Given(tx, r.c.Session(), r.message, r.id)
		r.heard(tx)
		r.c.steer(tx)
	})
}

// heard restarts the timer for the agent's silence. While a tool call runs, silence is normal.
func (r *prompting) heard(tx core.Tx) {
	if r.over {
		return
	}
	limit := r.c.all.Limits.AgentSilence
	if r.quiet == nil {
		r.quiet = time.AfterFunc(limit, func() { r.c.all.Core.Do(func(tx core.Tx) { r.silent(tx) }) })
		return
	}
	r.quiet.Reset(limit)
}

func (r *prompting) silent(tx core.Tx) {
	if r.over || r.c.Dead(tx) {
		return
	}
	if len(r.asks) > 0 {
		r.heard(tx)
		return
	}
	for _, k := range r.calls {
		if !k.over {
			r.heard(tx)
			return
		}
	}
	r.fail(tx, ahp.ErrorInfo{ErrorType: agent.KindTimeout, Message: fmt.Sprintf("the agent has said nothing for %v", r.c.all.Limits.AgentSilence)})
}

func (r *prompting) stopWatch() {
	if r.quiet != nil {
		r.quiet.Stop()
	}
	r.text.stop()
}
