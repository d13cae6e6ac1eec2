package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandemux/host/task"
	"tandemux/host/task/access"
	hostapi "tandemux/host/task/api"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
	"tandemux/host/workspace/travel"
	"tandemux/hub/front"
	"tandemux/hub/lease"
	"tandemux/hub/queue"
)

// newID is an id: one that an Idempotency-Key of a person's always gives, else any.
func (r *request) newID(prefix string) string {
	key := r.Header.Get("Idempotency-Key")
	if key == "" {
		return store.NewID(prefix)
	}
	sum := sha256.Sum256([]byte(r.who.Name + "\n" + r.Method + " " + r.URL.Path + "\n" + key))
	return prefix + "_" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:14]
}

// maxLabels bounds what a task asks for.
const maxLabels = 32

func createTask(r *request) (any, error) {
	var in struct {
		task.NewTask
		Files *travel.Load `json:"files"`
	}
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	n := in.NewTask
	s := queue.Spec{ID: r.newID("tsk"), Name: n.Name, Person: r.who.Name, Project: n.ProjectID, Agent: n.AgentName, Created: time.Now().UTC().Truncate(time.Millisecond)}
	s.Where = slices.Compact(slices.Sorted(slices.Values(strings.FieldsFunc(n.Where, func(c rune) bool { return c == ',' || c == ' ' }))))
	policy := lease.Fail
	if n.IfLost == string(lease.Again) {
		policy = lease.Again
	}
	if s.Files = in.Files; s.Files != nil {
		if err := s.Files.Check(); err != nil {
			return nil, err
		}
		if n.Workspace != "" || n.From != "" || s.Files.Size == 0 {
			return nil, hostapi.Errorf(http.StatusUnprocessableEntity, "files are the workspace of a task, and from where it begins: give no other")
		}
	}
	if err := check(r, &n, s.Where); err != nil {
		return nil, err
	}
	s.Name = cmp.Or(s.Name, cmp.Or(n.AgentName, "task")+"-"+s.ID[len(s.ID)-5:])
	if s.Files != nil && s.Files.Kind == travel.Bundle && n.GitBranch == "" {
		n.GitBranch = "tandemux/" + s.Name
	}
	n.Where, n.IfLost, n.ProjectID, n.Cwd, n.Hint = "", "", "", "", ""
	var err error
	if s.New, err = json.Marshal(n); err != nil {
		return nil, err
	}
	front.On(r.Context(), s.ID)
	t, err := r.q.Create(r.Context(), s, policy)
	return present(r.q, t).Task, err
}

// check says what is wrong with what is asked for.
func check(r *request, n *task.NewTask, where []string) error {
	const invalid = http.StatusUnprocessableEntity
	if n.Workspace == task.AutoWorkspace {
		n.Workspace = "none"
	}
	if n.Name != "" {
		if err := access.CheckName("a task", n.Name); err != nil {
			return hostapi.Errorf(invalid, "%v", err)
		}
	}
	switch {
	case (n.AgentName == "") == (len(n.Command) == 0):
		return hostapi.Errorf(invalid, "say which agent: give agent_name or agent_command")
	case n.AgentID != "" || n.FilesystemID != "":
		return hostapi.Errorf(invalid, "agent_id and filesystem_id are one host's: give agent_name, and workspace")
	case n.IfLost != "" && n.IfLost != string(lease.Fail) && n.IfLost != string(lease.Again):
		return hostapi.Errorf(invalid, "if_lost is fail or again")
	case len(where) > maxLabels:
		return hostapi.Errorf(invalid, "where has %d labels, more than %d", len(where), maxLabels)
	case r.all():
		return nil
	case len(n.Command) > 0 || n.NoSandbox || n.Workspace != "" && n.Workspace != "none":
		return hostapi.Errorf(http.StatusForbidden, "only who has the scope admin may name a command or a directory, or leave the sandbox out")
	}
	return nil
}

