package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"
)

// TaskStatus is where a task is in its life.
type TaskStatus string

const (
	Creating  TaskStatus = "CREATING"
	Idle      TaskStatus = "IDLE"
	Running   TaskStatus = "RUNNING"
	Cancelled TaskStatus = "CANCELLED"
	FailedRun TaskStatus = "FAILED"
	Deleting  TaskStatus = "DELETING"
)

// Final reports whether a task of this status takes no events any more.
func (t TaskStatus) Final() bool { return t == Cancelled || t == FailedRun || t == Deleting }

const notFinal = "status not in ('CANCELLED', 'FAILED', 'DELETING')"

// Task is one conversation or piece of work of an agent's (U37, U46).
type Task struct {
	n       int64
	ID      string `json:"id"`
	Name    string `json:"name"`
	AgentID string `json:"agent_id"`
	// VersionID is what it is to run with; LaunchedID what its session was begun
	// with. They differ after a migration, until the next event.
	VersionID    string          `json:"version_id"`
	LaunchedID   string          `json:"launched_version_id,omitempty" doc:"The version that its process was started with"`
	BranchID     string          `json:"branch_id"`
	ProjectID    string          `json:"project_id,omitempty"`
	FilesystemID string          `json:"filesystem_id,omitempty"`
	Workspace    json.RawMessage `json:"workspace,omitempty" doc:"What its workspace is"`
	Writable     bool            `json:"writable" doc:"Whether it may write to its workspace"`
	Private      bool            `json:"private,omitempty" doc:"Its workspace is a directory of the operator's, so nobody else sees it"`
	Status       TaskStatus      `json:"status" enum:"CREATING,IDLE,RUNNING,CANCELLED,FAILED,DELETING"`
	Reason       string          `json:"reason,omitempty" doc:"Why it failed"`
	Params       json.RawMessage `json:"params,omitempty"`
	Session      string          `json:"session,omitempty" doc:"The AHP session"`
	Progress     *int            `json:"progress,omitempty" doc:"In percent"`
	ProgressLine string          `json:"status_message,omitempty" doc:"What it is doing, in a line"`
	Creator      string          `json:"creator"`
	Facts        json.RawMessage `json:"-"` // what the service keeps besides
	Created      time.Time       `json:"created_at"`
	Updated      time.Time       `json:"updated_at"`
}

func (*Task) kind() kind {
	return kind{"task", "tasks", "n, id, name, agent, version, launched, branch, project, filesystem, workspace, writable, private, status, reason, params, session, " +
		"progress, progress_line, creator, facts, created, updated"}
}

func (t *Task) row() []any {
	return []any{
		&t.n, &t.ID, &t.Name, &t.AgentID, &t.VersionID,
		optional{&t.LaunchedID},
		&t.BranchID,
		optional{&t.ProjectID},
		optional{&t.FilesystemID},
		doc{&t.Workspace},
		&t.Writable, &t.Private, (*string)(&t.Status), &t.Reason,
		doc{&t.Params},
		&t.Session,
		&t.Progress, &t.ProgressLine, &t.Creator,
		doc{&t.Facts},
		at{&t.Created},
		at{&t.Updated},
	}
}

func (t *Task) check() error {
	for _, d := range []struct {
		what string
		raw  json.RawMessage
		most int
	}{{"the params", t.Params, MaxParams}, {"the workspace", t.Workspace, MaxFacts}, {"the facts", t.Facts, MaxFacts}} {
		if err := checkDoc(d.what, d.raw, d.most); err != nil {
			return err
		}
	}
	if t.Progress != nil && (*t.Progress < 0 || *t.Progress > 100) {
		return Errorf(Invalid, "the progress is %d; it is a percentage", *t.Progress)
	}
	return nil
}

// CreateTask adds a task, whose times it sets. Its id is set when it has none and
// its name, when it has none, is that id.
func (s *Store) CreateTask(ctx context.Context, t Task) (Task, error) {
	if t.ID == "" {
		t.ID = NewID("tsk")
	}
	if t.Name == "" {
		t.Name = t.ID
	}
	if t.Status == "" {
		t.Status = Creating
	}
	if err := t.check(); err != nil {
		return t, err
	}
	t.Created = s.moment()
	t.Updated = t.Created
	return t, s.write(ctx, relaxed, func(tx *sql.Tx) error {
		return insert(ctx, tx, &t, Errorf(Exists, "there is a task named %q already", t.Name))
	})
}

// Task finds one by id, name or the beginning of an id (U17).
func (s *Store) Task(ctx context.Context, ref string) (Task, error) {
	return named[Task](ctx, s, s.r, ref)
}

// TaskFilter chooses tasks; empty members choose all.
type TaskFilter struct {
	Agent, Version, Branch, Project, Filesystem string // ids
	Statuses                                    []TaskStatus
}

// Tasks lists those of a filter, newest first.
func (s *Store) Tasks(ctx context.Context, f TaskFilter, p Page) ([]Task, string, error) {
	where, args := []string{"true"}, []any{}
	for column, id := range map[string]string{"agent": f.Agent, "version": f.Version, "branch": f.Branch, "project": f.Project, "filesystem": f.Filesystem} {
		if id != "" {
			where, args = append(where, column+" = ?"), append(args, id)
		}
	}
	if len(f.Statuses) > 0 {
		where = append(where, "status in ("+places(len(f.Statuses))+")")
		for _, st := range f.Statuses {
			args = append(args, string(st))
		}
	}
	return page[Task](ctx, s, p, true, strings.Join(where, " and ")+" and ", args...)
}

// UpdateTask changes a task: what change refuses is left as it is. Nobody else
// changes it meanwhile.
func (s *Store) UpdateTask(ctx context.Context, id string, change func(*Task) error) (Task, error) {
	return edit(ctx, s, relaxed, id, func(t *Task) error {
		if err := change(t); err != nil {
			return err
		}
		t.Updated = s.moment()
		return t.check()
	})
}

// DeleteTask removes a task with its events, messages, states, stream and keys.
// Its log stays with the agent's. A filesystem that was made for it and that no
// other task has is named, for its files to be removed.
func (s *Store) DeleteTask(ctx context.Context, id string) (orphan string, err error) {
	err = s.write(ctx, relaxed, func(tx *sql.Tx) error {
		t, err := byID[Task](ctx, tx, id)
		if err != nil {
			return err
		}
		if err := remove[Task](ctx, tx, id); err != nil {
			return err
		}
		if t.FilesystemID == "" {
			return nil
		}
		var alone bool
		err = tx.QueryRowContext(ctx, "select auto and not exists (select 1 from tasks where filesystem = ?1) from filesystems where id = ?1", t.FilesystemID).Scan(&alone)
		if alone {
			orphan = t.FilesystemID
		}
		return err
	})
	if err == nil {
		s.sizes.mu.Lock()
		delete(s.sizes.streams, id)
		s.sizes.mu.Unlock()
	}
	return orphan, err
}
