package main

import (
	"context"
	"fmt"

	"tandemux/ahp"
	"tandemux/internal/endpoint"
	"tandemux/ui/link"
)

func (h hostAdapter) Sessions(ctx context.Context) ([]ahp.SessionSummary, error) {
	return (&endpoint.Conn{Client: h.Client, At: h.place}).Sessions(ctx)
}

// CreateSession implements link.Host: an agent that the host did not have when it
// started is made known to it first.
func (h hostAdapter) CreateSession(ctx context.Context, p ahp.CreateSessionParams) error {
	s := &endpoint.Conn{Client: h.Client, At: h.place}
	name, err := s.UseAgent(ctx, p.Provider, nil)
	if err != nil {
		return err
	}
	p.Provider = name
	return h.Call(ctx, ahp.MethodCreateSession, p, nil)
}

// Agents implements link.Host: those of the configuration and those that tandemux
// knows, and what the host has besides.
func (h hostAdapter) Agents(context.Context) ([]link.Agent, error) {
	if h.place.Elsewhere() {
		return h.hostAgents(nil), nil
	}
	set, err := loadSettings(h.place.Dirs)
	if err != nil {
		return nil, err
	}
	var agents []link.Agent
	have := map[string]bool{}
	for _, r := range set.catalog.Rows() {
		a := link.Agent{Name: r.Name, Title: r.Title}
		if !r.Found {
			a.Why = "not installed"
			if r.Configured && len(r.Command) > 0 {
				a.Why = fmt.Sprintf("there is no program %q", r.Command[0])
			}
		}
		have[r.Name] = true
		agents = append(agents, a)
	}
	return append(h.hostAgents(have), agents...), nil
}

// hostAgents are those of the running host, as the root says, that are not known
// otherwise.
func (h hostAdapter) hostAgents(known map[string]bool) []link.Agent {
	var agents []link.Agent
	if h.root == nil {
		return nil
	}
	for _, a := range h.root() {
		if !known[a.Provider] {
			agents = append(agents, link.Agent{Name: a.Provider, Title: a.DisplayName})
		}
	}
	return agents
}
