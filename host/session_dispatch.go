package host

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
)

// sessionRules are the actions that clients may dispatch to sessions (AHP, Session
// Channel).
func sessionRules() map[string]rule {
	rules := map[string]rule{}
	const noDirectories = "the directories of a session are those that it began with"
	const noCustomizations = "this session has no customizations that can be changed here"
	for name, do := range map[string]func(tx core.Tx, d *dispatch) string{
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
		rules[name] = rule{scope: auth.ScopeSession, fits: isSession, do: byPeople(do)}
	}
	return rules
}

// byPeople refuses agents that came from the side: who drives an agent is a
// person, or a program that is no agent.
func byPeople(do func(core.Tx, *dispatch) string) func(core.Tx, *dispatch) string {
	return func(tx core.Tx, d *dispatch) string {
		if s := d.c.Principal.CannotDrive(); s != "" {
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

func acceptForSession(tx core.Tx, d *dispatch) string {
	d.ch.Body.(*session).apply(tx, d.action, &d.by)
	return ""
}

func retitleSession(tx core.Tx, d *dispatch) string {
	s := d.ch.Body.(*session)
	if why := params.CheckTitle(d.action.(ahp.SessionTitleChanged).Title); why != "" {
		return "the title is not usable: " + why
	}
	s.facts.Named = d.action.(ahp.SessionTitleChanged).Title != ""
	s.touch()
	return acceptForSession(tx, d)
}

// setActiveClient is session/activeClientSet: each client for itself.
func setActiveClient(tx core.Tx, d *dispatch) string {
	s, a := d.ch.Body.(*session), d.action.(ahp.SessionActiveClientSet).ActiveClient
	if a.ClientID != d.c.Client.ID {
		return "a client takes part for itself only: that is not its clientId"
	}
	if why := checkActive(s, a); why != "" {
		return why
	}
	if why := bulky(d.action); why != "" {
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

func removeActiveClient(tx core.Tx, d *dispatch) string {
	s, id := d.ch.Body.(*session), d.action.(ahp.SessionActiveClientRemoved).ClientID
	if id != d.c.Client.ID {
		return "a client removes itself only: that is not its clientId"
	}
	s.removeClient(tx, id, &d.by, "the client that has the tool no longer takes part")
	return ""
}

// configConfirm is the property with the policy of confirmation.
const configConfirm = "tandemux/confirm"

var confirmPolicies = []string{ahp.ConfirmAsk, ahp.ConfirmReads, ahp.ConfirmAll}

// changeSessionConfig is session/configChanged: of what the agent lets be set, and
// the policy of confirmation.
func changeSessionConfig(tx core.Tx, d *dispatch) string {
	s, a := d.ch.Body.(*session), d.action.(ahp.SessionConfigChanged)
	if a.Replace {
		return "the values can be changed, not replaced"
	}
	set := map[string]string{}
	for id, v := range a.Config {
		if id == configConfirm {
			if why := checkConfirm(d.c.Principal, v); why != "" {
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
	if policy, ok := a.Config[configConfirm].(string); ok {
		d.c.h.audit.Did(d.c.by(), "confirm policy", d.ch.URI, "policy", policy)
		s.facts.Confirm = policy
		s.dirty = true
	}
	before := map[string]any{}
	if s.value.Config != nil {
		for id := range set {
			before[id] = s.value.Config.Values[id]
		}
	}
	s.apply(tx, a, &d.by)
	for id, value := range set {
		s.setOption(id, value, before[id])
	}
	return ""
}

// checkConfirm says why a policy of confirmation can't be set.
func checkConfirm(p *auth.Principal, v any) string {
	policy, _ := v.(string)
	switch {
	case !slices.Contains(confirmPolicies, policy):
		return fmt.Sprintf("%s: use one of %q", configConfirm, confirmPolicies)
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
	h := s.h
	for _, c := range s.chats {
		a := c.agent
		if a == nil {
			continue
		}
		h.sessions.work.Add(1)
		go func() {
			defer h.sessions.work.Done()
			ctx, cancel := context.WithTimeout(h.sessions.ctx, h.limits.AgentGrace)
			defer cancel()
			if err := setGuarded(ctx, a, id, value); err != nil {
				h.core.Do(func(tx core.Tx) {
					if !c.dead(tx) {
						h.log.Warn("set an agent's option", "session", s.ch.URI, "option", id, "err", err)
						s.apply(tx, ahp.SessionConfigChanged{Config: map[string]any{id: before}}, nil)
					}
				})
			}
		}()
	}
}

func setGuarded(ctx context.Context, a agent.Session, id, value string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the agent's provider failed: %v", r)
		}
	}()
	return a.SetOption(ctx, id, value)
}

// changeModel is 0.5's session/modelChanged.
func changeModel(tx core.Tx, d *dispatch) string {
	s, a := d.ch.Body.(*session), d.action.(ahp.SessionModelChanged)
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
	s.apply(tx, a, &d.by)
	s.apply(tx, ahp.SessionConfigChanged{Config: map[string]any{o.ID: value}}, nil)
	s.setOption(o.ID, value, before)
	return ""
}
