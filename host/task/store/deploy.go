package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"
)

// Deployment is what a deploy makes a version of.
type Deployment struct {
	// Agent is the name; New says that it is to be made, else it must be there.
	Agent       string
	New         bool
	Description string
	Branch      string
	Environment string
	// Environments are the policies that the definition sets, by name. Those that
	// it doesn't name stay, or are made with their zero value.
	Environments map[string]Policy
	Definition   json.RawMessage
	Hash, Code   string
	// Reason says why it can't run: the version is FAILED, and the branch stays at
	// the one it has (U24).
	Reason string
	// Author is who the version's definition is from; By is who deploys it, "" for
	// the author.
	Author, By string
	Note       string
	// SourceID is the version that this one deploys again.
	SourceID string
	// Unchanged says that nothing is to be done when the active version has the
	// same hash and is ready.
	Unchanged bool
}

// Policy is what an environment says (U28, U30).
type Policy struct {
	Sticky bool            // running tasks stay on their version
	More   json.RawMessage // what the definition says besides
}

// Deployed is what a deploy or a rollback did.
type Deployed struct {
	Agent   Agent   `json:"agent"`
	Branch  Branch  `json:"branch"`
	Version Version `json:"version"`
	// Moved are the tasks that follow to the version (U30).
	Moved []string `json:"moved_task_ids" doc:"Tasks that run on with the version, because those of the environment are not sticky"`
	// Unchanged: it was deployed already.
	Unchanged bool `json:"unchanged,omitempty"`
}

// Deploy makes a version and, when it is ready, the active one of its branch.
func (s *Store) Deploy(ctx context.Context, d Deployment) (got Deployed, err error) {
	if err := checkDoc("the definition", d.Definition, MaxSource); err != nil {
		return got, err
	}
	err = s.write(ctx, durable, func(tx *sql.Tx) error {
		now := s.moment()
		got = Deployed{Moved: []string{}}
		if got.Agent, err = deployedAgent(ctx, s, tx, d, now); err != nil {
			return err
		}
		if got.Branch, err = deployedBranch(ctx, tx, got.Agent.ID, d, now); err != nil {
			return err
		}
		if d.Unchanged && got.Branch.ActiveID != "" && d.Reason == "" {
			active, err := byID[Version](ctx, tx, got.Branch.ActiveID)
			if err != nil {
				return err
			}
			if active.Hash == d.Hash {
				got.Version, got.Unchanged = active, true
				return nil
			}
		}
		if got.Version, err = s.addVersion(ctx, tx, got, d, now); err != nil {
			return err
		}
		if d.Reason != "" {
			got.Branch.Status, got.Branch.Reason, got.Branch.Updated = Failed, d.Reason, now
			err := update(ctx, tx, &got.Branch, nil)
			if err == nil {
				err = noteBranch(ctx, tx, &got.Branch, "failed", got.Version.ID, got.Branch.ActiveID, cmp.Or(d.By, d.Author), d.Reason, now)
			}
			return err
		}
		kind := "deploy"
		if d.SourceID != "" {
			kind = "redeploy"
		}
		return activate(ctx, tx, &got, kind, cmp.Or(d.By, d.Author), d.Note, now)
	})
	return got, err
}

