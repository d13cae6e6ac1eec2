package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/words"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
)

// Confirm implements agent.Sink: a person answers, or the session's policy.
func (r *prompting) Confirm(ctx context.Context, q agent.Confirmation) (agent.Answer, error) {
	q.Options = q.Options[:min(len(q.Options), words.MaxChoices)]
	var wait chan ahp.ChatToolCallConfirmed
	optionID, err := "", errors.New("the turn has ended")
	r.event(0, func(tx core.Tx) {
		if q.Call.ID == "" {
			return
		}
		if k := r.calls[q.Call.ID]; k == nil || k.before {
			r.tool(tx, q.Call, words.Contents(q.Call.Content))
		}
		k := r.calls[q.Call.ID]
		if k == nil || k.over || k.answer != nil {
			return
		}
		err = nil
		if optionID = r.c.s.decides(q); optionID != "" {
			r.c.apply(tx, k.ready(q.Call, ahp.ConfirmedSetting), nil)
			k.say(tx, q.Call)
			return
		}
		wait = k.ask(tx, q)
	})
	if err != nil || optionID != "" {
		return agent.Answer{Option: optionID}, err
	}
	select {
	case a, ok := <-wait:
		if !ok {
			return agent.Answer{}, errors.New("the question was given up: the turn has ended")
		}
		id, err := words.Chosen(q.Options, a)
		answer := agent.Answer{Option: id}
		if a.EditedToolInput != nil {
			answer.Input = json.RawMessage(*a.EditedToolInput)
		}
		return answer, err
	case <-ctx.Done():
		r.c.all.Core.Do(func(tx core.Tx) { r.withdraw(tx, q.Call.ID, wait) })
		return agent.Answer{}, context.Cause(ctx)
	}
}

// decides returns the option that the session's policy chooses, or "" if a person has to.
func (s *session) decides(q agent.Confirmation) string {
	if q.ByPerson || !ahp.Unasked(s.facts.Confirm, q.Call.Kind) {
		return ""
	}
	id, _ := agent.OptionOf(q.Options, agent.ConfirmAllowOnce, agent.ConfirmAllowAlways)
	return id
}

func (k *call) ask(tx core.Tx, q agent.Confirmation) chan ahp.ChatToolCallConfirmed {
	c := k.r.c
	k.r.closeText(tx)
	a := k.ready(q.Call, "")
	for _, o := range q.Options {
		w := ahp.ToolOption{ID: o.ID, Label: params.ClipTo(o.Name, params.MaxTitle), Kind: ahp.OptionApprove, Group: new(1)}
		if words.Denies(o) {
			w.Kind, w.Group = ahp.OptionDeny, new(2)
		}
		if b, err := json.Marshal(map[string]string{"tandemux/group": params.ClipTo(o.Group, words.MaxNamed)}); err == nil && o.Group != "" {
			w.Meta = b // AHP has no member that says once or always
		}
		a.Options = append(a.Options, w)
	}
	words.Evidence(&a, q.Call)
	if k.editable = words.Editable(q, a.ToolInput); k.editable != "" {
		a.Editable, a.Meta = new(true), words.WithMember(a.Meta, "tandemux/editable", k.editable)
	}
	k.answer = make(chan ahp.ChatToolCallConfirmed, 1)
	c.apply(tx, a, nil)
	k.told = q.Call
	if t := c.value.ToolCall(k.r.id, k.id); t != nil {
		c.s.need(tx, ahp.InputNeeded{ID: k.need(), Chat: c.ch.URI, Kind: ahp.NeedToolConfirmation, TurnID: k.r.id, ToolCall: t})
	}
	return k.answer
}

// withdraw ends a question that the agent no longer asks. The call is skipped.
func (r *prompting) withdraw(tx core.Tx, id string, wait chan ahp.ChatToolCallConfirmed) {
	k := r.calls[id]
	if r.over || k == nil || k.answer != wait {
		return
	}
	k.endConfirm(tx)
	k.over = true
	r.c.apply(tx, ahp.ChatToolCallConfirmed{TurnID: r.id, ToolCallID: id, Reason: ahp.ReasonSkipped, ReasonMessage: ahp.Plain("not run: the agent asks no more")}, nil)
}

