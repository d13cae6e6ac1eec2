package api

import (
	"net/http"

	"tandemux/host/task/store"
)

const branchTag = "branches"

var branchRoutes = []Route{
	{
		Method: http.MethodGet, Path: "/agents/{agent}/branches", Name: "listBranches", Tag: branchTag, Summary: "List an agent's branches.",
		Params: []Param{limitParam, cursorParam}, Result: Page[store.Branch]{}, Handle: listBranches,
	},
	{
		Method: http.MethodGet, Path: "/agents/{agent}/branches/{name}", Name: "getBranchNamed", Tag: branchTag, Summary: "Get an agent's branch by its name.",
		Detail: "A slash in the name is %2F.", Result: store.Branch{}, Handle: getBranchNamed,
	},
	{
		Method: http.MethodPost, Path: "/agents/{agent}/branches/{name}/rollback", Name: "rollbackBranchNamed", Tag: branchTag, Summary: "Move an agent's branch to an earlier version.",
		Detail: "A slash in the name is %2F.", Body: NewRollback{}, Result: store.Deployed{}, Errors: []int{http.StatusConflict}, Handle: decoded(rollbackBranchNamed),
	},
	{
		Method: http.MethodGet, Path: "/agents/{agent}/environments", Name: "listEnvironments", Tag: branchTag, Summary: "List an agent's environments.",
		Result: Page[store.Environment]{}, Handle: listEnvironments,
	},
	{
		Method: http.MethodGet, Path: "/agents/{agent}/environments/{environment}/branches", Name: "listEnvironmentBranches", Tag: branchTag,
		Summary: "List an agent's branches of one environment.", Params: []Param{limitParam, cursorParam}, Result: Page[store.Branch]{}, Handle: listBranches,
	},
	{
		Method: http.MethodGet, Path: "/branches/{branch}", Name: "getBranch", Tag: branchTag, Summary: "Get a branch by its id.",
		Result: store.Branch{}, Handle: getBranch,
	},
	{
		Method: http.MethodGet, Path: "/branches/{branch}/events", Name: "listBranchEvents", Tag: branchTag, Summary: "List what happened to a branch, newest first.",
		Params: []Param{limitParam, cursorParam}, Result: Page[store.BranchEvent]{}, Handle: listBranchEvents,
	},
	{
		Method: http.MethodGet, Path: "/branches/{branch}/versions", Name: "listBranchVersions", Tag: branchTag, Summary: "List a branch's versions, newest first.",
		Params: []Param{limitParam, cursorParam}, Result: Page[store.Version]{}, Handle: listBranchVersions,
	},
	{
		Method: http.MethodPost, Path: "/branches/{branch}/redeploy", Name: "redeployBranch", Tag: branchTag, Summary: "Deploy a branch's active version again.",
		Detail: "The new version has the variables as they are now.", Body: NewRedeploy{}, Result: store.Deployed{}, Status: http.StatusCreated,
		Errors: []int{http.StatusConflict}, Handle: decoded(redeployBranch),
	},
	{
		Method: http.MethodPost, Path: "/branches/{branch}/rollback", Name: "rollbackBranch", Tag: branchTag, Summary: "Move a branch to an earlier version.",
		Detail: "It runs with the variables that it was deployed with; those that were set since stay as they are, for the next deploy.",
		Body:   NewRollback{}, Result: store.Deployed{}, Errors: []int{http.StatusConflict}, Handle: decoded(rollbackBranch),
	},
}

// NewRollback is a rollback that is wanted.
type NewRollback struct {
	Version string `json:"version,omitempty" doc:"Id or number; the one before the active one when absent"`
	Note    string `json:"note,omitempty"`
}

// NewRedeploy is a redeploy that is wanted.
type NewRedeploy struct {
	Note string `json:"note,omitempty"`
}

func listBranches(r *Request) (any, error) {
	return pageOf(r.Tasks.Agents.Branches(r.Context(), r.Who, r.Part("agent"), r.path["environment"], r.paged()))
}

func getBranchNamed(r *Request) (any, error) {
	return r.Tasks.Agents.BranchNamed(r.Context(), r.Who, r.Part("agent"), r.Part("name"))
}

func rollbackBranchNamed(r *Request, in NewRollback) (any, error) {
	b, err := r.Tasks.Agents.BranchNamed(r.Context(), r.Who, r.Part("agent"), r.Part("name"))
	if err != nil {
		return nil, err
	}
	got, err := r.Tasks.Agents.Rollback(r.Context(), r.Who, b.ID, in.Version, in.Note)
	return deployed(r, got, err)
}

func rollbackBranch(r *Request, in NewRollback) (any, error) {
	got, err := r.Tasks.Agents.Rollback(r.Context(), r.Who, r.Part("branch"), in.Version, in.Note)
	return deployed(r, got, err)
}

func listEnvironments(r *Request) (any, error) {
	all, err := r.Tasks.Agents.Environments(r.Context(), r.Who, r.Part("agent"))
	return pageOf(all, "", err)
}

func getBranch(r *Request) (any, error) {
	return r.Tasks.Agents.Branch(r.Context(), r.Who, r.Part("branch"))
}

func listBranchEvents(r *Request) (any, error) {
	return pageOf(r.Tasks.Agents.BranchEvents(r.Context(), r.Who, r.Part("branch"), r.paged()))
}

func listBranchVersions(r *Request) (any, error) {
	return pageOf(r.Tasks.Agents.BranchVersions(r.Context(), r.Who, r.Part("branch"), r.paged()))
}

func redeployBranch(r *Request, in NewRedeploy) (any, error) {
	got, err := r.Tasks.Agents.Redeploy(r.Context(), r.Who, r.Part("branch"), in.Note)
	return deployed(r, got, err)
}
