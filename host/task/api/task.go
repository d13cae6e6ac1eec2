package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"tandemux/host/task"
	"tandemux/host/task/access"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
)

const taskTag = "tasks"

var taskRoutes = []Route{
	{
		Method: http.MethodGet, Path: "/tasks", Name: "listTasks", Tag: taskTag, Summary: "List tasks, newest first.",
		Params: []Param{
			{Name: "agent", Doc: "Of this agent, by id or name"},
			{Name: "status", Doc: "Of these statuses, separated by commas"},
			{Name: "project_id", Doc: "Of this project"},
			{Name: "filesystem_id", Doc: "With this filesystem"},
			{Name: "version_id", Doc: "Of this version"},
			limitParam, cursorParam,
		},
		Result: Page[store.Task]{}, Handle: listTasks,
	},
	{
		Method: http.MethodPost, Path: "/tasks", Name: "createTask", Tag: taskTag, Summary: "Create a task.",
		Detail: "Takes no message: send an event afterwards. The answer comes when the workspace is made; the agent is started then, and the task is CREATING until it is ready.",
		Params: []Param{idempotencyParam}, Body: NewTask{}, Result: store.Task{}, Status: http.StatusCreated,
		Errors: []int{http.StatusConflict, http.StatusInsufficientStorage}, Handle: idempotent(decoded(createTask)),
	},
	{
		Method: http.MethodPost, Path: "/tasks/migrate", Name: "migrateTasks", Tag: taskTag, Summary: "Move tasks to another version of their branch.",
		Detail: "Either all of a version or those named, either to a version or to the active one. A task that runs goes on with its version until its event has ended.",
		Body:   registry.Migration{}, Result: registry.Migrated{}, Errors: []int{http.StatusConflict}, Handle: decoded(migrateTasks),
	},
	{
		Method: http.MethodGet, Path: "/tasks/{task}", Name: "getTask", Tag: taskTag, Summary: "Get a task, by id or name.",
		Result: store.Task{}, Handle: getTask,
	},
	{
		Method: http.MethodPut, Path: "/tasks/{task}", Name: "updateTask", Tag: taskTag, Summary: "Rename a task, or replace its params.",
		Body: TaskChange{}, Result: store.Task{}, Errors: []int{http.StatusConflict}, Handle: decoded(updateTask),
	},
	{
		Method: http.MethodDelete, Path: "/tasks/{task}", Name: "deleteTask", Tag: taskTag, Summary: "Delete a task with its workspace.",
		Detail: "A git branch with commits that are nowhere else stays, unless force is true.",
		Params: []Param{{Name: "force", Kind: "boolean", Doc: "Delete what is nowhere else, too"}},
		Result: task.Deleted{}, Errors: []int{http.StatusConflict, http.StatusServiceUnavailable}, Handle: deleteTask,
	},
	{
		Method: http.MethodPost, Path: "/tasks/{task}/cancel", Name: "cancelTask", Tag: taskTag, Summary: "Stop a task for good.",
		Detail: "The status is CANCELLED at once, the agent is stopped, and events that wait are discarded.",
		Result: store.Task{}, Errors: []int{http.StatusConflict}, Handle: cancelTask,
	},
	{
		Method: http.MethodGet, Path: "/tasks/{task}/progress", Name: "getProgress", Tag: taskTag, Summary: "Say how far a task is.",
		Result: task.Progress{}, Handle: getProgress,
	},
	{
		Method: http.MethodPut, Path: "/tasks/{task}/progress", Name: "setProgress", Tag: taskTag, Summary: "Note how far a task is.",
		Body: ProgressChange{}, Result: task.Progress{}, Errors: []int{http.StatusConflict}, Handle: decoded(setProgress),
	},
	{
		Method: http.MethodGet, Path: "/progress", Name: "listProgress", Tag: taskTag, Summary: "Say how far all tasks are that are not over.",
		Params: []Param{limitParam, cursorParam}, Result: Page[task.Progress]{}, Handle: listProgress,
	},
}

// NewTask is what a task is created of (U39).
type NewTask struct {
	Name      string   `json:"name,omitempty" doc:"Unique; one is made when it is absent"`
	AgentName string   `json:"agent_name,omitempty" doc:"The agent: this, agent_id or agent_command"`
	AgentID   string   `json:"agent_id,omitempty"`
	Command   []string `json:"agent_command,omitempty" doc:"A command that speaks ACP; the operator's alone"`
	Branch    string   `json:"branch,omitempty" doc:"The agent's branch, which must have been deployed; main when absent"`
	Hint      string   `json:"branch_hint,omitempty" doc:"A branch that counts where it was deployed"`

	FilesystemID string `json:"filesystem_id,omitempty" doc:"The filesystem to work on"`
	ProjectID    string `json:"project_id,omitempty" doc:"The project in which a filesystem is made for the task"`
	Workspace    string `json:"workspace,omitempty" doc:"worktree[:DIR], copy:DIR, ro:DIR, rw:DIR, fs:ID, none, or auto; the operator's alone, but for none"`
	Cwd          string `json:"cwd,omitempty" doc:"The directory that workspace is about"`
	GitBranch    string `json:"git_branch,omitempty" doc:"The branch of a worktree; one is made of the name when it is absent"`
	From         string `json:"from,omitempty" doc:"The commit that a worktree begins at"`

	Params    json.RawMessage `json:"params,omitempty" doc:"An object, given to the agent's hooks and environment"`
	Approve   string          `json:"approve,omitempty" doc:"Which of the agent's questions are answered with yes" enum:"ask,reads,all"`
	NoSandbox bool            `json:"no_sandbox,omitempty" doc:"Run it without a sandbox; the operator's alone"`
}

