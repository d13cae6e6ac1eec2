package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent/words"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
)

// clientTools runs the tools of a session's active clients. It implements agent.ClientTools.
type clientTools struct{ c *Chat }

// List returns the tools. Of two with the same name it has that of the client that came first.
func (t *clientTools) List() []ahp.ToolDefinition {
	tx := t.c.all.Core.Lock()
	defer tx.Unlock()
	return t.c.s.clientTools(tx)
}

func (s *session) clientTools(tx core.Tx) []ahp.ToolDefinition {
	var list []ahp.ToolDefinition
	for _, cl := range s.value.ActiveClients {
		for _, def := range cl.Tools {
			if !slices.ContainsFunc(list, func(d ahp.ToolDefinition) bool { return d.Name == def.Name }) {
				list = append(list, def)
			}
		}
	}
	return list
}

// Call has a client run a tool and returns the result. The call fails if the client is disconnected
// for longer than ClientGrace, or takes longer than ToolTime.
func (t *clientTools) Call(ctx context.Context, id, name string, input json.RawMessage) (ahp.ToolResult, error) {
	c := t.c
	var wait chan ahp.ToolResult
	err := errors.New("no turn runs")
	c.all.Core.Do(func(tx core.Tx) {
		r := c.now
		if r == nil || r.over || c.Dead(tx) {
			return
		}
		r.heard(tx)
		wait, err = r.callClient(tx, id, name, input)
	})
	if err != nil {
		return ahp.ToolResult{}, err
	}
	var why string
	select {
	case result, ok := <-wait:
		if !ok {
			return ahp.ToolResult{}, errors.New("the tool call was given up: its turn has ended")
		}
		return result, nil
	case <-ctx.Done():
		why = "the agent no longer waits for it"
	case <-time.After(c.all.Limits.ToolTime):
		why = fmt.Sprintf("the client did not answer within %v", c.all.Limits.ToolTime)
	}
	failed := words.FailedResult(why)
	c.all.Core.Do(func(tx core.Tx) { c.failCall(tx, id, wait, failed) })
	return failed, nil
}

// callClient asks a client to run a tool.
func (r *prompting) callClient(tx core.Tx, id, name string, input json.RawMessage) (chan ahp.ToolResult, error) {
	c := r.c
	var owner string
	var def ahp.ToolDefinition
	for _, cl := range c.s.value.ActiveClients {
		i := slices.IndexFunc(cl.Tools, func(d ahp.ToolDefinition) bool { return d.Name == name })
		if i >= 0 {
			owner, def = cl.ClientID, cl.Tools[i]
			break
		}
	}
	switch {
	case owner == "":
		return nil, fmt.Errorf("no client has a tool %q", params.Clip(name))
	case id == "" || len(id) > params.MaxURI || r.calls[id] != nil && !r.calls[id].before:
		return nil, fmt.Errorf("the tool call's id %q is not usable", params.Clip(id))
	case len(input) > words.MaxText:
		return nil, fmt.Errorf("the tool's input is larger than %d bytes", words.MaxText)
	}
	r.closeText(tx)
	if r.over || !r.room(tx) {
		return nil, errors.New("the turn has ended")
	}
	k := &call{r: r, id: id, owner: owner, result: make(chan ahp.ToolResult, 1)}
	r.calls[id] = k
	by := &ahp.Contributor{Kind: ahp.ContributorClient, ClientID: owner}
	c.apply(tx, ahp.ChatToolCallStart{TurnID: r.id, ToolCallID: id, ToolName: name, DisplayName: cmp.Or(def.Title, name), Contributor: by}, nil)
	ready := ahp.ChatToolCallReady{TurnID: r.id, ToolCallID: id, InvocationMessage: ahp.Plain(cmp.Or(def.Title, name)), Confirmed: ahp.ConfirmedNotNeeded}
	if in := words.Bounded(input); in != nil {
		ready.ToolInput = ahp.TextInput(string(in))
	}
	c.apply(tx, ready, nil)
	if t := c.value.ToolCall(r.id, id); t != nil {
		c.s.need(tx, ahp.InputNeeded{ID: k.need(), Chat: c.ch.URI, Kind: ahp.NeedToolClientExecution, TurnID: r.id, ClientID: owner, ToolCall: t})
	}
	return k.result, nil
}

// failCall completes a client's call as failed, unless it has a result.
func (c *Chat) failCall(tx core.Tx, id string, wait chan ahp.ToolResult, result ahp.ToolResult) {
	if c.now == nil || c.Dead(tx) {
		return
	}
	k := c.now.calls[id]
	if k == nil || k.over || k.result == nil || wait != nil && k.result != wait {
		return
	}
	k.answerResult(tx, result, nil)
}

// answerResult passes a client's result to the agent and applies it.
func (k *call) answerResult(tx core.Tx, result ahp.ToolResult, by *core.By) {
	k.result <- result
	k.result = nil
	k.complete(tx, result, nil, by)
	k.r.c.s.met(tx, k.need())
	k.r.heard(tx)
}

