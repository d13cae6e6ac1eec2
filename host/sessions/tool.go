package sessions

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/words"
	"tandemux/host/core"
	"tandemux/host/params"
)

// call is a tool call of a turn that an agent works on.
type call struct {
	r    *prompting
	id   string
	told agent.ToolCall // what the agent reported last
	over bool           // the call has ended
	runs ahp.Instant    // when it began to run, or ""
	// reported is when its progress was last applied.
	reported time.Time
	// before says that the call belongs to the turn before it was resumed.
	before bool

	// terminal is where its command runs, if the agent runs that by a tool of another connection.
	terminal ahp.ToolContent

	// editable is the member of the input that a person may edit, or "".
	editable string
	answer   chan ahp.ChatToolCallConfirmed // closed if the question is given up
	owner    string                         // the clientId, for a client's tool
	result   chan ahp.ToolResult            // of a client's tool; closed if the call is given up
}

// giveUp ends waiting for an answer or result.
func (k *call) giveUp(tx core.Tx) {
	k.over = true
	k.endConfirm(tx)
	if k.result != nil {
		close(k.result)
		k.result = nil
		k.r.c.s.met(tx, k.need())
	}
}

func (k *call) endConfirm(tx core.Tx) {
	if k.answer != nil {
		close(k.answer)
		k.answer = nil
		k.r.c.s.met(tx, k.need())
	}
}

// need returns the id of the call's entry in the session's InputNeeded.
func (k *call) need() string { return k.r.c.ch.URI + "#" + k.id }

// status returns the call's status in the chat's state, or "".
func (k *call) status() string {
	if t := k.r.c.value.ToolCall(k.r.id, k.id); t != nil {
		return t.Status
	}
	return ""
}

// Tool implements agent.Sink: it applies actions for what differs from the last report.
func (r *prompting) Tool(t agent.ToolCall) {
	size := len(t.Title) + len(t.Input) + len(t.Output)
	content := words.Contents(t.Content)
	for i := range content {
		size += len(content[i].Text) + len(content[i].Data) + len(content[i].Before) + len(content[i].After)
	}
	r.event(size, func(tx core.Tx) { r.tool(tx, t, content) })
}

func (r *prompting) tool(tx core.Tx, t agent.ToolCall, content []ahp.ToolContent) {
	if t.ID == "" || len(t.ID) > params.MaxURI {
		return
	}
	k := r.calls[t.ID]
	if k == nil || k.before {
		r.closeText(tx)
		if r.over || !r.room(tx) {
			return
		}
		id := t.ID
		if k != nil { // the agent reuses ids after the turn was resumed
			id = newID("call")
		}
		k = &call{r: r, id: id}
		r.calls[t.ID], r.calls[id] = k, k
		r.c.apply(tx, ahp.ChatToolCallStart{
			TurnID: r.id, ToolCallID: id, ToolName: params.ClipTo(cmp.Or(t.Name, cmp.Or(t.Kind, "tool")), params.MaxTitle),
			DisplayName: params.ClipTo(cmp.Or(t.Title, cmp.Or(t.Name, "Tool")), params.MaxTitle), Meta: words.ToolMeta(t),
		}, nil)
	}
	if k.over || k.owner != "" {
		return
	}
	k.advance(tx, t, k.shown(tx, content))
	if k.answer == nil { // else the answer belongs to what was asked
		k.told = t
	}
}

// runs makes a tool call show a terminal that was claimed for it by somebody who knows the chat but
// not the call, namely the agent's MCP server. It picks the call with that command, or the only
// candidate, and completes the terminal's claim.
func (c *Chat) runs(tx core.Tx, t ahp.TerminalState, work ahp.BackgroundWork) {
	r, claim := c.now, t.Claim
	if r == nil || claim.Chat != c.ch.URI || claim.ToolCallID == "" || claim.TurnID != "" || t.Lifecycle.Exited() {
		return
	}
	var k *call
	sure, n := false, 0
	for id, o := range r.calls {
		if id == o.id && !o.over && !o.before && o.told.Kind == "execute" && o.terminal.Resource == "" {
			command, _ := words.Member(string(o.told.Input), "command")
			is := command != "" && strings.HasSuffix(work.Command, command)
			if n++; k == nil || is {
				k, sure = o, is
			}
		}
	}
	if k == nil || n > 1 && !sure {
		return
	}
	now := k.told
	k.terminal = ahp.ToolContent{Type: ahp.ContentTerminal, Resource: work.ID, Title: params.ClipTo(k.told.Title, params.MaxTitle), IsPty: new(true)}
	now.Status = agent.ToolRunning // some agents don't say when it begins
	r.tool(tx, now, nil)
	c.apply(tx, ahp.ChatToolCallContentChanged{TurnID: r.id, ToolCallID: k.id, Content: k.shown(tx, nil), Meta: words.ToolMeta(now)}, nil)
	c.all.Terminals.Bind(tx, c, work.ID, r.id, k.id)
}

