package api

import (
	"context"
	"net/http"
	"time"

	"tandemux/host/task/registry"
	"tandemux/host/task/store"
)

const agentTag = "agents"

var deployErrors = []int{http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusInsufficientStorage}

var agentRoutes = []Route{
	{
		Method: http.MethodGet, Path: "/agents", Name: "listAgents", Tag: agentTag, Summary: "List the agents that were deployed.",
		Params: []Param{limitParam, cursorParam}, Result: Page[store.Agent]{}, Handle: listAgents,
	},
	{
		Method: http.MethodPost, Path: "/agents/deploy", Name: "deployAgent", Tag: agentTag, Summary: "Deploy a definition without files.",
		Detail: "It makes a version and points the branch at it. A version that can't run is FAILED, and the branch stays where it is.",
		Params: []Param{idempotencyParam}, Body: NewDeploy{}, Result: store.Deployed{}, Status: http.StatusCreated, Errors: deployErrors, Handle: idempotent(decoded(deployAgent)),
	},
	{
		Method: http.MethodPost, Path: "/agents/deploy/files", Name: "deployAgentFiles", Tag: agentTag, Summary: "Deploy a directory with its tandemux-agent.toml.",
		Params: []Param{
			{Name: "branch", Doc: "main when absent"},
			{Name: "note"},
			{Name: "unchanged", Kind: "boolean", Doc: "Do nothing when the active version is the same"},
		},
		Body: Raw{"application/x-tar"}, BodyLimit: 2*registry.MaxCodeBytes + 16<<20, Result: store.Deployed{}, Status: http.StatusCreated, Errors: deployErrors, Handle: deployAgentFiles,
	},
	{
		Method: http.MethodGet, Path: "/agents/{agent}", Name: "getAgent", Tag: agentTag, Summary: "Get an agent, by id or name.",
		Result: store.Agent{}, Handle: getAgent,
	},
	{
		Method: http.MethodDelete, Path: "/agents/{agent}", Name: "deleteAgent", Tag: agentTag, Summary: "Delete an agent that no task is of, by id or name.",
		Errors: []int{http.StatusConflict}, Handle: deleteAgent,
	},
	{
		Method: http.MethodGet, Path: "/agents/{agent}/versions", Name: "listVersions", Tag: agentTag, Summary: "List an agent's versions, newest first.",
		Params: []Param{{Name: "branch", Doc: "Of this branch, by name"}, limitParam, cursorParam}, Result: Page[store.Version]{}, Handle: listVersions,
	},
	{
		Method: http.MethodGet, Path: "/versions/{version}", Name: "getVersion", Tag: agentTag, Summary: "Get a version, by id or as AGENT@NUMBER.",
		Result: store.Version{}, Handle: getVersion,
	},
	{
		Method: http.MethodGet, Path: "/agents/{agent}/logs", Name: "getLogs", Tag: agentTag, Summary: "Get lines of an agent's log, in the order in which they were written.",
		Detail: "The newest so many; with after those that follow that line. With wait, the answer comes when there is a line, or after that time without one.",
		Params: []Param{
			{Name: "task", Doc: "About this task, by id or name"},
			{Name: "version", Doc: "Of this version, by id or number"},
			{Name: "level", Enum: []string{"DEBUG", "INFO", "WARNING", "ERROR"}, Doc: "At least"},
			{Name: "source", Enum: []string{"agent", "hook", "task", "deploy"}},
			{Name: "since", Kind: timeKind, Doc: "A time, or how long ago, such as 10m"},
			{Name: "until", Kind: timeKind, Doc: "The same"},
			{Name: "after", Kind: "integer", Most: 1 << 62, Doc: "Behind the line of this id"},
			{Name: "wait", Kind: "integer", Most: logWait, Doc: "Seconds, up to 60"},
			limitParam,
		},
		Result: LogPage{}, Handle: getLogs,
	},
}

// NewDeploy is a definition that is to be deployed.
type NewDeploy struct {
	Definition registry.Definition `json:"definition"`
	Branch     string              `json:"branch,omitempty" doc:"main when absent"`
	Note       string              `json:"note,omitempty"`
	Unchanged  bool                `json:"unchanged,omitempty" doc:"Do nothing when the active version is the same"`
}

// LogPage is a part of a log.
type LogPage struct {
	Data []store.LogEntry `json:"data"`
	Last int64            `json:"last" doc:"What after goes on behind"`
}

// paged is the part of a list that a request wants.
func (r *Request) paged() store.Page {
	return store.Page{Limit: r.Limit(), Cursor: r.Text("cursor")}
}

// pageOf answers with a part of a list.
func pageOf[T any](all []T, next string, err error) (any, error) {
	if all == nil {
		all = []T{}
	}
	return Page[T]{all, next}, err
}

// deployed wakes the tasks that follow to a version.
func deployed(r *Request, got store.Deployed, err error) (any, error) {
	if err == nil && len(got.Moved) > 0 {
		r.Tasks.Changed(got.Moved...)
	}
	return got, err
}

func listAgents(r *Request) (any, error) {
	return pageOf(r.Tasks.Agents.Agents(r.Context(), r.Who, r.paged()))
}

func deployAgent(r *Request, in NewDeploy) (any, error) {
	got, err := r.Tasks.Agents.Deploy(r.Context(), r.Who, registry.Deploy{Definition: &in.Definition, Branch: in.Branch, Note: in.Note, Unchanged: in.Unchanged})
	return deployed(r, got, err)
}

func deployAgentFiles(r *Request) (any, error) {
	got, err := r.Tasks.Agents.Deploy(r.Context(), r.Who, registry.Deploy{Files: r.Stream(), Branch: r.Text("branch"), Note: r.Text("note"), Unchanged: r.Bool("unchanged")})
	return deployed(r, got, err)
}

func getAgent(r *Request) (any, error) {
	return r.Tasks.Agents.Agent(r.Context(), r.Who, r.Part("agent"))
}

func deleteAgent(r *Request) (any, error) {
	return nil, r.Tasks.Agents.DeleteAgent(r.Context(), r.Who, r.Part("agent"))
}

func listVersions(r *Request) (any, error) {
	return pageOf(r.Tasks.Agents.Versions(r.Context(), r.Who, r.Part("agent"), r.Text("branch"), r.paged()))
}

func getVersion(r *Request) (any, error) {
	return r.Tasks.Agents.Version(r.Context(), r.Who, r.Part("version"))
}

// logWait is the longest that somebody may wait for a line.
const logWait = 60

func getLogs(r *Request) (any, error) {
	f := store.LogFilter{
		Agent: r.Part("agent"), Task: r.Text("task"), Version: r.Text("version"), Source: r.Text("source"),
		Since: r.Time("since"), Until: r.Time("until"), After: r.Int("after", 0), Limit: r.Limit(),
	}
	var page LogPage
	var err error
	if level := r.Text("level"); level != "" {
		if f.Level, err = store.ParseLevel(level); err != nil {
			return nil, err
		}
	}
	if wait := r.Int("wait", 0); wait == 0 {
		page.Data, page.Last, err = r.Tasks.Agents.Logs(r.Context(), r.Who, f)
	} else {
		ctx, cancel := context.WithTimeout(r.Context(), time.Duration(wait)*time.Second)
		defer cancel()
		page.Data, page.Last, err = r.Tasks.Agents.AwaitLogs(ctx, r.Who, f)
	}
	if page.Data == nil {
		page.Data = []store.LogEntry{}
	}
	return page, err
}
