package endpoint

import (
	"context"
	"fmt"
	"strings"

	"tandemux/ahp"
)

// maxSessions bounds how many sessions are looked through.
const maxSessions = 10000

// Sessions are all of the host's, the last modified first.
func (s *Conn) Sessions(ctx context.Context) ([]ahp.SessionSummary, error) {
	var all []ahp.SessionSummary
	p := ahp.ListSessionsParams{Channel: ahp.RootURI}
	for len(all) < maxSessions {
		var page ahp.ListSessionsResult
		if err := s.Ask(ctx, ahp.MethodListSessions, p, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if p.Cursor = page.NextCursor; p.Cursor == "" {
			break
		}
	}
	return all, nil
}

// SessionNamed finds the session that an id means: the URI, its last part, a
// unique prefix of that, or a title.
func (s *Conn) SessionNamed(ctx context.Context, id string) (ahp.SessionSummary, error) {
	all, err := s.Sessions(ctx)
	if err != nil {
		return ahp.SessionSummary{}, err
	}
	found := matching(
		all,
		func(o ahp.SessionSummary) bool { return o.Resource == id },
		func(o ahp.SessionSummary) bool { return LastPart(o.Resource) == id },
		func(o ahp.SessionSummary) bool {
			return id != "" && strings.HasPrefix(LastPart(o.Resource), id)
		},
		func(o ahp.SessionSummary) bool { return id != "" && o.Title == id },
	)
	switch len(found) {
	case 0:
	case 1:
		return found[0], nil
	default:
		return ahp.SessionSummary{}, fmt.Errorf("%q could be any of several sessions; give more of the id", id)
	}
	return ahp.SessionSummary{}, ahp.NotFound("no session matches %q; `tandemux session ls` lists them", id)
}

// UseAgent has the host make an agent available and gives its name there.
func (s *Conn) UseAgent(ctx context.Context, name string, command []string) (string, error) {
	if name == "" && len(command) == 0 {
		return "", nil // the host's first
	}
	var got ahp.AgentResult
	err := s.Ask(ctx, ahp.MethodAgent, ahp.AgentParams{Channel: ahp.RootURI, Provider: name, Command: command}, &got)
	return got.Provider, err
}