// shown returns a call's content with its terminal instead of the tool's own text.
func (k *call) shown(tx core.Tx, content []ahp.ToolContent) []ahp.ToolContent {
	if k.terminal.Resource == "" {
		return content
	}
	if t, ok := k.r.c.all.Terminals.State(tx, k.terminal.Resource); ok && t.Lifecycle.Exited() {
		k.terminal.Result = &ahp.TerminalResult{ExitCode: t.Lifecycle.ExitCode}
	} else if !ok && k.terminal.Result == nil {
		return content
	}
	own := slices.DeleteFunc(slices.Clone(content), func(o ahp.ToolContent) bool { return o.Type == ahp.ContentText })
	return append([]ahp.ToolContent{k.terminal}, own...)
}

// advance applies what leads from the last report to the state that the agent reports.
func (k *call) advance(tx core.Tx, t agent.ToolCall, content []ahp.ToolContent) {
	r, c := k.r, k.r.c
	switch k.status() {
	case ahp.ToolStreaming:
		if t.Status == agent.ToolPending {
			if t.Title != k.told.Title || !reflect.DeepEqual(t.Locations, k.told.Locations) {
				c.apply(tx, ahp.ChatToolCallDelta{TurnID: r.id, ToolCallID: k.id, InvocationMessage: words.Title(t), Meta: words.ToolMeta(t)}, nil)
			}
			return
		}
		c.apply(tx, k.ready(t, ahp.ConfirmedNotNeeded), nil)
		k.say(tx, t)
	case ahp.ToolPending:
		if !t.Status.Over() {
			return // it waits for a person, whatever the agent says
		}
		k.endConfirm(tx)
	case ahp.ToolRunning:
		if !t.Status.Over() {
			k.progress(tx, t)
		}
	default:
		return
	}
	if !t.Status.Over() {
		if len(content) > 0 && !reflect.DeepEqual(t.Content, k.told.Content) {
			c.apply(tx, ahp.ChatToolCallContentChanged{TurnID: r.id, ToolCallID: k.id, Content: content, Meta: words.ToolMeta(t)}, nil)
		}
		return
	}
	result := ahp.ToolResult{Success: t.Status == agent.ToolCompleted, PastTenseMessage: words.Title(t), Content: content}
	if out := words.Bounded(t.Output); out != nil {
		result.StructuredContent = out
	}
	if !result.Success {
		result.Error = &ahp.ToolError{Message: cmp.Or(t.Error, "The tool failed, or was not allowed to run.")}
	}
	k.complete(tx, result, words.ToolMeta(t), nil)
}

func (k *call) complete(tx core.Tx, result ahp.ToolResult, meta json.RawMessage, by *core.By) {
	c := k.r.c
	k.over = true
	k.endConfirm(tx)
	if c.value.Activity != "" {
		tx.Apply(c.ch, ahp.ChatActivityChanged{}, nil)
	}
	c.apply(tx, ahp.ChatToolCallComplete{TurnID: k.r.id, ToolCallID: k.id, Result: result, Meta: meta}, by)
	c.all.Terminals.CallEnded(tx, c, k.r.id, k.id)
}

// say shows what the call does as the chat's activity.
func (k *call) say(tx core.Tx, t agent.ToolCall) {
	does := params.CleanTitle(params.ClipTo(cmp.Or(t.Title, t.Name), words.MaxNamed))
	if does != "" && does != k.r.c.value.Activity {
		k.r.c.apply(tx, ahp.ChatActivityChanged{Activity: does}, nil)
	}
}

// progress applies what the agent reports about a running call: at once if the title changes,
// otherwise at most once per progressInterval.
func (k *call) progress(tx core.Tx, t agent.ToolCall) {
	c, now := k.r.c, k.r.c.all.Now()
	if t.Title != k.told.Title {
		k.say(tx, t)
	} else if now.Sub(k.reported) < progressInterval {
		return
	}
	k.reported = now
	a := ahp.ChatToolCallProgress{TurnID: k.r.id, ToolCallID: k.id}
	a.ElapsedMs, _ = elapsed(k.runs, now)
	if t.Title != "" {
		a.Message = words.Title(t)
	}
	c.apply(tx, a, nil)
}

const progressInterval = time.Second

