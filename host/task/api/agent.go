package api

import (
	"context"
	"net/http"
	"time"

	"tandemux/host/task/access"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
)

type level = store.Level

const slash = "\nA slash in the name is %2F."

var agentRoutes = []Route{
	on("GET /agents", "listAgents", "List the agents that were deployed.", list((*reg).Agents)),
	on("POST /agents/deploy", "deployAgent", `Deploy a definition without files.
It makes a version and points the branch at it. A version that can't run is FAILED, and the branch stays where it is.`, func(r *Request, in NewDeploy) (store.Deployed, error) {
		return r.deploy(registry.Deploy{Definition: &in.Definition, Branch: in.Branch, Note: in.Note, Unchanged: in.Unchanged})
	}).creates().once(),
	on("POST /agents/deploy/files", "deployAgentFiles", "Deploy a directory with its tandemux-agent.toml.", func(r *Request, in DeployOptions) (store.Deployed, error) {
		return r.deploy(registry.Deploy{Files: r.stream(), Branch: in.Branch, Note: in.Note, Unchanged: in.Unchanged})
	}).creates().of("application/x-tar", 2*registry.MaxCodeBytes+16<<20),
	on("GET /agents/{agent}", "getAgent", "Get an agent, by id or name.", one((*reg).Agent)),
	on("DELETE /agents/{agent}", "deleteAgent", "Delete an agent that no task is of, by id or name.", gone((*reg).DeleteAgent)),
	on("GET /agents/{agent}/versions", "listVersions", "List an agent's versions, newest first.", func(r *Request, in VersionQuery) (Page[store.Version], error) {
		return paged(r.Tasks.Agents.Versions(r.Context(), r.Who, r.ref(), in.Branch, in.page()))
	}),
	on("GET /versions/{version}", "getVersion", "Get a version, by id or as AGENT@NUMBER.", one((*reg).Version)),
	on("GET /agents/{agent}/logs", "getLogs", `Get lines of an agent's log, in the order in which they were written.
The newest so many; with after those that follow that line. With wait, the answer comes when there is a line, or after that time without one.`, getLogs),
	on("GET /agents/{agent}/branches", "listBranches", "List an agent's branches.", listBranches),
	on("GET /agents/{agent}/branches/{name}", "getBranchNamed", "Get an agent's branch by its name."+slash, func(r *Request, _ none) (store.Branch, error) {
		return r.branchNamed()
	}),
	on("POST /agents/{agent}/branches/{name}/rollback", "rollbackBranchNamed", "Move an agent's branch to an earlier version."+slash, func(r *Request, in NewRollback) (store.Deployed, error) {
		b, err := r.branchNamed()
		if err != nil {
			return store.Deployed{}, err
		}
		return r.moved(r.Tasks.Agents.Rollback(r.Context(), r.Who, b.ID, in.Version, in.Note))
	}),
	on("GET /agents/{agent}/environments", "listEnvironments", "List an agent's environments.", func(r *Request, _ none) (Page[store.Environment], error) {
		all, err := r.Tasks.Agents.Environments(r.Context(), r.Who, r.ref())
		return paged(all, "", err)
	}),
	on("GET /agents/{agent}/environments/{environment}/branches", "listEnvironmentBranches", "List an agent's branches of one environment.", listBranches),
	on("GET /branches/{branch}", "getBranch", "Get a branch by its id.", one((*reg).Branch)),
	on("GET /branches/{branch}/events", "listBranchEvents", "List what happened to a branch, newest first.", listOf((*reg).BranchEvents)),
	on("GET /branches/{branch}/versions", "listBranchVersions", "List a branch's versions, newest first.", listOf((*reg).BranchVersions)),
	on("POST /branches/{branch}/redeploy", "redeployBranch", `Deploy a branch's active version again.
The new version has the variables as they are now.`, func(r *Request, in NewRedeploy) (store.Deployed, error) {
		return r.moved(r.Tasks.Agents.Redeploy(r.Context(), r.Who, r.ref(), in.Note))
	}).creates(),
	on("POST /branches/{branch}/rollback", "rollbackBranch", `Move a branch to an earlier version.
It runs with the variables that it was deployed with; those that were set since stay as they are, for the next deploy.`, func(r *Request, in NewRollback) (store.Deployed, error) {
		return r.moved(r.Tasks.Agents.Rollback(r.Context(), r.Who, r.ref(), in.Version, in.Note))
	}),
	on("GET /agents/{agent}/environments/{environment}/variables", "listVariables", "List an environment's variables; secrets are masked.",
		func(r *Request, _ none) (Page[registry.Variable], error) { return r.variables() }),
	on("PUT /agents/{agent}/environments/{environment}/variables", "setVariables", `Add or replace variables of an environment, all or none.
They reach tasks with the next deploy.`, func(r *Request, in NewVariables) (Page[registry.Variable], error) {
		if err := r.Tasks.Agents.SetVariables(r.Context(), r.Who, r.ref(), r.PathValue("environment"), in.Variables); err != nil {
			return Page[registry.Variable]{}, err
		}
		return r.variables()
	}).upTo(8 << 20),
	on("GET /agents/{agent}/environments/{environment}/variables/{name}", "getVariable", "Get a variable; a secret is masked.", func(r *Request, _ none) (registry.Variable, error) {
		all, err := r.variables()
		for _, v := range all.Data {
			if v.Name == r.PathValue("name") {
				return v, nil
			}
		}
		if err == nil {
			err = Errorf(http.StatusNotFound, "the environment has no variable %q", clip(r.PathValue("name")))
		}
		return registry.Variable{}, err
	}),
	on("DELETE /agents/{agent}/environments/{environment}/variables/{name}", "deleteVariable", `Delete a variable.
Versions that were deployed with it keep it.`, func(r *Request, _ none) (none, error) {
		return none{}, r.Tasks.Agents.DeleteVariable(r.Context(), r.Who, r.ref(), r.PathValue("environment"), r.PathValue("name"))
	}),
}

