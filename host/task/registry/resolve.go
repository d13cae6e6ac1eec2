package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

// Wanted says of which agent a task is to be.
type Wanted struct {
	Agent string // id or name
	// Branch must be deployed. If it is "", Hint is used if it is deployed, else main (U29).
	Branch, Hint string
}

// Resolved is the version that a task gets (U40).
type Resolved struct {
	Agent   store.Agent
	Branch  store.Branch
	Version store.Version
}

// Resolve returns the version for a new task, if who may run the agent (U83). An agent of the
// configuration is deployed first if that has changed.
func (r *Registry) Resolve(ctx context.Context, who access.Principal, w Wanted) (got Resolved, err error) {
	got.Agent, err = r.store.Agents.Find(ctx, w.Agent)
	if err == nil || errors.Is(err, store.NotFound) {
		err = r.adopt(ctx, w.Agent, &got.Agent, err)
	}
	if err == nil {
		err = Refuse(access.May(who, access.Run, access.Agent, got.Agent.ID), access.Run, "agent", w.Agent)
	}
	if err != nil {
		return got, err
	}
	for _, name := range []string{w.Branch, w.Hint, MainBranch} {
		if name == "" {
			continue
		}
		got.Branch, err = r.store.BranchNamed(ctx, got.Agent.ID, name)
		if err == nil && got.Branch.ActiveID == "" {
			err = store.Errorf(store.Stale, "no deploy of %s on the branch %q was ever ready: %s", got.Agent.Name, name, got.Branch.Reason)
		}
		if err == nil || name == w.Branch {
			break
		}
	}
	if err != nil {
		return got, r.elsewhere(ctx, got.Agent, err)
	}
	got.Version, err = r.store.Versions.Get(ctx, got.Branch.ActiveID)
	return got, err
}

// elsewhere adds the names of branches to an error about a branch that does not exist.
func (r *Registry) elsewhere(ctx context.Context, a store.Agent, err error) error {
	if !errors.Is(err, store.NotFound) {
		return err
	}
	branches, _, berr := r.store.Branches.List(ctx, store.Where{"agent": a.ID}, store.Page{Limit: 5})
	if berr != nil || len(branches) == 0 {
		return err
	}
	var names []string
	for _, b := range branches {
		names = append(names, b.Name)
	}
	return store.Errorf(store.NotFound, "%w; %s was deployed on %s", err, a.Name, strings.Join(names, ", "))
}

// adopt deploys an agent of the configuration that was never deployed, or differs from what was
// deployed.
func (r *Registry) adopt(ctx context.Context, ref string, a *store.Agent, missing error) error {
	name := ref
	if missing == nil {
		name = a.Name
		main, err := r.store.BranchNamed(ctx, a.ID, MainBranch)
		if err != nil || main.ActiveID == "" {
			return nil //nolint:nilerr // it was deployed in another way
		}
		if v, err := r.store.Versions.Get(ctx, main.ActiveID); err != nil || v.Author != configured {
			return err
		}
	}
	def, err := r.o.Configured(name)
	switch {
	case err != nil && missing == nil:
		return nil //nolint:nilerr // the deployed version is used
	case err != nil:
		return store.Errorf(store.NotFound, "%w", err)
	}
	def.Name = name
	if err := def.Check(); err != nil {
		return err
	}
	got, err := r.deploy(ctx, access.TheOperator(), Deploy{Definition: &def, Unchanged: true}, "", configured)
	if errors.Is(err, store.Exists) { // somebody else has just done the same
		got.Agent, err = r.store.Agents.Find(ctx, name)
	}
	if err == nil && got.Version.Status == store.Failed && missing != nil {
		err = store.Errorf(store.Invalid, "the agent %s of the configuration can't run: %s", name, got.Version.Reason)
	}
	*a = got.Agent
	return err
}

// AdHoc deploys a command line that speaks ACP. Only the operator may.
func (r *Registry) AdHoc(ctx context.Context, who access.Principal, argv []string, confirm string) (Resolved, error) {
	if err := operate(who, "run commands that are no agent's"); err != nil {
		return Resolved{}, err
	}
	if len(argv) == 0 {
		return Resolved{}, store.Errorf(store.Invalid, "the command is empty")
	}
	def := Definition{Name: adHocName(argv), Description: "started by its command", Command: argv, Confirm: confirm}
	if err := def.Check(); err != nil {
		return Resolved{}, err
	}
	for range 2 {
		got, err := r.deploy(ctx, who, Deploy{Definition: &def, Unchanged: true}, "", who.String())
		switch {
		case errors.Is(err, store.Exists):
			continue
		case err == nil && got.Version.Status == store.Failed:
			err = store.Errorf(store.Invalid, "%s", got.Version.Reason)
		}
		return Resolved{got.Agent, got.Branch, got.Version}, err
	}
	return Resolved{}, store.Errorf(store.Busy, "the agent %s is being made", def.Name)
}

// adHocName returns the name of a command line's agent, always the same.
func adHocName(argv []string) string {
	text, _ := json.Marshal(argv) // texts can always be encoded
	sum := sha256.Sum256(text)
	base := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_':
			return c
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		}
		return '-'
	}, filepath.Base(argv[0]))
	if len(base) > access.MaxName-12 {
		base = base[:access.MaxName-12]
	}
	return "cmd-" + base + "-" + hex.EncodeToString(sum[:3])
}