// deployedAgent finds or makes the agent, with its environments.
func deployedAgent(ctx context.Context, s *Store, tx *sql.Tx, d Deployment, now time.Time) (Agent, error) {
	a, err := one[Agent](ctx, tx, ErrNotFound, query[Agent]()+"name = ?", d.Agent)
	switch {
	case errors.Is(err, ErrNotFound) && d.New:
		a = Agent{ID: NewID("agt"), Name: d.Agent, Description: d.Description, Created: now, Updated: now}
		err = insert(ctx, tx, &a, nil)
	case errors.Is(err, ErrNotFound):
		err = Errorf(NotFound, "there is no agent %.60q", d.Agent)
	case err == nil && d.New:
		err = Errorf(Exists, "the agent %q was made meanwhile; deploy again", d.Agent)
	case err == nil:
		a.Updated = now
		if d.Reason == "" && d.SourceID == "" {
			a.Description = d.Description
		}
		err = update(ctx, tx, &a, nil)
	}
	if err != nil {
		return a, err
	}
	if d.Reason == "" {
		for name, p := range d.Environments {
			if err := putEnvironment(ctx, tx, &Environment{AgentID: a.ID, Name: name, Sticky: p.Sticky, Policy: p.More, Updated: now}); err != nil {
				return a, err
			}
		}
	}
	_, err = tx.ExecContext(ctx, "insert or ignore into environments (agent, name, sticky, policy, updated) values (?, ?, 0, '', ?)", a.ID, d.Environment, now.UnixMilli())
	return a, err
}

func deployedBranch(ctx context.Context, tx *sql.Tx, agent string, d Deployment, now time.Time) (Branch, error) {
	b, err := branchNamed(ctx, tx, agent, d.Branch)
	if errors.Is(err, ErrNotFound) {
		b = Branch{ID: NewID("br"), AgentID: agent, Name: d.Branch, Environment: d.Environment, Status: Failed, Created: now, Updated: now}
		err = insert(ctx, tx, &b, nil)
	}
	if err == nil && b.Environment != d.Environment {
		err = Errorf(Invalid, "the branch %q is of the environment %q", b.Name, b.Environment)
	}
	return b, err
}

// addVersion makes a version, with a snapshot of the variables as they are.
func (s *Store) addVersion(ctx context.Context, tx *sql.Tx, to Deployed, d Deployment, now time.Time) (Version, error) {
	v := Version{
		ID: NewID("ver"), AgentID: to.Agent.ID, BranchID: to.Branch.ID, Environment: d.Environment, Hash: d.Hash, Code: d.Code,
		Definition: d.Definition, Status: Ready, Reason: d.Reason, Author: d.Author, SourceID: d.SourceID, Created: now,
	}
	if d.Reason != "" {
		v.Status = Failed
	}
	vars, err := s.variables(ctx, tx, to.Agent.ID, d.Environment)
	if err != nil {
		return v, err
	}
	v.SnapshotID = NewID("snap")
	sealed, err := s.seal.seal(vars, v.SnapshotID)
	if err != nil {
		return v, err
	}
	if _, err := tx.ExecContext(ctx, "insert into snapshots (id, agent, sealed, created) values (?, ?, ?, ?)", v.SnapshotID, v.AgentID, sealed, now.UnixMilli()); err != nil {
		return v, err
	}
	if err := tx.QueryRowContext(ctx, "select coalesce(max(number), 0) + 1 from versions where agent = ?", v.AgentID).Scan(&v.Number); err != nil {
		return v, err
	}
	return v, insert(ctx, tx, &v, nil)
}

// activate moves a branch to got.Version, and its tasks where they are not
// sticky.
func activate(ctx context.Context, tx *sql.Tx, got *Deployed, kind, author, note string, now time.Time) error {
	b := &got.Branch
	previous := b.ActiveID
	b.ActiveID, b.Status, b.Reason, b.Updated = got.Version.ID, Ready, "", now
	if err := update(ctx, tx, b, nil); err != nil {
		return err
	}
	if err := noteBranch(ctx, tx, b, kind, b.ActiveID, previous, author, note, now); err != nil {
		return err
	}
	var sticky bool
	if err := tx.QueryRowContext(ctx, "select sticky from environments where agent = ? and name = ?", b.AgentID, b.Environment).Scan(&sticky); err != nil {
		return err
	}
	if sticky {
		return nil
	}
	var err error
	got.Moved, err = moveTasks(ctx, tx, b.ActiveID, now, "branch = ? and version <> ?", b.ID, b.ActiveID)
	return err
}

