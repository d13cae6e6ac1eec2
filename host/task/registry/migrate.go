package registry

import (
	"context"

	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

// Migration says which tasks to move (U32): all of a version (From) or those named (Tasks), to a
// version (To) or to the active one of their branch (ToLatest).
type Migration struct {
	From     string   `json:"from_version_id,omitempty" flag:"from" doc:"All tasks of this version"`
	Tasks    []string `json:"task_ids,omitempty"`
	To       string   `json:"to_version_id,omitempty" flag:"to" doc:"To this version"`
	ToLatest bool     `json:"to_latest,omitempty" flag:"latest" doc:"To the active version of their branch"`
}

// Migrated is the result of a migration.
type Migrated struct {
	Version store.Version `json:"version"`
	Moved   []string      `json:"task_ids" doc:"The tasks that moved; those that were there already are not named"`
}

// Migrate moves tasks to another version. Of the tasks of From, those that are final or that who may
// not update are left out. If who may not update one of Tasks, that is an error.
func (r *Registry) Migrate(ctx context.Context, who access.Principal, m Migration) (got Migrated, err error) {
	if (m.From == "") == (len(m.Tasks) == 0) || (m.To == "") == !m.ToLatest {
		return got, store.Errorf(store.Invalid, "say either from_version_id or task_ids, and either to_version_id or to_latest")
	}
	tasks, err := r.migrating(ctx, who, m)
	if err != nil {
		return got, err
	}
	branch := ""
	if m.From != "" {
		v, err := r.Version(ctx, who, m.From)
		if err != nil {
			return got, err
		}
		branch = v.BranchID
	} else {
		branch = tasks[0].BranchID
	}
	if m.To != "" {
		v, err := r.Version(ctx, who, m.To)
		if err != nil {
			return got, err
		}
		m.To = v.ID
	}
	ids := make([]string, len(tasks))
	for i, t := range tasks {
		ids[i] = t.ID
	}
	got.Version, got.Moved, err = r.store.Migrate(ctx, store.Migration{Tasks: ids, To: m.To, BranchID: branch})
	return got, err
}

func (r *Registry) migrating(ctx context.Context, who access.Principal, m Migration) ([]store.Task, error) {
	var tasks []store.Task
	for _, ref := range m.Tasks {
		t, err := r.store.Tasks.Find(ctx, ref)
		if err == nil {
			err = Refuse(access.MayTask(who, access.Update, ParentsOf(t)), access.Update, "task", ref)
		}
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, t)
	}
	if m.From == "" {
		return tasks, nil
	}
	from, err := r.Version(ctx, who, m.From)
	if err != nil {
		return nil, err
	}
	err = r.store.Tasks.Each(ctx, store.Where{"version": from.ID}, func(t store.Task) error {
		if !t.Status.Final() && access.MayTask(who, access.Update, ParentsOf(t)) == access.Allowed {
			tasks = append(tasks, t)
		}
		return nil
	})
	return tasks, err
}

// ParentsOf returns what access to a task depends on. A task without a sandbox runs as the operator,
// who alone may use it.
func ParentsOf(t store.Task) access.Parents {
	return access.Parents{Task: t.ID, Agent: t.AgentID, Project: t.ProjectID, Private: t.Private || t.Facts.Bare, Creator: t.Creator}
}