// present is a task as the host's interface has it.
func present(q *queue.Queue, t queue.Task) task.Present {
	n := task.Present{}
	note := t.Note()
	if len(note.Present) > 0 {
		json.Unmarshal(note.Present, &n) //nolint:errcheck // then less is known of it
	}
	waiting := n.Status == store.Waiting
	n.ID, n.Name, n.Creator, n.Created, n.ProjectID = t.Spec.ID, t.Spec.Name, t.Spec.Person, t.Spec.Created, t.Spec.Project
	n.Reason = t.Record.Reason
	if l := t.Spec.Files; l != nil { // the person's own, wherever it is on the host
		kind := map[string]workspace.Kind{travel.Bundle: workspace.Worktree, travel.Archive: workspace.Copy}[l.Kind]
		n.Workspace, _ = json.Marshal(workspace.Spec{Kind: kind, Dir: l.Source}) //nolint:errcheck // its types are fixed
	}
	if n.Updated.IsZero() {
		n.Updated = n.Created
	}
	if len(t.Record.Ends) > 0 {
		e := t.Record.Ends[len(t.Record.Ends)-1]
		n.Last = &store.TurnOutcome{EventID: e.Work, Outcome: store.Outcome(e.Outcome), Reason: e.Reason, Ended: n.Updated}
	}
	doing := n.Doing
	n.Doing = ""
	switch t.Record.State {
	case lease.Idle:
		n.Status = store.Idle
	case lease.Pending:
		n.Status, n.Doing = store.Pending, q.Waits(t.Spec.ID)
	case lease.Claimed:
		n.Status, n.Doing = store.Creating, "begins on "+t.Record.Host
	case lease.Begun:
		if n.Status, n.Doing = store.Running, "works on "+t.Record.Host; waiting {
			n.Status = store.Waiting
		}
		if doing != "" {
			n.Doing = doing + " (on " + t.Record.Host + ")"
		}
	case lease.Cancelled:
		n.Status = store.Cancelled
	case lease.Failed:
		n.Status = store.FailedRun
	}
	if !waiting || n.Status != store.Waiting {
		n.Questions = nil
	}
	return n
}

// page is a part of a list: the cursor is where the next begins.
func page[T any](in hostapi.Paging, all []T) (p hostapi.Page[T], err error) {
	from, limit := 0, cmp.Or(in.Limit, 100)
	if in.Cursor != "" {
		if from, err = strconv.Atoi(in.Cursor); err != nil || from < 0 {
			return p, hostapi.Errorf(http.StatusUnprocessableEntity, "cursor is what an earlier answer gave as next")
		}
	}
	p.Data = append([]T{}, all[min(from, len(all)):min(from+limit, len(all))]...)
	if from+limit < len(all) {
		p.Next = strconv.Itoa(from + limit)
	}
	return p, nil
}

func listTasks(r *request) (any, error) {
	var in hostapi.TaskQuery
	if err := r.query(&in); err != nil {
		return nil, err
	}
	var statuses []string
	for _, s := range strings.FieldsFunc(in.Status, func(c rune) bool { return c == ',' }) {
		statuses = append(statuses, strings.ToUpper(strings.TrimSpace(s)))
	}
	all := []task.Present{}
	tasks := r.q.Tasks()
	slices.Reverse(tasks)
	for _, t := range tasks {
		if _, err := r.mine(t, nil); err != nil || in.Agent != "" && in.Agent != t.Spec.Agent || in.Project != "" && in.Project != t.Spec.Project {
			continue
		}
		n := present(r.q, t)
		if len(statuses) == 0 || slices.Contains(statuses, string(n.Status)) {
			for i := range n.Questions {
				n.Questions[i].Lines = nil
			}
			all = append(all, n)
		}
	}
	return page(in.Paging, all)
}

func cancelTask(r *request, t queue.Task) (any, error) {
	var err error
	if t.Record, err = r.q.Cancel(r.Context(), t.Spec.ID); err != nil {
		return nil, err
	}
	r.atHost(t, http.MethodPost, "/cancel", "")
	return present(r.q, t).Task, nil
}

