package store

import (
	"context"
	"encoding/json"
	"time"

	"tandemux/host/task/budget"
)

// TaskStatus is the status of a task.
type TaskStatus string

const (
	Creating  TaskStatus = "CREATING"
	Idle      TaskStatus = "IDLE"
	Running   TaskStatus = "RUNNING"
	Pending   TaskStatus = "PENDING" // never stored: as many tasks work as the limits allow
	Waiting   TaskStatus = "WAITING" // never stored: the task runs and its agent asks something
	Cancelled TaskStatus = "CANCELLED"
	FailedRun TaskStatus = "FAILED"
	Deleting  TaskStatus = "DELETING"
)

// Final reports whether a task of this status no longer accepts events.
func (t TaskStatus) Final() bool { return t == Cancelled || t == FailedRun || t == Deleting }

const notFinal = "status not in ('CANCELLED', 'FAILED', 'DELETING')"

// Task is a conversation with an agent, or a piece of its work (U37, U46).
type Task struct {
	N       int64  `db:"n" json:"-"`
	ID      string `db:"id" json:"id"`
	Name    string `db:"name" json:"name"`
	AgentID string `db:"agent" json:"agent_id"`
	// VersionID is the version to run with, LaunchedID that with which the session began. They differ
	// from a migration until the next event.
	VersionID    string          `db:"version" json:"version_id"`
	LaunchedID   string          `db:"launched,ref" json:"launched_version_id,omitempty" doc:"The version that its process was started with"`
	BranchID     string          `db:"branch" json:"branch_id"`
	ProjectID    string          `db:"project,ref" json:"project_id,omitempty"`
	FilesystemID string          `db:"filesystem,ref" json:"filesystem_id,omitempty"`
	Workspace    json.RawMessage `db:"workspace" json:"workspace,omitempty" doc:"What its workspace is"`
	Writable     bool            `db:"writable" json:"writable" doc:"Whether it may write to its workspace"`
	Private      bool            `db:"private" json:"private,omitempty" doc:"Its workspace is a directory of the operator's, so nobody else sees it"`
	Status       TaskStatus      `db:"status" json:"status" enum:"CREATING,PENDING,IDLE,RUNNING,WAITING,CANCELLED,FAILED,DELETING"`
	Reason       string          `db:"reason" json:"reason,omitempty" doc:"Why it failed"`
	Params       json.RawMessage `db:"params" json:"params,omitempty"`
	Session      string          `db:"session" json:"session,omitempty" doc:"The AHP session"`
	Progress     *int            `db:"progress" json:"progress,omitempty" doc:"In percent"`
	ProgressLine string          `db:"progress_line" json:"status_message,omitempty" doc:"What it is doing, in a line"`
	Creator      string          `db:"creator" json:"creator"`
	Facts        Facts           `db:"facts" json:"-"`
	Created      time.Time       `db:"created" json:"created_at"`
	Updated      time.Time       `db:"updated" json:"updated_at"`
}

// Facts is what package task stores about a task beyond what clients see.
type Facts struct {
	// Confirm says which tool calls wait for a person; see ahp.ConfirmAsk.
	Confirm string `json:"confirm,omitempty"`
	// Bare says that the task has no sandbox.
	Bare bool `json:"bare,omitempty"`
	// Lent says that a hub gave the task to this host, which then does not begin events that an
	// earlier host got.
	Lent bool `json:"lent,omitempty"`
	// Made says that the workspace was made and the creator was told.
	Made bool `json:"made,omitempty"`
	// Sessions counts the task's sessions. Each has its own URI.
	Sessions int `json:"sessions,omitempty"`
	// Begun says that on_create was run, or that the first session was opened.
	Begun bool `json:"begun,omitempty"`
	// LastTurn is the id of the last turn that is completely in the stream.
	LastTurn string `json:"last_turn,omitempty"`
	// Last says how that turn ended.
	Last *TurnOutcome `json:"last,omitempty"`
	// Ended says that nothing is left to do for a final task.
	Ended bool `json:"ended,omitempty"`
}

// Outcome is how a turn ended.
type Outcome string

const (
	OutcomeDone        Outcome = "done"
	OutcomeFailed      Outcome = "failed"      // the agent said so, or its process ended
	OutcomeCancelled   Outcome = "cancelled"   // somebody cancelled it
	OutcomeInterrupted Outcome = "interrupted" // the host died, or somebody ended the session
	OutcomeConflict    Outcome = "conflict"    // what it changed was also changed elsewhere
	OutcomeDisk        Outcome = "disk"        // the disk is full
	OutcomeBudget      Outcome = "budget"      // a limit of the budget was reached
)

