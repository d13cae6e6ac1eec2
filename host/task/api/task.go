package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"tandemux/host/task"
	"tandemux/host/task/access"
	"tandemux/host/task/budget"
	"tandemux/host/task/question"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
)

// contentLimit and stateLimit bound bodies, in bytes.
const (
	contentLimit = store.MaxContent + 4<<10
	stateLimit   = store.MaxState + 4<<10
)

var taskRoutes = []Route{
	on("GET /tasks", "listTasks", "List tasks, newest first.", listTasks),
	on("POST /tasks", "createTask", `Create a task.
Takes no message: send an event afterwards. The answer comes when the workspace is made; the agent is started then, and the task is CREATING until it is ready.`, func(r *Request, in task.NewTask) (store.Task, error) {
		return r.Tasks.Create(r.Context(), r.Who, in)
	}).creates().once(),
	on("POST /tasks/migrate", "migrateTasks", `Move tasks to another version of their branch.
Either all of a version or those named, either to a version or to the active one. A task that runs goes on with its version until its event has ended.`,
		func(r *Request, in registry.Migration) (registry.Migrated, error) {
			got, err := r.Tasks.Agents.Migrate(r.Context(), r.Who, in)
			if err == nil {
				r.Tasks.Changed(got.Moved...)
			}
			return got, err
		}),
	on("GET /tasks/{task}", "getTask", "Get a task, by id or name.", func(r *Request, _ none) (task.Present, error) {
		t, err := r.task(access.Read)
		return r.Tasks.Present(t), err
	}),
	on("PUT /tasks/{task}", "updateTask", "Rename a task, or replace its params.", func(r *Request, in TaskChange) (task.Present, error) {
		t, err := r.Tasks.Rename(r.Context(), r.Who, r.ref(), in.Name, in.Params)
		return r.Tasks.Present(t), err
	}),
	on("PUT /tasks/{task}/budget", "setBudget", `Change what a task may use.
Limits that are absent stay. A turn that has used it all is stopped; nothing more is begun before the limit is raised.`, func(r *Request, in budget.Limits) (budget.View, error) {
		return r.Tasks.SetBudget(r.Context(), r.Who, r.ref(), in)
	}),
	on("DELETE /tasks/{task}", "deleteTask", `Delete a task with its workspace.
A git branch with commits that are nowhere else stays, unless force is true.`, func(r *Request, in Force) (task.Deleted, error) {
		return r.Tasks.Delete(r.Context(), r.Who, r.ref(), in.Force)
	}),
	on("POST /tasks/{task}/cancel", "cancelTask", `Stop a task for good.
The status is CANCELLED at once, the agent is stopped, and events that wait are discarded.`, func(r *Request, _ none) (store.Task, error) {
		return r.Tasks.Cancel(r.Context(), r.Who, r.ref())
	}),
	on("POST /tasks/{task}/stop", "stopTask", `Stop a task's turn.
It ends as cancelled, what was sent after it is next, and the task goes on. Closing a stream stops nothing.`, func(r *Request, _ none) (task.Present, error) {
		t, err := r.Tasks.Stop(r.Context(), r.Who, r.ref())
		return r.Tasks.Present(t), err
	}),
	on("GET /tasks/{task}/progress", "getProgress", "Say how far a task is.", func(r *Request, _ none) (task.Progress, error) {
		t, err := r.task(access.Read)
		return task.ProgressOf(r.Tasks.Present(t)), err
	}),
	on("PUT /tasks/{task}/progress", "setProgress", "Note how far a task is.", func(r *Request, in ProgressChange) (task.Progress, error) {
		t, err := r.Tasks.SetProgress(r.Context(), r.Who, r.ref(), in.Percent, in.Line)
		return task.ProgressOf(r.Tasks.Present(t)), err
	}),
	on("GET /progress", "listProgress", "Say how far all tasks are that are not over.", func(r *Request, in Paging) (Page[task.Progress], error) {
		return seenTasks(r, store.Where{"status": []store.TaskStatus{store.Creating, store.Idle, store.Running}}, in, nil, task.ProgressOf)
	}),
	on("POST /tasks/{task}/answers", "answerTask", `Answer a question of a task's agent.
The question is one of the task's questions, as it was shown: with question_id the answer reaches no other. It is for the operator, for who created the task, and for keys that may run its agent and change its project; the first answer counts.`,
		func(r *Request, in question.Answer) (task.Answered, error) {
			return r.Tasks.Answer(r.Context(), r.Who, r.ref(), in)
		}).creates().once().upTo(question.MaxSize),
	on("GET /tasks/{task}/stream", "streamTask", `Stream what a task does, as server-sent events.
Each event's data is a part, its id a number; Last-Event-ID resumes behind that. The stream ends with [DONE] once a turn has ended and nothing is to be done, or with follow once the task is over. Without Last-Event-ID it begins with the oldest part that is kept; an idle task that nothing was ever sent to waits for the first event.`,
		streamTask).bytes("text/event-stream").reads("Last-Event-ID"),
	on("POST /tasks/{task}/chat", "chat", `Chat with a task, as the AI SDK's useChat does.
Give its DefaultChatTransport this address as api. The last message counts: the user's is sent as an event, the assistant's has answers to approvals. The answer is a UI message stream of the turn; it ends when that asks, and another request with the answer goes on.`,
		chat).bytes("text/event-stream").upTo(chatLimit),
	on("GET /tasks/{task}/chat/{chat}/stream", "resumeChat", `Go on with a chat's stream, as the AI SDK does after a page was loaded again.
It begins with the start of the turn that goes on; 204 when none does. The chat's name is not looked at.`,
		resume).bytes("text/event-stream"),
	on("POST /tasks/{task}/events", "sendEvent", `Send an event to a task.
It begins a turn when those before it have ended.`, func(r *Request, in NewContent) (e store.Event, err error) {
		parts, err := task.ParseContent(in.Content)
		if err != nil {
			return e, err
		}
		return r.Tasks.Send(r.Context(), r.Who, r.ref(), r.Header.Get(keyHeader), parts)
	}).creates().once().upTo(contentLimit),
	on("GET /tasks/{task}/events", "listEvents", "List a task's events, oldest first.", func(r *Request, in Paging) (p Page[store.Event], err error) {
		t, err := r.task(access.Read)
		if err != nil {
			return p, err
		}
		return paged(r.Tasks.Store.Events.List(r.Context(), store.Where{"task": t.ID}, in.page()))
	}),
	on("GET /events/{event}", "getEvent", "Get an event.", func(r *Request, _ none) (store.Event, error) {
		e, err := r.Tasks.Store.Events.Get(r.Context(), r.ref())
		return e, r.ofTask(err, e.TaskID, access.Read, "event")
	}),
	on("POST /tasks/{task}/messages", "sendMessage", `Add a message to a task.
This is what an agent says to who watches; to say something to the agent, send an event.`, func(r *Request, in NewContent) (m store.Message, err error) {
		parts, err := task.ParseContent(in.Content)
		if err != nil {
			return m, err
		}
		return r.Tasks.Say(r.Context(), r.Who, r.ref(), parts)
	}).creates().once().upTo(contentLimit),
	on("GET /tasks/{task}/messages", "listMessages", "List a task's messages.", func(r *Request, in messageQuery) (p Page[store.Message], err error) {
		t, err := r.task(access.Read)
		if err != nil {
			return p, err
		}
		part := in.page()
		part.Reverse = in.Direction == "older"
		return paged(r.Tasks.Store.Messages.List(r.Context(), store.Where{"task": t.ID}, part))
	}),
	on("GET /messages/{message}", "getMessage", "Get a message.", func(r *Request, _ none) (store.Message, error) {
		m, err := r.Tasks.Store.Messages.Get(r.Context(), r.ref())
		return m, r.ofTask(err, m.TaskID, access.Read, "message")
	}),
	on("POST /states", "createState", `Create the state of a task and an agent.
There is one for each task and agent; a second is a conflict.`, createState).creates().upTo(stateLimit),
	on("GET /states", "listStates", "List states.", listStates),
	on("GET /states/{state}", "getState", "Get a state.", func(r *Request, _ none) (store.State, error) { return r.state(access.Read) }),
	on("PUT /states/{state}", "updateState", `Merge into a state, or replace it.
Members of the object are merged into those that are there, objects in them too; null removes one. With replace the object becomes the whole state.`,
		func(r *Request, in StateChange) (store.State, error) {
			v, err := r.state(access.Report)
			switch {
			case err != nil:
				return v, err
			case in.Replace:
				return r.Tasks.Store.ReplaceState(r.Context(), v.ID, in.State)
			}
			return r.Tasks.Store.MergeState(r.Context(), v.ID, in.State)
		}).upTo(stateLimit),
	on("DELETE /states/{state}", "deleteState", "Delete a state.", func(r *Request, _ none) (none, error) {
		v, err := r.state(access.Report)
		if err != nil {
			return none{}, err
		}
		return none{}, r.Tasks.Store.States.Delete(r.Context(), v.ID)
	}),
}

