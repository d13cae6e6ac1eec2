package api

import (
	"encoding/json"
	"net/http"

	"tandemux/host/task/access"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
)

var stateRoutes = []Route{
	{
		Method: http.MethodPost, Path: "/states", Name: "createState", Tag: "states", Summary: "Create the state of a task and an agent.",
		Detail: "There is one for each task and agent; a second is a conflict.",
		Body:   NewState{}, BodyLimit: store.MaxState + 4<<10, Result: store.State{}, Status: http.StatusCreated,
		Errors: []int{http.StatusConflict, http.StatusRequestEntityTooLarge}, Handle: decoded(createState),
	},
	{
		Method: http.MethodGet, Path: "/states", Name: "listStates", Tag: "states", Summary: "List states.",
		Params: []Param{{Name: "task_id", Doc: "Of this task"}, {Name: "agent_id", Doc: "Of this agent"}, limitParam, cursorParam},
		Result: Page[store.State]{}, Handle: listStates,
	},
	{
		Method: http.MethodGet, Path: "/states/{state}", Name: "getState", Tag: "states", Summary: "Get a state.",
		Result: store.State{}, Handle: getState,
	},
	{
		Method: http.MethodPut, Path: "/states/{state}", Name: "updateState", Tag: "states", Summary: "Merge into a state, or replace it.",
		Detail: "Members of the object are merged into those that are there, objects in them too; null removes one. With replace the object becomes the whole state.",
		Body:   StateChange{}, BodyLimit: store.MaxState + 4<<10, Result: store.State{}, Errors: []int{http.StatusRequestEntityTooLarge}, Handle: decoded(updateState),
	},
	{
		Method: http.MethodDelete, Path: "/states/{state}", Name: "deleteState", Tag: "states", Summary: "Delete a state.",
		Handle: deleteState,
	},
}

// NewState is a state that is to be made (U12).
type NewState struct {
	TaskID  string          `json:"task_id"`
	AgentID string          `json:"agent_id,omitempty" doc:"The task's own agent when it is absent"`
	State   json.RawMessage `json:"state" doc:"An object"`
}

// StateChange is what is to become of a state (U14, U57).
type StateChange struct {
	State   json.RawMessage `json:"state" doc:"An object"`
	Replace bool            `json:"replace,omitempty" doc:"Replace the state instead of merging into it"`
}

func createState(r *Request, in NewState) (any, error) {
	t, err := r.Tasks.Find(r.Context(), r.Who, access.Report, in.TaskID)
	if err != nil {
		return nil, err
	}
	id := t.AgentID
	if in.AgentID != "" {
		a, err := r.Tasks.Store.Agent(r.Context(), in.AgentID)
		if err != nil {
			return nil, err
		}
		id = a.ID
	}
	return r.Tasks.Store.CreateState(r.Context(), t.ID, id, in.State)
}

func listStates(r *Request) (any, error) {
	id, own := "", r.Text("task_id")
	if own == "" && r.Who.Kind == access.TaskKind {
		own = r.Who.ID
	}
	if own != "" {
		t, err := r.Tasks.Find(r.Context(), r.Who, access.Read, own)
		if err != nil {
			return nil, err
		}
		id = t.ID
	}
	all, next, err := r.Tasks.Store.States(r.Context(), id, r.paged())
	if err != nil {
		return nil, err
	}
	of := ""
	if ref := r.Text("agent_id"); ref != "" {
		a, err := r.Tasks.Store.Agent(r.Context(), ref)
		if err != nil {
			return nil, err
		}
		of = a.ID
	}
	page := Page[store.State]{Data: []store.State{}, Next: next}
	seen := map[string]bool{}
	for _, v := range all {
		may, known := seen[v.TaskID]
		if !known {
			t, err := r.Tasks.Store.Task(r.Context(), v.TaskID)
			may = err == nil && access.MayTask(r.Who, access.Read, registry.ParentsOf(t)) == access.Allowed
			seen[v.TaskID] = may
		}
		if may && (of == "" || v.AgentID == of) {
			page.Data = append(page.Data, v)
		}
	}
	return page, nil
}

// state is the one of the path, for somebody who may do something with its task.
func (r *Request) state(verb access.Verb) (store.State, error) {
	v, err := r.Tasks.Store.StateByID(r.Context(), r.Part("state"))
	if err == nil {
		err = r.ofTask(v.TaskID, verb, "state", v.ID)
	}
	return v, err
}

func getState(r *Request) (any, error) { return r.state(access.Read) }

func updateState(r *Request, in StateChange) (any, error) {
	v, err := r.state(access.Report)
	if err != nil {
		return nil, err
	}
	if in.Replace {
		return r.Tasks.Store.ReplaceState(r.Context(), v.ID, in.State)
	}
	return r.Tasks.Store.MergeState(r.Context(), v.ID, in.State)
}

func deleteState(r *Request) (any, error) {
	v, err := r.state(access.Report)
	if err != nil {
		return nil, err
	}
	return nil, r.Tasks.Store.DeleteState(r.Context(), v.ID)
}
