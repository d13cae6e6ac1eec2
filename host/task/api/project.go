package api

import (
	"net/http"

	"tandemux/host/task/access"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
)

const projectTag = "projects"

var projectRoutes = []Route{
	{
		Method: http.MethodGet, Path: "/projects", Name: "listProjects", Tag: projectTag, Summary: "List the projects.",
		Params: []Param{limitParam, cursorParam}, Result: Page[store.Project]{}, Handle: listProjects,
	},
	{
		Method: http.MethodPost, Path: "/projects", Name: "createProject", Tag: projectTag, Summary: "Make a project.",
		Params: []Param{idempotencyParam}, Body: registry.ProjectChange{}, Result: store.Project{}, Status: http.StatusCreated,
		Errors: []int{http.StatusConflict}, Handle: idempotent(decoded(createProject)),
	},
	{
		Method: http.MethodGet, Path: "/projects/{project}", Name: "getProject", Tag: projectTag, Summary: "Get a project, by id or name.",
		Result: store.Project{}, Handle: getProject,
	},
	{
		Method: http.MethodPatch, Path: "/projects/{project}", Name: "updateProject", Tag: projectTag, Summary: "Change a project; absent members stay.",
		Body: registry.ProjectChange{}, Result: store.Project{}, Errors: []int{http.StatusConflict}, Handle: decoded(updateProject),
	},
	{
		Method: http.MethodDelete, Path: "/projects/{project}", Name: "deleteProject", Tag: projectTag, Summary: "Delete a project that is empty.",
		Errors: []int{http.StatusConflict}, Handle: deleteProject,
	},
}

func listProjects(r *Request) (any, error) {
	return pageOf(r.Tasks.Agents.Projects(r.Context(), r.Who, r.paged()))
}

func createProject(r *Request, in registry.ProjectChange) (any, error) {
	return r.Tasks.Agents.CreateProject(r.Context(), r.Who, in)
}

func getProject(r *Request) (any, error) {
	return r.Tasks.Agents.Project(r.Context(), r.Who, access.Discover, r.Part("project"))
}

func updateProject(r *Request, in registry.ProjectChange) (any, error) {
	return r.Tasks.Agents.UpdateProject(r.Context(), r.Who, r.Part("project"), in)
}

func deleteProject(r *Request) (any, error) {
	return nil, r.Tasks.Agents.DeleteProject(r.Context(), r.Who, r.Part("project"))
}