// TaskChange has a task's new name and params. What is absent is not changed.
type TaskChange struct {
	Name   *string         `json:"name,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
}

// Force says whether what exists nowhere else may be deleted.
type Force struct {
	Force bool `json:"force,omitempty" flag:"force" doc:"Delete what is nowhere else, too"`
}

// ProgressChange says how far a task is. What is absent is not changed.
type ProgressChange struct {
	Percent *int    `json:"progress,omitempty"`
	Line    *string `json:"status_message,omitempty"`
}

// TaskQuery selects tasks.
type TaskQuery struct {
	Agent      string `json:"agent,omitempty" flag:"agent,a" doc:"Of this agent, by id or name"`
	Status     string `json:"status,omitempty" doc:"Of these statuses, separated by commas"`
	Project    string `json:"project_id,omitempty" doc:"Of this project"`
	Filesystem string `json:"filesystem_id,omitempty" doc:"With this filesystem"`
	Version    string `json:"version_id,omitempty" doc:"Of this version"`
	Paging
}

// NewContent is the content of an event or a message.
type NewContent struct {
	Content json.RawMessage `json:"content" doc:"A text, {\"type\":\"text\",\"text\":…}, {\"type\":\"data\",\"data\":…}, or a list of these"`
}

type messageQuery struct {
	Direction string `json:"direction,omitempty" enum:"newer,older" doc:"From the oldest on (newer, the default), or from the newest backwards (older); with a cursor from there"`
	Paging
}

// NewState describes a state to make (U12).
type NewState struct {
	TaskID  string          `json:"task_id"`
	AgentID string          `json:"agent_id,omitempty" doc:"The task's own agent when it is absent"`
	State   json.RawMessage `json:"state" doc:"An object"`
}

type stateQuery struct {
	TaskID  string `json:"task_id,omitempty" doc:"Of this task"`
	AgentID string `json:"agent_id,omitempty" doc:"Of this agent"`
	Paging
}

// StateChange changes a state (U14, U57).
type StateChange struct {
	State   json.RawMessage `json:"state" doc:"An object"`
	Replace bool            `json:"replace,omitempty" doc:"Replace the state instead of merging into it"`
}

// task returns the task in the path if the caller may do verb with it.
func (r *Request) task(verb access.Verb) (store.Task, error) {
	return r.Tasks.Find(r.Context(), r.Who, verb, r.ref())
}

// ofTask returns err, or an error if the caller may not do verb with the task that something belongs
// to.
func (r *Request) ofTask(err error, id string, verb access.Verb, what string) error {
	if err != nil {
		return err
	}
	_, err = r.Tasks.Find(r.Context(), r.Who, verb, id)
	if status, _ := statusOf(err); err != nil && status == http.StatusNotFound {
		return Errorf(http.StatusNotFound, "there is no %s %q", what, clip(r.ref()))
	}
	return err
}

// statuses are all values of a task's status.
var statuses = []store.TaskStatus{store.Creating, store.Pending, store.Idle, store.Running, store.Waiting, store.Cancelled, store.FailedRun, store.Deleting}

func listTasks(r *Request, in TaskQuery) (page Page[task.Present], err error) {
	var chosen, stored []store.TaskStatus
	f := store.Where{"project": in.Project, "filesystem": in.Filesystem, "version": in.Version}
	if in.Agent != "" {
		a, err := r.Tasks.Agents.Agent(r.Context(), r.Who, in.Agent)
		if err != nil {
			return page, err
		}
		f["agent"] = a.ID
	}
	for _, word := range strings.FieldsFunc(in.Status, func(c rune) bool { return c == ',' }) {
		status := store.TaskStatus(strings.ToUpper(strings.TrimSpace(word)))
		if !slices.Contains(statuses, status) {
			return page, Errorf(http.StatusUnprocessableEntity, "status: %q is none of %v", clip(string(status)), statuses)
		}
		chosen, stored = append(chosen, status), append(stored, status)
		switch status { // these are not stored
		case store.Waiting:
			stored = append(stored, store.Idle, store.Running)
		case store.Pending:
			stored = append(stored, store.Creating, store.Idle, store.Running)
		}
	}
	f["status"] = stored
	return seenTasks(r, f, in.Paging, chosen, func(t task.Present) task.Present {
		for i := range t.Questions {
			t.Questions[i].Lines = nil // they may be long
		}
		return t
	})
}

// seenTasks returns a page of the tasks that the caller may see, with one of the statuses of if it has
// any. A page may have fewer tasks than its limit, or none, and still have a next one.
func seenTasks[T any](r *Request, f store.Where, in Paging, of []store.TaskStatus, as func(task.Present) T) (Page[T], error) {
	page := Page[T]{Data: []T{}}
	all, next, err := r.Tasks.Store.Tasks.List(r.Context(), f, in.page())
	for _, t := range all {
		if access.MayTask(r.Who, access.Read, registry.ParentsOf(t)) != access.Allowed {
			continue
		}
		if now := r.Tasks.Present(t); len(of) == 0 || slices.Contains(of, now.Status) {
			page.Data = append(page.Data, as(now))
		}
	}
	page.Next = next
	return page, err
}

func createState(r *Request, in NewState) (v store.State, err error) {
	t, err := r.Tasks.Find(r.Context(), r.Who, access.Report, in.TaskID)
	if err != nil {
		return v, err
	}
	id := t.AgentID
	if in.AgentID != "" {
		a, err := r.Tasks.Store.Agents.Find(r.Context(), in.AgentID)
		if err != nil {
			return v, err
		}
		id = a.ID
	}
	return r.Tasks.Store.States.Create(r.Context(), store.State{TaskID: t.ID, AgentID: id, State: in.State})
}

// listStates lists the states of tasks that the caller may see. A task's own programs see only its
// states.
func listStates(r *Request, in stateQuery) (page Page[store.State], err error) {
	if in.TaskID == "" && r.Who.Kind == access.TaskKind {
		in.TaskID = r.Who.ID
	}
	if in.TaskID != "" {
		t, err := r.Tasks.Find(r.Context(), r.Who, access.Read, in.TaskID)
		if err != nil {
			return page, err
		}
		in.TaskID = t.ID
	}
	if in.AgentID != "" {
		a, err := r.Tasks.Store.Agents.Find(r.Context(), in.AgentID)
		if err != nil {
			return page, err
		}
		in.AgentID = a.ID
	}
	all, next, err := r.Tasks.Store.States.List(r.Context(), store.Where{"task": in.TaskID}, in.page())
	seen := map[string]bool{}
	all = slices.DeleteFunc(all, func(v store.State) bool {
		may, known := seen[v.TaskID]
		if !known {
			t, err := r.Tasks.Store.Tasks.Find(r.Context(), v.TaskID)
			may = err == nil && access.MayTask(r.Who, access.Read, registry.ParentsOf(t)) == access.Allowed
			seen[v.TaskID] = may
		}
		return !may || in.AgentID != "" && v.AgentID != in.AgentID
	})
	return paged(all, next, err)
}

// state returns the state in the path if the caller may do verb with its task.
func (r *Request) state(verb access.Verb) (store.State, error) {
	v, err := r.Tasks.Store.States.Get(r.Context(), r.ref())
	return v, r.ofTask(err, v.TaskID, verb, "state")
}