// TurnOutcome says how a task's last turn ended.
type TurnOutcome struct {
	EventID string    `json:"event_id"`
	Outcome Outcome   `json:"outcome" enum:"done,failed,cancelled,interrupted,conflict,disk,budget"`
	Reason  string    `json:"reason,omitempty" doc:"Why, when it did not go well"`
	Ended   time.Time `json:"ended_at"`
}

func (t *Task) check() error {
	for _, d := range []struct {
		what string
		raw  json.RawMessage
		most int
	}{{"the params", t.Params, MaxParams}, {"the workspace", t.Workspace, MaxParams}} {
		if err := checkDoc(d.what, d.raw, d.most); err != nil {
			return err
		}
	}
	if t.Progress != nil && (*t.Progress < 0 || *t.Progress > 100) {
		return Errorf(Invalid, "the progress is %d; it is a percentage", *t.Progress)
	}
	return nil
}

// DeleteTask removes a task with its events, messages, states and stream. Its lines stay in the
// agent's log. It returns the id of a filesystem that was made for the task and that no other task
// has; the caller has to remove its files. It also works on a full disk.
func (s *Store) DeleteTask(ctx context.Context, id string) (orphan string, err error) {
	err = s.end(ctx, relaxed, func(tx conn) error {
		t, err := s.Tasks.byID(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := s.Tasks.remove(ctx, tx, id); err != nil {
			return err
		}
		if t.FilesystemID == "" {
			return nil
		}
		alone, err := one[bool](ctx, tx, nil, "select auto <> 0 and not exists (select 1 from tasks where filesystem = ?1) from filesystems where id = ?1", t.FilesystemID)
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

// Project is what filesystems belong to, and what access to them depends on (U58, U93).
type Project struct {
	N           int64  `db:"n" json:"-"`
	ID          string `db:"id" json:"id"`
	Name        string `db:"name" json:"name"`
	Description string `db:"description" json:"description,omitempty"`
	// Dir is the host's directory that the project's tasks work on, absolute, or empty. Only the
	// operator sets it.
	Dir     string    `db:"dir" json:"dir,omitempty" doc:"The directory that its tasks' workspaces are made from"`
	Created time.Time `db:"created" json:"created_at"`
	Updated time.Time `db:"updated" json:"updated_at"`
}

// Filesystem is a stored tree of files that tasks may use (U58, U59).
type Filesystem struct {
	N         int64     `db:"n" json:"-"`
	ID        string    `db:"id" json:"id"`
	ProjectID string    `db:"project" json:"project_id"`
	Name      string    `db:"name" json:"name"`
	Version   string    `db:"version" json:"archive_version" doc:"What it holds: changes with every change"`
	Files     int64     `db:"files" json:"files"`
	Size      int64     `db:"size" json:"size" doc:"In bytes"`
	Auto      bool      `db:"auto" json:"auto,omitempty" doc:"It was made for a task and goes with the last one that has it"`
	Created   time.Time `db:"created" json:"created_at"`
	Updated   time.Time `db:"updated" json:"updated_at"`
}

type budgetRow struct {
	Task    string         `db:"task"`
	Limits  budget.Limits  `db:"limits"`
	Account budget.Account `db:"account"`
}

// Budgets returns the budgets of all tasks.
func (s *Store) Budgets(ctx context.Context) (map[string]budget.Record, error) {
	rows, err := all[budgetRow](ctx, s.reading(), "select task, limits, account from budgets")
	records := make(map[string]budget.Record, len(rows))
	for _, r := range rows {
		records[r.Task] = budget.Record{Limits: r.Limits, Account: r.Account}
	}
	return records, err
}

// KeepBudget stores a task's budget, unless the task is deleted.
func (s *Store) KeepBudget(ctx context.Context, task string, r budget.Record) error {
	row := budgetRow{task, r.Limits, r.Account}
	return s.write(ctx, relaxed, func(tx conn) error {
		return tx.exec(ctx, `insert into budgets (task, limits, account) select ?1, ?2, ?3 where exists (select 1 from tasks where id = ?1)
			on conflict (task) do update set limits = excluded.limits, account = excluded.account`, cells(&row)...)
	})
}