// DeployOptions says how to deploy a directory.
type DeployOptions struct {
	Branch    string `json:"branch,omitempty" doc:"main when absent"`
	Note      string `json:"note,omitempty"`
	Unchanged bool   `json:"unchanged,omitempty" doc:"Do nothing when the active version is the same"`
}

// NewDeploy is a definition to deploy.
type NewDeploy struct {
	Definition registry.Definition `json:"definition"`
	DeployOptions
}

// VersionQuery selects versions.
type VersionQuery struct {
	Branch string `json:"branch,omitempty" doc:"Of this branch, by name"`
	Paging
}

// LogQuery selects lines of a log.
type LogQuery struct {
	Task    string `json:"task,omitempty" flag:"task,t" doc:"About this task, by id or name"`
	Version string `json:"version,omitempty" flag:"version" doc:"Of this version, by id or number"`
	Level   level  `json:"level,omitzero" flag:"level" enum:"DEBUG,INFO,WARNING,ERROR" doc:"At least DEBUG, INFO, WARNING or ERROR"`
	Source  string `json:"source,omitempty" flag:"source" enum:"agent,hook,task,deploy" doc:"Agent, hook, task or deploy"`
	Since   When   `json:"since,omitzero" doc:"A time, or how long ago, such as 10m"`
	Until   When   `json:"until,omitzero" doc:"The same"`
	After   int64  `json:"after,omitempty" range:"0,4611686018427387904" doc:"Behind the line of this id"`
	Wait    int    `json:"wait,omitempty" range:"0,60" doc:"Seconds, up to 60"`
	Limit   int    `json:"limit,omitempty" flag:"limit,n" range:"1,1000" doc:"How many at most, 1 to 1000; 100 by default"`
}

// LogPage has lines of a log.
type LogPage struct {
	Data []store.LogEntry `json:"data"`
	Last int64            `json:"last" doc:"What after goes on behind"`
}

// NewRollback says which version to go back to.
type NewRollback struct {
	Version string `json:"version,omitempty" flag:"version" doc:"Id or number; the one before the active one when absent"`
	Note    string `json:"note,omitempty"`
}

type NewRedeploy struct {
	Note string `json:"note,omitempty"`
}

// NewVariables has the variables to set.
type NewVariables struct {
	Variables []store.Variable `json:"variables"`
}