// completeTool handles a client's chat/toolCallComplete, for its own tools.
func completeTool(tx core.Tx, d *requests.Dispatch) string {
	a := d.Action.(ahp.ChatToolCallComplete)
	k, refusal := ownCall(d, a.TurnID, a.ToolCallID)
	switch {
	case refusal != "":
		return refusal
	case a.RequiresResultConfirmation:
		return "the result of a client's tool is not confirmed here"
	}
	k.answerResult(tx, a.Result, d.By)
	return ""
}

// changeOwnTool handles a client's chat/toolCallContentChanged and chat/toolCallProgress, for its own
// tools.
func changeOwnTool(tx core.Tx, d *requests.Dispatch) string {
	var turn, id string
	switch a := d.Action.(type) {
	case ahp.ChatToolCallContentChanged:
		turn, id = a.TurnID, a.ToolCallID
	case ahp.ChatToolCallProgress:
		if turn, id = a.TurnID, a.ToolCallID; a.ElapsedMs < 0 {
			return "elapsedMs: it is below 0"
		}
	}
	k, refusal := ownCall(d, turn, id)
	if refusal == "" {
		k.r.heard(tx)
		k.r.c.apply(tx, d.Action, d.By)
	}
	return refusal
}

// ownCall returns a running call of a tool of the dispatching client, or why there is none.
func ownCall(d *requests.Dispatch, turnID, id string) (*call, string) {
	c := d.Channel.Body.(*Chat)
	t := c.value.ToolCall(turnID, id)
	switch {
	case t == nil:
		return nil, "there is no such tool call in the turn that runs"
	case t.Contributor == nil || t.Contributor.Kind != ahp.ContributorClient:
		return nil, "the tool is the agent's: it tells the result itself"
	case t.Contributor.ClientID != d.By.Origin.ClientID:
		return nil, fmt.Sprintf("the tool is another client's, %s: only that one tells the result", params.Clip(t.Contributor.ClientID))
	case t.Status != ahp.ToolRunning || c.now == nil || c.now.calls[id] == nil || c.now.calls[id].result == nil:
		return nil, fmt.Sprintf("the tool call does not run: it is %s", t.Status)
	}
	return c.now.calls[id], ""
}

// ClientGone is called when a client's connection has ended. It starts ClientGrace in the sessions to
// which none of the client's other connections is subscribed.
func (ss *Sessions) ClientGone(tx core.Tx, id string) {
	cl := tx.Client(id)
	for _, s := range ss.list {
		if s.isActive(id) && s.absent[id] == nil && (cl == nil || !cl.Watches(s.ch.URI)) {
			if s.absent == nil {
				s.absent = map[string]*time.Timer{}
			}
			var timer *time.Timer
			timer = time.AfterFunc(ss.Limits.ClientGrace, func() {
				s.all.Core.Do(func(tx core.Tx) {
					if s.absent[id] == timer {
						s.removeClient(tx, id, nil, "the client that has the tool is gone")
					}
				})
			})
			s.absent[id] = timer
		}
	}
}

// ClientBack ends ClientGrace in the sessions to which the client is subscribed again. After a
// complete reconnect the client takes no part in the sessions that it did not list (AHP, Lifecycle).
func (ss *Sessions) ClientBack(tx core.Tx, l *core.Link, complete bool) {
	id := l.Client.ID
	for _, s := range ss.list {
		if !s.isActive(id) {
			continue
		}
		if l.Client.Watches(s.ch.URI) {
			if timer := s.absent[id]; timer != nil {
				timer.Stop()
				delete(s.absent, id)
			}
		} else if complete {
			s.removeClient(tx, id, nil, "the client that has the tool no longer takes part")
		}
	}
}

// ClientLooksAway removes a client from a session from which it has unsubscribed (AHP, Subscriptions).
func (ss *Sessions) ClientLooksAway(tx core.Tx, l *core.Link, ch *core.Channel) {
	if s, ok := ch.Body.(*session); ok && s.isActive(l.Client.ID) && !l.Client.Watches(ch.URI) {
		s.removeClient(tx, l.Client.ID, nil, "the client that has the tool no longer takes part")
	}
}

func (s *session) isActive(id string) bool {
	return slices.ContainsFunc(s.value.ActiveClients, func(c ahp.ActiveClient) bool { return c.ClientID == id })
}

// removeClient removes an active client from a session. The tools that it was running fail.
func (s *session) removeClient(tx core.Tx, id string, by *core.By, why string) {
	if timer := s.absent[id]; timer != nil {
		timer.Stop()
		delete(s.absent, id)
	}
	if tx.Channel(s.ch.URI) != s.ch || tx.Closing() {
		return
	}
	s.apply(tx, ahp.SessionActiveClientRemoved{ClientID: id}, by)
	for _, c := range s.chats {
		if c.now == nil {
			continue
		}
		for _, k := range c.now.calls {
			if k.owner == id && !k.over && k.result != nil {
				k.answerResult(tx, words.FailedResult(why), nil)
			}
		}
	}
}