// timed returns an action with the times of its tool call, which the host sets.
func (c *Chat) timed(a ahp.Action) ahp.Action {
	now := c.all.Now()
	of := func(id string) *call {
		if c.now == nil || c.now.calls[id] == nil {
			return &call{}
		}
		return c.now.calls[id]
	}
	begin := func(k *call) ahp.Instant {
		if k.runs == "" {
			k.runs, k.reported = ahp.InstantOf(now.UnixMilli()), now
		}
		return k.runs
	}
	switch a := a.(type) {
	case ahp.ChatToolCallReady:
		if a.Confirmed != "" {
			a.StartedAt = begin(of(a.ToolCallID))
		}
		return a
	case ahp.ChatToolCallConfirmed:
		if a.StartedAt = ""; a.Approved {
			a.StartedAt = begin(of(a.ToolCallID))
		}
		return a
	case ahp.ChatToolCallComplete:
		a.Duration = nil
		if ms, ok := elapsed(of(a.ToolCallID).runs, now); ok {
			a.Duration = &ms
		}
		return a
	}
	return a
}

// elapsed returns the milliseconds since a call began to run, or false if it has not.
func elapsed(since ahp.Instant, now time.Time) (int64, bool) {
	began, ok := since.Ms()
	return max(0, now.UnixMilli()-began), ok
}

// ready returns the action that starts the call, or asks if confirmed is "".
func (k *call) ready(t agent.ToolCall, confirmed string) ahp.ChatToolCallReady {
	a := ahp.ChatToolCallReady{TurnID: k.r.id, ToolCallID: k.id, InvocationMessage: words.Title(t), Confirmed: confirmed, Meta: words.ToolMeta(t)}
	if in := words.Bounded(t.Input); in != nil {
		a.ToolInput = ahp.TextInput(string(in))
	}
	return a
}

// errorInterrupted is the error code of a tool call whose end was not reported. Its message says what
// is known.
var errorInterrupted = json.RawMessage(`"tandemux/interrupted"`)

// settleCalls ends the tool calls of the active turn that have not ended, before the turn ends: at the
// end of a turn AHP counts open calls as skipped, but these have run. complete says that the agent
// ended its turn normally; died, that an earlier host died in it. The result says whether one of them
// may have run.
func (c *Chat) settleCalls(tx core.Tx, complete, died bool) (ran bool) {
	turn := c.value.ActiveTurn
	if turn == nil {
		return false
	}
	for _, p := range turn.ResponseParts {
		t := p.ToolCall
		if t == nil || t.Over() {
			continue
		}
		switch t.Status {
		case ahp.ToolPending:
			c.apply(tx, ahp.ChatToolCallConfirmed{
				TurnID: turn.ID, ToolCallID: t.ToolCallID, Reason: ahp.ReasonSkipped, ReasonMessage: ahp.Plain("not run: nobody had allowed it"),
			}, nil)
		case ahp.ToolRunning:
			ran = true
			c.apply(tx, c.interrupted(tx, turn.ID, t, complete, died), nil)
		default:
			ran = ran || t.Status == ahp.ToolStreaming // some agents don't say when it begins
		}
	}
	return ran
}

// interrupted returns the action that ends a tool call that ran, with what is known about it.
func (c *Chat) interrupted(tx core.Tx, turn string, t *ahp.ToolCall, complete, died bool) ahp.ChatToolCallComplete {
	how, after := "may have run", ""
	if ms, ok := elapsed(t.StartedAt, c.all.Now()); ok && !died {
		if took := time.Duration(ms) * time.Millisecond; took >= time.Second {
			after = fmt.Sprintf(" after %v", took.Truncate(time.Second))
		}
		how = "interrupted" + after + ", may have run to its end"
	}
	if complete {
		how = "the agent did not say how it ended"
	}
	for _, uri := range c.terminalsOf(tx, t) {
		term, _ := c.all.Terminals.State(tx, uri)
		claim, life := term.Claim, term.Lifecycle
		switch held := claim.Chat == c.ch.URI && claim.ToolCallID != ""; {
		case life.Exited() && life.ExitCode != nil:
			how = fmt.Sprintf("its command has ended with exit code %d", *life.ExitCode)
		case life.Exited():
			how = "its command was ended by a signal"
		case !complete && !died && held: // whoever interrupts the agent also ends what it waits for
			how = "interrupted" + after + ", in terminal " + path.Base(uri)
		default:
			how = "still running in " + path.Base(uri)
		}
	}
	return ahp.ChatToolCallComplete{TurnID: turn, ToolCallID: t.ToolCallID, Meta: t.Meta, Result: ahp.ToolResult{
		PastTenseMessage: t.InvocationMessage, Content: t.Content, Error: &ahp.ToolError{Message: how, Code: errorInterrupted},
	}}
}

// terminalsOf returns the terminals that a tool call shows, or that are held for it.
func (c *Chat) terminalsOf(tx core.Tx, t *ahp.ToolCall) (list []ahp.URI) {
	for _, k := range t.Content {
		if _, ok := c.all.Terminals.State(tx, k.Resource); ok && k.Type == ahp.ContentTerminal {
			list = append(list, k.Resource)
		}
	}
	for _, uri := range c.all.Terminals.HeldFor(tx, c, t.ToolCallID) {
		if !slices.Contains(list, uri) {
			list = append(list, uri)
		}
	}
	return list
}
