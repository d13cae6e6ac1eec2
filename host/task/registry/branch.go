package registry

import (
	"context"
	"strconv"
	"strings"

	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

// The environments (U28), and the branch that belongs to production.
const (
	Production = "production"
	Preview    = "preview"
	MainBranch = "main"
)

// EnvironmentOf returns the environment of a branch.
func EnvironmentOf(branch string) string {
	if branch == MainBranch {
		return Production
	}
	return Preview
}

// ParseEnvironment parses an environment's name or a prefix of three or more letters, such as prod.
func ParseEnvironment(s string) (string, error) {
	for _, env := range []string{Production, Preview} {
		if len(s) >= 3 && strings.HasPrefix(env, s) {
			return env, nil
		}
	}
	return "", store.Errorf(store.Invalid, "the environment is %s or %s, not %.40q", Production, Preview, s)
}

// CheckBranch returns an error unless git would accept the name of a branch and it has at most 200
// bytes.
func CheckBranch(name string) error {
	bad := name == "" || len(name) > 200 || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") ||
		strings.HasSuffix(name, ".lock") || strings.Contains(name, "..") || strings.Contains(name, "//") || strings.Contains(name, "@{") ||
		strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == 0x7f || strings.ContainsRune(`~^:?*[\`, c) })
	if bad {
		return store.Errorf(store.Invalid, "%.60q is no name of a branch", name)
	}
	return nil
}

// Agent returns an agent that who may see.
func (r *Registry) Agent(ctx context.Context, who access.Principal, ref string) (store.Agent, error) {
	return r.agent(ctx, who, access.Discover, ref)
}

func (r *Registry) agent(ctx context.Context, who access.Principal, verb access.Verb, ref string) (store.Agent, error) {
	a, err := r.store.Agents.Find(ctx, ref)
	return a, may(err, who, verb, access.Agent, a.ID, "agent", ref)
}

// Agents lists the agents that who may see.
func (r *Registry) Agents(ctx context.Context, who access.Principal, p store.Page) ([]store.Agent, string, error) {
	all, next, err := r.store.Agents.List(ctx, nil, p)
	return seen(who, access.Agent, all, func(a store.Agent) string { return a.ID }), next, err
}

// DeleteAgent removes an agent that no task uses, and the files that no version has any more.
func (r *Registry) DeleteAgent(ctx context.Context, who access.Principal, ref string) error {
	a, err := r.agent(ctx, who, access.Delete, ref)
	if err == nil {
		err = r.store.DeleteAgent(ctx, a.ID)
	}
	if err == nil {
		r.sweep(ctx)
	}
	return err
}

func (r *Registry) Branch(ctx context.Context, who access.Principal, id string) (store.Branch, error) {
	return r.branch(ctx, who, access.Read, id)
}

func (r *Registry) branch(ctx context.Context, who access.Principal, verb access.Verb, id string) (store.Branch, error) {
	b, err := r.store.Branches.Get(ctx, id)
	return b, may(err, who, verb, access.Agent, b.AgentID, "branch", id)
}

// BranchNamed returns the branch of an agent with the name.
func (r *Registry) BranchNamed(ctx context.Context, who access.Principal, agent, name string) (store.Branch, error) {
	a, err := r.agent(ctx, who, access.Read, agent)
	if err != nil {
		return store.Branch{}, err
	}
	return r.store.BranchNamed(ctx, a.ID, name)
}

// Branches lists the branches of an agent, in one environment or all (U26).
func (r *Registry) Branches(ctx context.Context, who access.Principal, agent, environment string, p store.Page) ([]store.Branch, string, error) {
	a, err := r.agent(ctx, who, access.Read, agent)
	if err != nil {
		return nil, "", err
	}
	if environment != "" {
		if environment, err = ParseEnvironment(environment); err != nil {
			return nil, "", err
		}
	}
	return r.store.Branches.List(ctx, store.Where{"agent": a.ID, "environment": environment}, p)
}

// BranchEvents lists the changes of a branch, newest first.
func (r *Registry) BranchEvents(ctx context.Context, who access.Principal, id string, p store.Page) ([]store.BranchEvent, string, error) {
	b, err := r.branch(ctx, who, access.Read, id)
	if err != nil {
		return nil, "", err
	}
	return r.store.BranchEvents.List(ctx, store.Where{"branch": b.ID}, p)
}

// Versions lists the versions of an agent, or of one of its branches, newest first (U26, U27).
func (r *Registry) Versions(ctx context.Context, who access.Principal, agent, branch string, p store.Page) ([]store.Version, string, error) {
	a, err := r.agent(ctx, who, access.Read, agent)
	if err != nil {
		return nil, "", err
	}
	if branch != "" {
		b, err := r.store.BranchNamed(ctx, a.ID, branch)
		if err != nil {
			return nil, "", err
		}
		branch = b.ID
	}
	return r.store.Versions.List(ctx, store.Where{"agent": a.ID, "branch": branch}, p)
}

// BranchVersions lists the versions of a branch, newest first.
func (r *Registry) BranchVersions(ctx context.Context, who access.Principal, id string, p store.Page) ([]store.Version, string, error) {
	b, err := r.branch(ctx, who, access.Read, id)
	if err != nil {
		return nil, "", err
	}
	return r.store.Versions.List(ctx, store.Where{"agent": b.AgentID, "branch": b.ID}, p)
}

// Version returns a version by its id, or as AGENT@NUMBER.
func (r *Registry) Version(ctx context.Context, who access.Principal, ref string) (store.Version, error) {
	if agent, number, ok := strings.Cut(ref, "@"); ok {
		return r.versionOf(ctx, who, agent, number)
	}
	v, err := r.store.Versions.Get(ctx, ref)
	return v, may(err, who, access.Read, access.Agent, v.AgentID, "version", ref)
}

// versionOf returns a version of an agent by its id or number.
func (r *Registry) versionOf(ctx context.Context, who access.Principal, agent, ref string) (store.Version, error) {
	a, err := r.agent(ctx, who, access.Read, agent)
	if err != nil {
		return store.Version{}, err
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(ref, "v")); err == nil {
		return r.store.VersionNumbered(ctx, a.ID, n)
	}
	v, err := r.store.Versions.Get(ctx, ref)
	if err == nil && v.AgentID != a.ID {
		err = store.Errorf(store.NotFound, "the agent %s has no version %.60q", a.Name, ref)
	}
	return v, err
}

func (r *Registry) Environments(ctx context.Context, who access.Principal, agent string) ([]store.Environment, error) {
	a, err := r.agent(ctx, who, access.Read, agent)
	if err != nil {
		return nil, err
	}
	return r.store.Environments(ctx, a.ID)
}
