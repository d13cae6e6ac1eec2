package api

import (
	"net/http"

	"tandemux/host/task/registry"
	"tandemux/host/task/store"
)

const variableTag = "variables"

var variableRoutes = []Route{
	{
		Method: http.MethodGet, Path: "/agents/{agent}/environments/{environment}/variables", Name: "listVariables", Tag: variableTag,
		Summary: "List an environment's variables; secrets are masked.", Result: Page[registry.Variable]{}, Handle: listVariables,
	},
	{
		Method: http.MethodPut, Path: "/agents/{agent}/environments/{environment}/variables", Name: "setVariables", Tag: variableTag,
		Summary: "Add or replace variables of an environment, all or none.", Detail: "They reach tasks with the next deploy.",
		Body: NewVariables{}, BodyLimit: 8 << 20, Result: Page[registry.Variable]{}, Errors: []int{http.StatusRequestEntityTooLarge}, Handle: decoded(setVariables),
	},
	{
		Method: http.MethodGet, Path: "/agents/{agent}/environments/{environment}/variables/{name}", Name: "getVariable", Tag: variableTag,
		Summary: "Get a variable; a secret is masked.", Result: registry.Variable{}, Handle: getVariable,
	},
	{
		Method: http.MethodDelete, Path: "/agents/{agent}/environments/{environment}/variables/{name}", Name: "deleteVariable", Tag: variableTag,
		Summary: "Delete a variable.", Detail: "Versions that were deployed with it keep it.", Handle: deleteVariable,
	},
}

// NewVariables are variables that are to be set.
type NewVariables struct {
	Variables []NewVariable `json:"variables"`
}

// NewVariable is one of them.
type NewVariable struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Secret bool   `json:"secret,omitempty" doc:"Never shown again, and masked in logs"`
}

func listVariables(r *Request) (any, error) {
	all, err := r.Tasks.Agents.Variables(r.Context(), r.Who, r.Part("agent"), r.Part("environment"))
	return pageOf(all, "", err)
}

func setVariables(r *Request, in NewVariables) (any, error) {
	vars := make([]store.Variable, len(in.Variables))
	for i, v := range in.Variables {
		vars[i] = store.Variable{Name: v.Name, Value: v.Value, Secret: v.Secret}
	}
	if err := r.Tasks.Agents.SetVariables(r.Context(), r.Who, r.Part("agent"), r.Part("environment"), vars); err != nil {
		return nil, err
	}
	return listVariables(r)
}

func getVariable(r *Request) (any, error) {
	all, err := r.Tasks.Agents.Variables(r.Context(), r.Who, r.Part("agent"), r.Part("environment"))
	if err != nil {
		return nil, err
	}
	for _, v := range all {
		if v.Name == r.Part("name") {
			return v, nil
		}
	}
	return nil, Errorf(http.StatusNotFound, "the environment has no variable %q", clip(r.Part("name")))
}

func deleteVariable(r *Request) (any, error) {
	return nil, r.Tasks.Agents.DeleteVariable(r.Context(), r.Who, r.Part("agent"), r.Part("environment"), r.Part("name"))
}
