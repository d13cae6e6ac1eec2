package api

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/host/auth"
	"tandemux/host/front"
	"tandemux/host/task"
	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

// keyCaller begins the principal of who has an API key.
const keyCaller = "key:"

// Door is the interface on the host's listeners.
func (a *API) Door() front.Door {
	return front.Door{
		Prefix: Prefix + "/", Inside: true, Identify: a.identify, Refuse: Refuse,
		Serve: func(w http.ResponseWriter, r *http.Request, c front.Caller) {
			who, ended, err := a.callerOf(c)
			if err != nil {
				Refuse(w, http.StatusUnauthorized, err.Error())
				return
			}
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			if ended != nil {
				go func() {
					select {
					case <-ended:
						cancel()
					case <-ctx.Done():
					}
				}()
			}
			a.serve(w, r.WithContext(ctx), who)
		},
	}
}

// identify says whose an API key is. A host that has no tasks has no keys.
func (a *API) identify(secret string) string {
	if !strings.Contains(secret, "_sk_") { // keys of the program's former name count too
		return ""
	}
	if _, err := os.Stat(filepath.Join(a.State, store.File)); err != nil {
		return ""
	}
	s, err := a.Open()
	if err != nil {
		a.Log.Error("look up an API key", "err", err)
		return ""
	}
	id, ok := s.Agents.Authenticate(secret)
	if !ok {
		return ""
	}
	return keyCaller + id
}

// callerOf is who asks, in the tasks' words; ended is closed when that is over.
func (a *API) callerOf(c front.Caller) (who access.Principal, ended <-chan struct{}, err error) {
	switch id, isKey := strings.CutPrefix(c.Principal, keyCaller); {
	case c.Sandbox != "":
		return access.Principal{Kind: access.TaskKind, ID: task.TaskOf(c.Sandbox)}, nil, nil
	case isKey:
		s, err := a.Open()
		if err != nil {
			return who, nil, err
		}
		who, ended, ok := s.Agents.Principal(id)
		if !ok {
			return who, nil, errors.New("the API key was revoked")
		}
		return who, ended, nil
	case c.Operates:
		who = access.TheOperator()
		who.NeverYes, who.Person = c.Unproved, c.Person
		return who, nil, nil
	case len(c.Scopes) == 0:
		return who, nil, errors.New("the token is for one terminal, and for nothing else")
	}
	return access.Principal{Kind: access.Key, ID: strings.ReplaceAll(c.Principal, ":", "-"), Scopes: scopesOf(c.Scopes), Person: c.Person, NeverYes: c.Unproved || !slices.Contains(c.Scopes, auth.ScopeApprove)}, nil, nil
}

// scopesOf is what a token of the host's may do with tasks: who may drive sessions
// runs all agents and changes all projects, who may look at terminals looks at both.
func scopesOf(scopes []string) []access.Scope {
	switch {
	case slices.Contains(scopes, auth.ScopeSession):
		return []access.Scope{{Kind: access.Agent, ID: access.All, Role: access.Executor}, {Kind: access.Project, ID: access.All, Role: access.Editor}}
	case slices.Contains(scopes, auth.ScopeRead):
		return []access.Scope{{Kind: access.Agent, ID: access.All, Role: access.Viewer}, {Kind: access.Project, ID: access.All, Role: access.Viewer}}
	}
	return nil
}