func (r *Request) deploy(d registry.Deploy) (store.Deployed, error) {
	return r.moved(r.Tasks.Agents.Deploy(r.Context(), r.Who, d))
}

// moved wakes the tasks that go on with a new version.
func (r *Request) moved(got store.Deployed, err error) (store.Deployed, error) {
	if err == nil && len(got.Moved) > 0 {
		r.Tasks.Changed(got.Moved...)
	}
	return got, err
}

func (r *Request) branchNamed() (store.Branch, error) {
	return r.Tasks.Agents.BranchNamed(r.Context(), r.Who, r.ref(), r.PathValue("name"))
}

func listBranches(r *Request, in Paging) (Page[store.Branch], error) {
	return paged(r.Tasks.Agents.Branches(r.Context(), r.Who, r.ref(), r.PathValue("environment"), in.page()))
}

func (r *Request) variables() (Page[registry.Variable], error) {
	all, err := r.Tasks.Agents.Variables(r.Context(), r.Who, r.ref(), r.PathValue("environment"))
	return paged(all, "", err)
}

func getLogs(r *Request, in LogQuery) (page LogPage, err error) {
	get, ctx := r.Tasks.Agents.Logs, r.Context()
	if in.Wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(in.Wait)*time.Second)
		defer cancel()
		get = r.Tasks.Agents.AwaitLogs
	}
	page.Data, page.Last, err = get(ctx, r.Who, store.LogFilter{
		Agent: r.ref(), Task: in.Task, Version: in.Version, Level: in.Level, Source: in.Source,
		Since: in.Since.Time, Until: in.Until.Time, After: in.After, Limit: Paging{Limit: in.Limit}.page().Limit,
	})
	if page.Data == nil {
		page.Data = []store.LogEntry{}
	}
	return page, err
}

// accessRoutes are the routes about API keys and projects.
var accessRoutes = []Route{
	on("GET /api_keys", "listKeys", "List the API keys, revoked ones too, without their secrets.", list((*reg).Keys)),
	// This is not a once() route: the stored answer would contain the secret.
	on("POST /api_keys", "createKey", "Make an API key; its secret is in this answer and nowhere else.", func(r *Request, in registry.NewKey) (registry.MadeKey, error) {
		r.W.Header().Set("Cache-Control", "no-store")
		return r.Tasks.Agents.CreateKey(r.Context(), r.Who, in)
	}).creates(),
	on("GET /api_keys/{key}", "getKey", "Get an API key, by id or name.", one((*reg).Key)),
	on("PATCH /api_keys/{key}", "setKeyScopes", "Replace an API key's scopes.\nStreams that were opened with it end.", func(r *Request, in KeyChange) (store.APIKey, error) {
		return r.Tasks.Agents.SetScopes(r.Context(), r.Who, r.ref(), in.Scopes)
	}),
	on("DELETE /api_keys/{key}", "revokeKey", `Revoke an API key, at once.
It authenticates nobody any more, its scopes are gone, and streams that were opened with it end.`, one((*reg).RevokeKey)),
	on("GET /projects", "listProjects", "List the projects.", list((*reg).Projects)),
	on("POST /projects", "createProject", "Make a project.", func(r *Request, in registry.ProjectChange) (store.Project, error) {
		return r.Tasks.Agents.CreateProject(r.Context(), r.Who, in)
	}).creates().once(),
	on("GET /projects/{project}", "getProject", "Get a project, by id or name.", func(r *Request, _ none) (store.Project, error) {
		return r.Tasks.Agents.Project(r.Context(), r.Who, access.Discover, r.ref())
	}),
	on("PATCH /projects/{project}", "updateProject", "Change a project; absent members stay.", func(r *Request, in registry.ProjectChange) (store.Project, error) {
		return r.Tasks.Agents.UpdateProject(r.Context(), r.Who, r.ref(), in)
	}),
	on("DELETE /projects/{project}", "deleteProject", "Delete a project that is empty.", gone((*reg).DeleteProject)),
}

// KeyChange has the new scopes of a key.
type KeyChange struct {
	Scopes []access.Scope `json:"scopes"`
}