// atHost has the task's host do what was done here, if it is there. What a host that is
// away has left ends when it comes back.
func (r *request) atHost(t queue.Task, method, path, query string) (queue.Reply, bool) {
	local := t.Note().Local
	if local == "" || t.Record.Host == "" {
		return queue.Reply{}, false
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(r.Context()), 5*time.Second)
	defer done()
	got, err := r.q.Call(ctx, t.Record.Host, queue.Call{Method: method, Task: local, Path: path, Query: query})
	if err != nil {
		r.log.Info("a task's host is told later", "task", t.Spec.ID, "err", err)
	}
	return got, err == nil && got.Status < 300
}

func deleteTask(r *request, t queue.Task) (any, error) {
	d, query := task.Deleted{}, r.URL.RawQuery
	if t.Spec.Files != nil {
		query = "force=true" // the repository goes with it: what is to stay is in the result
	}
	if got, ok := r.atHost(t, http.MethodDelete, "", query); ok {
		json.Unmarshal(got.Body, &d) //nolint:errcheck // then nothing is known to have stayed
	}
	return d, r.q.Delete(r.Context(), t.Spec.ID)
}

func sendEvent(r *request, t queue.Task) (any, error) {
	var in hostapi.NewContent
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	parts, err := task.ParseContent(in.Content)
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(parts)
	if err != nil {
		return nil, err
	}
	e := queue.Event{ID: r.newID("evt"), Task: t.Spec.ID, Content: content, Author: r.who.Name, Created: time.Now().UTC().Truncate(time.Millisecond)}
	if err := r.q.Send(r.Context(), e); err != nil {
		return nil, err
	}
	t, _ = r.q.Task(t.Spec.ID)
	return eventOf(t, e), nil
}

// outcomes are what an event is after its turn ended so.
var outcomes = map[string]store.EventStatus{"done": store.EventDone, "cancelled": store.EventDiscarded}

// eventOf is an event as the host's interface has it.
func eventOf(t queue.Task, e queue.Event) store.Event {
	n := store.Event{ID: e.ID, TaskID: e.Task, Author: e.Author, Created: e.Created, Updated: e.Created, Status: store.EventPending}
	json.Unmarshal(e.Content, &n.Content) //nolint:errcheck // it was checked when it was sent
	end, ended := t.Record.Ended(e.ID)
	switch {
	case ended:
		n.Status, n.Reason = store.EventFailed, end.Reason
		if s, is := outcomes[end.Outcome]; is {
			n.Status = s
		}
	case len(t.Record.Work) > 0 && t.Record.Work[0] == e.ID && t.Record.State == lease.Begun:
		n.Status = store.EventRunning
	case !slices.Contains(t.Record.Work, e.ID):
		n.Status = store.EventDone // so long ago that its end is not kept
	}
	return n
}

func listEvents(r *request, t queue.Task) (any, error) {
	var in hostapi.Paging
	if err := r.query(&in); err != nil {
		return nil, err
	}
	sent, err := r.q.Events(r.Context(), t.Spec.ID)
	if err != nil {
		return nil, err
	}
	t, _ = r.q.Task(t.Spec.ID)
	all := make([]store.Event, len(sent))
	for i, e := range sent {
		all[i] = eventOf(t, e)
	}
	return page(in, all)
}

func getEvent(r *request) (any, error) {
	id := r.PathValue("event")
	missing := queue.NotFound.Errorf("there is no event %.100q", id)
	if strings.ContainsAny(id, ".*> \t") {
		return nil, missing
	}
	of, err := r.q.EventTask(r.Context(), id)
	if err != nil {
		return nil, err
	}
	t, known := r.q.Task(of)
	if _, err := r.mine(t, nil); !known || err != nil {
		return nil, missing
	}
	e, err := r.q.Event(r.Context(), of, id)
	t, _ = r.q.Task(of)
	return eventOf(t, e), err
}
