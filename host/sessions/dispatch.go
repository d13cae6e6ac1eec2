package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/words"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
)

// Dispatch is a client's action that is being decided.
type Dispatch struct {
	By      *core.By
	Channel *core.Channel
	Action  ahp.Action
}

// Rule says on which channels an action fits, and decides it: "", or why it is refused.
type Rule struct {
	Fits func(b core.Body) bool
	Do   func(tx core.Tx, d *Dispatch) (refusal string)
}

// Rules are the actions that clients may dispatch to sessions and chats.
func Rules() map[string]Rule {
	all := chatRules()
	maps.Copy(all, sessionRules())
	return all
}

// Needed are the members that those actions must have.
func Needed() map[string][]string {
	all := maps.Clone(neededOfChats)
	maps.Copy(all, neededOfSessions)
	return all
}

// sessionRules are the actions that clients may dispatch to sessions (AHP, Session
// Channel).
func sessionRules() map[string]Rule {
	rules := map[string]Rule{}
	const noDirectories = "the directories of a session are those that it began with"
	const noCustomizations = "this session has no customizations that can be changed here"
	for name, do := range map[string]func(tx core.Tx, d *Dispatch) string{
		ahp.SessionTitleChanged{}.ActionType():                 retitleSession,
		ahp.SessionIsReadChanged{}.ActionType():                acceptForSession,
		ahp.SessionIsArchivedChanged{}.ActionType():            acceptForSession,
		ahp.SessionActiveClientSet{}.ActionType():              setActiveClient,
		ahp.SessionActiveClientRemoved{}.ActionType():          removeActiveClient,
		ahp.SessionConfigChanged{}.ActionType():                changeSessionConfig,
		ahp.SessionModelChanged{}.ActionType():                 changeModel,
		ahp.SessionAgentChanged{}.ActionType():                 refuseBecause("this host has no custom agents"),
		ahp.SessionWorkingDirectorySet{}.ActionType():          refuseBecause(noDirectories),
		ahp.SessionWorkingDirectoryRemoved{}.ActionType():      refuseBecause(noDirectories),
		ahp.SessionWorkingDirectoryReplaced{}.ActionType():     refuseBecause(noDirectories),
		ahp.SessionCustomizationToggled{}.ActionType():         refuseBecause(noCustomizations),
		ahp.SessionMcpServerStartRequested{}.ActionType():      refuseBecause(noCustomizations),
		ahp.SessionMcpServerStopRequested{}.ActionType():       refuseBecause(noCustomizations),
		ahp.SessionMcpServerBackgroundRequested{}.ActionType(): refuseBecause(noCustomizations),
	} {
		rules[name] = Rule{isSession, byPeople(do)}
	}
	return rules
}

// byPeople refuses agents that came from the side: who drives an agent is a
// person, or a program that is no agent.
func byPeople(do func(core.Tx, *Dispatch) string) func(core.Tx, *Dispatch) string {
	return func(tx core.Tx, d *Dispatch) string {
		if s := d.By.Link.Principal.CannotDrive(); s != "" {
			return s
		}
		return do(tx, d)
	}
}

var neededOfSessions = map[string][]string{
	ahp.SessionTitleChanged{}.ActionType():        {"title"},
	ahp.SessionActiveClientSet{}.ActionType():     {"activeClient"},
	ahp.SessionActiveClientRemoved{}.ActionType(): {"clientId"},
	ahp.SessionConfigChanged{}.ActionType():       {"config"},
	ahp.SessionModelChanged{}.ActionType():        {"model"},
}

func acceptForSession(tx core.Tx, d *Dispatch) string {
	d.Channel.Body.(*session).apply(tx, d.Action, d.By)
	return ""
}

func retitleSession(tx core.Tx, d *Dispatch) string {
	s := d.Channel.Body.(*session)
	if why := params.CheckTitle(d.Action.(ahp.SessionTitleChanged).Title); why != "" {
		return "the title is not usable: " + why
	}
	s.facts.Named = d.Action.(ahp.SessionTitleChanged).Title != ""
	s.touch()
	return acceptForSession(tx, d)
}

// setActiveClient is session/activeClientSet: each client for itself.
func setActiveClient(tx core.Tx, d *Dispatch) string {
	s, a := d.Channel.Body.(*session), d.Action.(ahp.SessionActiveClientSet).ActiveClient
	if a.ClientID != d.By.Origin.ClientID {
		return "a client takes part for itself only: that is not its clientId"
	}
	if why := checkActive(s, a); why != "" {
		return why
	}
	if why := bulky(d.Action); why != "" {
		return why
	}
	return acceptForSession(tx, d)
}

func checkActive(s *session, a ahp.ActiveClient) string {
	switch {
	case len(a.Tools) > maxClientTools:
		return fmt.Sprintf("a client has %d tools at most", maxClientTools)
	case !s.isActive(a.ClientID) && len(s.value.ActiveClients) >= maxActiveClients:
		return fmt.Sprintf("%d clients take part already, the most there can be", maxActiveClients)
	}
	return ""
}