// confirmTool handles chat/toolCallConfirmed. The first answer counts, whoever it is from.
func confirmTool(tx core.Tx, d *requests.Dispatch) string {
	a := d.Action.(ahp.ChatToolCallConfirmed)
	c := d.Channel.Body.(*Chat)
	t := c.value.ToolCall(a.TurnID, a.ToolCallID)
	switch {
	case t == nil:
		return "there is no such tool call in the turn that runs"
	case t.Status != ahp.ToolPending:
		return fmt.Sprintf("the tool call does not wait for confirmation: it is %s%s", t.Status, words.Answered(*t))
	case a.Approved:
		if s := d.By.Link.Principal.Lacks(auth.ScopeApprove); s != "" {
			return s
		}
	}
	option := slices.IndexFunc(t.Options, func(o ahp.ToolOption) bool { return o.ID == a.SelectedOptionID })
	switch {
	case a.SelectedOptionID != "" && option < 0:
		return fmt.Sprintf("the tool call has no option %q", params.Clip(a.SelectedOptionID))
	case option >= 0 && (t.Options[option].Kind == ahp.OptionApprove) != a.Approved:
		return fmt.Sprintf("the option %q is there to %s", params.Clip(a.SelectedOptionID), t.Options[option].Kind)
	case a.EditedToolInput != nil && !a.Approved:
		return "the input of a tool call that is denied is not edited"
	case a.EditedToolInput != nil && c.refusesEdit(*t, *a.EditedToolInput) != "":
		return c.refusesEdit(*t, *a.EditedToolInput)
	case !a.Approved && a.Reason != "" && a.Reason != ahp.ReasonDenied && a.Reason != ahp.ReasonSkipped:
		return fmt.Sprintf("a tool call is not approved because it is %q or %q", ahp.ReasonDenied, ahp.ReasonSkipped)
	}
	if a.Approved {
		a.Confirmed, a.Reason = ahp.ConfirmedUserAction, ""
	} else {
		a.Reason, a.Confirmed = cmp.Or(a.Reason, ahp.ReasonDenied), ""
		if a.Reason == ahp.ReasonSkipped && a.ReasonMessage == nil {
			a.ReasonMessage = ahp.Plain("not run: somebody skipped it")
		}
	}
	c.all.Audit.Did(d.By.Link.Who(), "confirm", d.Channel.URI, "tool call", params.Clip(a.ToolCallID), "approved", approvedText[a.Approved])
	c.apply(tx, a, d.By)
	if r := c.now; r != nil && r.id == a.TurnID {
		if k := r.calls[a.ToolCallID]; k != nil && k.answer != nil {
			k.answer <- a
			k.answer = nil
			c.s.met(tx, k.need())
			r.heard(tx)
			if a.Approved {
				if a.EditedToolInput != nil {
					k.told.Input = json.RawMessage(*a.EditedToolInput)
				}
				if !strings.HasPrefix(k.id, permitCall) { // Permit's callers note that themselves
					c.all.Terminals.Allowed(c, k.id, k.told)
				}
				k.say(tx, k.told)
			} else {
				k.over = true
			}
		}
	}
	return ""
}

var approvedText = map[bool]string{true: "yes", false: "no"}

// refusesEdit returns why a tool call can't run with the edited input, or "". In AHP the whole input
// is edited as one text, but the agent runs the call, so only the member that its provider can replace
// may differ.
func (c *Chat) refusesEdit(t ahp.ToolCall, edited string) string {
	name := ""
	if c.now != nil && c.now.calls[t.ToolCallID] != nil {
		name = c.now.calls[t.ToolCallID].editable
	}
	return words.RefusesEdit(t.ToolInput, edited, name)
}