// TaskChange is what may be changed of a task.
type TaskChange struct {
	Name   *string         `json:"name,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
}

// ProgressChange is how far a task is; absent members stay.
type ProgressChange struct {
	Percent *int    `json:"progress,omitempty"`
	Line    *string `json:"status_message,omitempty"`
}

func createTask(r *Request, in NewTask) (any, error) {
	if in.AgentName != "" && in.AgentID != "" || (in.AgentName+in.AgentID != "") && len(in.Command) > 0 {
		return nil, Errorf(http.StatusUnprocessableEntity, "give one of agent_name, agent_id and agent_command")
	}
	return r.Tasks.Create(r.Context(), r.Who, task.New{
		Name: in.Name, Agent: in.AgentName + in.AgentID, Command: in.Command, Branch: in.Branch, Hint: in.Hint,
		Filesystem: in.FilesystemID, Project: in.ProjectID, Workspace: in.Workspace, Cwd: in.Cwd, GitBranch: in.GitBranch, From: in.From,
		Params: in.Params, Confirm: in.Approve, Bare: in.NoSandbox,
	})
}

// statuses are what a task's status may be.
var statuses = []string{string(store.Creating), string(store.Idle), string(store.Running), string(store.Cancelled), string(store.FailedRun), string(store.Deleting)}

func listTasks(r *Request) (any, error) {
	f := store.TaskFilter{Project: r.Text("project_id"), Filesystem: r.Text("filesystem_id"), Version: r.Text("version_id")}
	if ref := r.Text("agent"); ref != "" {
		a, err := r.Tasks.Agents.Agent(r.Context(), r.Who, ref)
		if err != nil {
			return nil, err
		}
		f.Agent = a.ID
	}
	for _, word := range strings.FieldsFunc(r.Text("status"), func(c rune) bool { return c == ',' }) {
		if word = strings.ToUpper(strings.TrimSpace(word)); !slices.Contains(statuses, word) {
			return nil, Errorf(http.StatusUnprocessableEntity, "status: %q is none of %s", clip(word), strings.Join(statuses, ", "))
		}
		f.Statuses = append(f.Statuses, store.TaskStatus(word))
	}
	return seenTasks(r, f, func(t store.Task) store.Task { return t })
}

// seenTasks is a page of the tasks that the caller may see. It may have fewer than
// were asked for, or none, and go on.
func seenTasks[T any](r *Request, f store.TaskFilter, as func(store.Task) T) (any, error) {
	all, next, err := r.Tasks.Store.Tasks(r.Context(), f, r.paged())
	if err != nil {
		return nil, err
	}
	page := Page[T]{Data: []T{}, Next: next}
	for _, t := range all {
		if access.MayTask(r.Who, access.Read, registry.ParentsOf(t)) == access.Allowed {
			page.Data = append(page.Data, as(t))
		}
	}
	return page, nil
}

func listProgress(r *Request) (any, error) {
	return seenTasks(r, store.TaskFilter{Statuses: []store.TaskStatus{store.Creating, store.Idle, store.Running}}, task.ProgressOf)
}

func getTask(r *Request) (any, error) {
	return r.Tasks.Find(r.Context(), r.Who, access.Read, r.Part("task"))
}

func updateTask(r *Request, in TaskChange) (any, error) {
	return r.Tasks.Rename(r.Context(), r.Who, r.Part("task"), in.Name, in.Params)
}

func deleteTask(r *Request) (any, error) {
	return r.Tasks.Delete(r.Context(), r.Who, r.Part("task"), r.Bool("force"))
}

func cancelTask(r *Request) (any, error) {
	return r.Tasks.Cancel(r.Context(), r.Who, r.Part("task"))
}

func migrateTasks(r *Request, in registry.Migration) (any, error) {
	got, err := r.Tasks.Agents.Migrate(r.Context(), r.Who, in)
	if err == nil {
		r.Tasks.Changed(got.Moved...)
	}
	return got, err
}

func getProgress(r *Request) (any, error) {
	t, err := r.Tasks.Find(r.Context(), r.Who, access.Read, r.Part("task"))
	return task.ProgressOf(t), err
}

func setProgress(r *Request, in ProgressChange) (any, error) {
	t, err := r.Tasks.SetProgress(r.Context(), r.Who, r.Part("task"), in.Percent, in.Line)
	return task.ProgressOf(t), err
}