// moveTasks sets the version of tasks that are not final, and gives their ids.
func moveTasks(ctx context.Context, tx *sql.Tx, to string, now time.Time, where string, args ...any) ([]string, error) {
	rows, err := tx.QueryContext(ctx, "update tasks set version = ?, updated = ? where "+where+" and "+notFinal+" returning id",
		append([]any{to, now.UnixMilli()}, args...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	moved := []string{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		moved = append(moved, id)
	}
	return moved, rows.Err()
}

func noteBranch(ctx context.Context, tx *sql.Tx, b *Branch, kind, version, previous, author, note string, now time.Time) error {
	e := BranchEvent{ID: NewID("bev"), BranchID: b.ID, Kind: kind, VersionID: version, PreviousID: previous, Author: author, Note: note, Created: now}
	return insert(ctx, tx, &e, nil)
}

// Rollback moves a branch to another version that was deployed on it, or with ""
// to the one before the active one. The version runs with its own snapshot; the
// variables stay as they are (U31).
func (s *Store) Rollback(ctx context.Context, branchID, versionID, author, note string) (got Deployed, err error) {
	err = s.write(ctx, durable, func(tx *sql.Tx) error {
		got = Deployed{Moved: []string{}}
		if got.Branch, err = byID[Branch](ctx, tx, branchID); err != nil {
			return err
		}
		if got.Agent, err = named[Agent](ctx, s, tx, got.Branch.AgentID); err != nil {
			return err
		}
		if versionID == "" {
			got.Version, err = one[Version](ctx, tx, Errorf(Stale, "the branch %q has no earlier version to roll back to", got.Branch.Name),
				query[Version]()+"branch = ?1 and status = 'READY' and number < (select number from versions where id = ?2) order by number desc limit 1",
				branchID, got.Branch.ActiveID)
		} else {
			got.Version, err = byID[Version](ctx, tx, versionID)
		}
		switch v := got.Version; {
		case err != nil:
			return err
		case v.BranchID != branchID:
			return Errorf(Invalid, "version %d was not deployed on the branch %q", v.Number, got.Branch.Name)
		case v.Status != Ready:
			return Errorf(Invalid, "version %d failed: %s", v.Number, v.Reason)
		case v.ID == got.Branch.ActiveID:
			return Errorf(Stale, "version %d is the active one already", v.Number)
		}
		return activate(ctx, tx, &got, "rollback", author, note, s.moment())
	})
	return got, err
}

// Migration moves tasks between versions of one branch (U32).
type Migration struct {
	Tasks    []string // ids; all must be of one branch and not final
	To       string   // id of a version; "": the active one of the branch
	BranchID string
}

// Migrate moves tasks, all or none.
func (s *Store) Migrate(ctx context.Context, m Migration) (to Version, moved []string, err error) {
	err = s.write(ctx, durable, func(tx *sql.Tx) error {
		b, err := byID[Branch](ctx, tx, m.BranchID)
		if err != nil {
			return err
		}
		id := m.To
		if id == "" {
			id = b.ActiveID
		}
		if to, err = byID[Version](ctx, tx, id); err != nil {
			return err
		}
		switch {
		case to.BranchID != b.ID:
			return Errorf(Invalid, "version %d was not deployed on the branch %q: tasks move within one branch", to.Number, b.Name)
		case to.Status != Ready:
			return Errorf(Invalid, "version %d failed: %s", to.Number, to.Reason)
		}
		now := s.moment()
		moved = []string{}
		for _, id := range m.Tasks {
			t, err := byID[Task](ctx, tx, id)
			switch {
			case err != nil:
				return err
			case t.BranchID != b.ID:
				return Errorf(Invalid, "the task %s is not of the branch %q: tasks move within one branch", t.ID, b.Name)
			case t.Status.Final():
				return Errorf(Invalid, "the task %s is %s; there is nothing to migrate", t.ID, t.Status)
			}
			one, err := moveTasks(ctx, tx, to.ID, now, "id = ? and version <> ?", id, to.ID)
			if err != nil {
				return err
			}
			moved = append(moved, one...)
		}
		return nil
	})
	return to, moved, err
}