func removeActiveClient(tx core.Tx, d *Dispatch) string {
	s, id := d.Channel.Body.(*session), d.Action.(ahp.SessionActiveClientRemoved).ClientID
	if id != d.By.Origin.ClientID {
		return "a client removes itself only: that is not its clientId"
	}
	s.removeClient(tx, id, d.By, "the client that has the tool no longer takes part")
	return ""
}

// changeSessionConfig is session/configChanged: of what the agent lets be set, and
// the policy of confirmation.
func changeSessionConfig(tx core.Tx, d *Dispatch) string {
	s, a := d.Channel.Body.(*session), d.Action.(ahp.SessionConfigChanged)
	if a.Replace {
		return "the values can be changed, not replaced"
	}
	set := map[string]string{}
	for id, v := range a.Config {
		if id == words.ConfigConfirm {
			if why := checkConfirm(d.By.Link.Principal, v); why != "" {
				return why
			}
			continue
		}
		value, why := s.settable(id, v)
		if why != "" {
			return why
		}
		set[id] = value
	}
	if policy, ok := a.Config[words.ConfigConfirm].(string); ok {
		s.all.Audit.Did(d.By.Link.Who(), "confirm policy", d.Channel.URI, "policy", policy)
		s.facts.Confirm = policy
		s.dirty = true
	}
	before := map[string]any{}
	if s.value.Config != nil {
		for id := range set {
			before[id] = s.value.Config.Values[id]
		}
	}
	s.apply(tx, a, d.By)
	for id, value := range set {
		s.setOption(id, value, before[id])
	}
	return ""
}

// checkConfirm says why a policy of confirmation can't be set.
func checkConfirm(p *auth.Principal, v any) string {
	policy, _ := v.(string)
	switch {
	case !slices.Contains(words.ConfirmPolicies, policy):
		return fmt.Sprintf("%s: use one of %q", words.ConfigConfirm, words.ConfirmPolicies)
	case policy != ahp.ConfirmAsk:
		return p.Lacks(auth.ScopeApprove)
	}
	return ""
}

// settable is a value for an option of the agent's, in its words.
func (s *session) settable(id string, v any) (value, refusal string) {
	i := slices.IndexFunc(s.meta.Options, func(o ahp.AgentOption) bool { return o.ID == id })
	if i < 0 {
		return "", fmt.Sprintf("%q can't be set in this session", params.Clip(id))
	}
	o := s.meta.Options[i]
	switch v := v.(type) {
	case bool:
		if o.Boolean {
			return fmt.Sprint(v), ""
		}
	case string:
		if !o.Boolean && slices.ContainsFunc(o.Choices, func(c ahp.AgentChoice) bool { return c.ID == v }) {
			return v, ""
		}
	}
	return "", fmt.Sprintf("%q is not one of the values of %s", params.Clip(fmt.Sprint(v)), params.Clip(id))
}

// setOption has the agents of the session's chats set an option; if that fails,
// the value goes back.
func (s *session) setOption(id, value string, before any) {
	ss := s.all
	for _, c := range s.chats {
		a := c.agent
		if a == nil {
			continue
		}
		ss.work.Add(1)
		go func() {
			defer ss.work.Done()
			ctx, cancel := context.WithTimeout(ss.ctx, ss.Limits.AgentGrace)
			defer cancel()
			if err := agent.SetOption(ctx, a, id, value); err != nil {
				ss.Core.Do(func(tx core.Tx) {
					if !c.Dead(tx) {
						ss.Log.Warn("set an agent's option", "session", s.ch.URI, "option", id, "err", err)
						s.apply(tx, ahp.SessionConfigChanged{Config: map[string]any{id: before}}, nil)
					}
				})
			}
		}()
	}
}

// changeModel is 0.5's session/modelChanged.
func changeModel(tx core.Tx, d *Dispatch) string {
	s, a := d.Channel.Body.(*session), d.Action.(ahp.SessionModelChanged)
	var m ahp.ModelSelection
	if json.Unmarshal(a.Model, &m) != nil {
		return "model: want an object with an id"
	}
	i := slices.IndexFunc(s.meta.Options, func(o ahp.AgentOption) bool { return o.Category == "model" })
	if i < 0 {
		return "the agent has no models to choose from"
	}
	o := s.meta.Options[i]
	value, why := s.settable(o.ID, m.ID)
	if why != "" {
		return why
	}
	before := any(nil)
	if s.value.Config != nil {
		before = s.value.Config.Values[o.ID]
	}
	s.apply(tx, a, d.By)
	s.apply(tx, ahp.SessionConfigChanged{Config: map[string]any{o.ID: value}}, nil)
	s.setOption(o.ID, value, before)
	return ""
}
