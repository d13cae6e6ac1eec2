package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/words"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
)

// Actions returns the actions that clients may dispatch to sessions and chats. Only connections of
// people, or of programs that are not agents, may.
func Actions() map[string]requests.Action {
	all := map[string]requests.Action{}
	sessionActions(all)
	chatActions(all)
	return all
}

// adder returns a function that adds an action for a kind of channel, with its handler and the members
// that it must have.
func adder(all map[string]requests.Action, fits func(core.Body) bool) func(a ahp.Action, do func(core.Tx, *requests.Dispatch) string, needs ...string) {
	return func(a ahp.Action, do func(core.Tx, *requests.Dispatch) string, needs ...string) {
		all[a.ActionType()] = requests.Action{Scope: auth.ScopeSession, Needs: needs, Fits: fits, Do: func(tx core.Tx, d *requests.Dispatch) string {
			if s := d.By.Link.Principal.CannotDrive(); s != "" {
				return s
			}
			if b, err := ahp.EncodeAction(ahp.V1, d.Action); err != nil || len(b) > maxMessage {
				return tooLarge
			}
			return do(tx, d)
		}}
	}
}

// tooLarge is the refusal of an action that is too large to be stored.
var tooLarge = fmt.Sprintf("it is larger than %d bytes", maxMessage)

// sessionActions adds the actions of sessions (AHP, Session Channel).
func sessionActions(all map[string]requests.Action) {
	add := adder(all, requests.Is[*session])
	add(ahp.SessionTitleChanged{}, retitleSession, "title")
	add(ahp.SessionIsReadChanged{}, acceptForSession)
	add(ahp.SessionIsArchivedChanged{}, acceptForSession)
	add(ahp.SessionActiveClientSet{}, setActiveClient, "activeClient")
	add(ahp.SessionActiveClientRemoved{}, removeActiveClient, "clientId")
	add(ahp.SessionConfigChanged{}, changeSessionConfig, "config")
	add(ahp.SessionModelChanged{}, changeModel, "model")
	refuse(all, requests.Is[*session], "this host has no custom agents", ahp.SessionAgentChanged{})
	refuse(all, requests.Is[*session], "the directories of a session are those that it began with",
		ahp.SessionWorkingDirectorySet{}, ahp.SessionWorkingDirectoryRemoved{}, ahp.SessionWorkingDirectoryReplaced{})
	refuse(all, requests.Is[*session], "this session has no customizations that can be changed here", ahp.SessionCustomizationToggled{},
		ahp.SessionMcpServerStartRequested{}, ahp.SessionMcpServerStopRequested{}, ahp.SessionMcpServerBackgroundRequested{})
}

// refuse adds actions that clients may dispatch in AHP, and that this host refuses.
func refuse(all map[string]requests.Action, fits func(core.Body) bool, why string, actions ...ahp.Action) {
	for _, a := range actions {
		all[a.ActionType()] = requests.Action{Scope: auth.ScopeSession, Fits: fits, Refusal: why}
	}
}

func acceptForSession(tx core.Tx, d *requests.Dispatch) string {
	d.Channel.Body.(*session).apply(tx, d.Action, d.By)
	return ""
}

func retitleSession(tx core.Tx, d *requests.Dispatch) string {
	s := d.Channel.Body.(*session)
	if why := params.CheckTitle(d.Action.(ahp.SessionTitleChanged).Title); why != "" {
		return "the title is not usable: " + why
	}
	s.facts.Named = d.Action.(ahp.SessionTitleChanged).Title != ""
	s.touch()
	return acceptForSession(tx, d)
}

// setActiveClient handles session/activeClientSet. A client can set only itself.
func setActiveClient(tx core.Tx, d *requests.Dispatch) string {
	s, a := d.Channel.Body.(*session), d.Action.(ahp.SessionActiveClientSet).ActiveClient
	if a.ClientID != d.By.Origin.ClientID {
		return "a client takes part for itself only: that is not its clientId"
	}
	if why := checkActive(s, a); why != "" {
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

func removeActiveClient(tx core.Tx, d *requests.Dispatch) string {
	s, id := d.Channel.Body.(*session), d.Action.(ahp.SessionActiveClientRemoved).ClientID
	if id != d.By.Origin.ClientID {
		return "a client removes itself only: that is not its clientId"
	}
	s.removeClient(tx, id, d.By, "the client that has the tool no longer takes part")
	return ""
}

// changeSessionConfig handles session/configChanged, for the agent's options and the confirmation
// policy.
func changeSessionConfig(tx core.Tx, d *requests.Dispatch) string {
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
	}
	before := map[string]any{}
	for id := range set {
		before[id] = s.optionValue(id)
	}
	s.apply(tx, a, d.By)
	for id, value := range set {
		s.setOption(id, value, before[id])
	}
	return ""
}

// checkConfirm returns why p may not set a confirmation policy, or "".
func checkConfirm(p *auth.Principal, v any) string {
	policy, _ := v.(string)
	switch {
	case !slices.Contains(ahp.Confirms, policy):
		return fmt.Sprintf("%s: use one of %q", words.ConfigConfirm, ahp.Confirms)
	case policy != ahp.ConfirmAsk:
		return p.Lacks(auth.ScopeApprove)
	}
	return ""
}

// settable returns an option's value in the agent's form, or why it can't be set.
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

func (s *session) optionValue(id string) any {
	if s.value.Config == nil {
		return nil
	}
	return s.value.Config.Values[id]
}

// setOption sets an option in the agents of the session's chats. If that fails, the value is set back.
func (s *session) setOption(id, value string, before any) {
	ss := s.all
	for _, c := range s.chats {
		a := c.agent
		if a == nil {
			continue
		}
		ss.work.Go(func() {
			ctx, cancel := context.WithTimeout(ss.ctx, ss.Limits.AgentGrace)
			defer cancel()
			if err := agent.Guarded(func() error { return a.SetOption(ctx, id, value) }); err != nil {
				ss.Core.Do(func(tx core.Tx) {
					if !c.Dead(tx) {
						ss.Log.Warn("set an agent's option", "session", s.ch.URI, "option", id, "err", err)
						s.apply(tx, ahp.SessionConfigChanged{Config: map[string]any{id: before}}, nil)
					}
				})
			}
		})
	}
}

// changeModel handles session/modelChanged of 0.5.
func changeModel(tx core.Tx, d *requests.Dispatch) string {
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
	before := s.optionValue(o.ID)
	s.apply(tx, a, d.By)
	s.apply(tx, ahp.SessionConfigChanged{Config: map[string]any{o.ID: value}}, nil)
	s.setOption(o.ID, value, before)
	return ""
}
