package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Deployment is what Deploy makes a version of.
type Deployment struct {
	// Agent is the agent's name. New says that the agent has to be made; else it must exist.
	Agent       string
	New         bool
	Description string
	Branch      string
	Environment string
	// Sticky says for an environment whether running tasks stay on their version (U28, U30).
	// Environments that it does not name keep their setting, which is false for new ones.
	Sticky     map[string]bool
	Definition json.RawMessage
	Hash, Code string
	// Reason says why the version can't run. The version is then FAILED, and the branch keeps its
	// active version (U24).
	Reason string
	// Author is the author of the definition. By is who deploys it; "" means the author.
	Author, By string
	Note       string
	// SourceID is the version that this deploy repeats.
	SourceID string
	// Unchanged makes Deploy do nothing if the active version has the same hash and is ready.
	Unchanged bool
}

// Deployed is the result of a deploy or a rollback.
type Deployed struct {
	Agent   Agent   `json:"agent"`
	Branch  Branch  `json:"branch"`
	Version Version `json:"version"`
	// Moved are the tasks that go on with the version (U30).
	Moved []string `json:"moved_task_ids" doc:"Tasks that run on with the version, because those of the environment are not sticky"`
	// Unchanged says that it was deployed already.
	Unchanged bool `json:"unchanged,omitempty"`
}

// Deploy makes a version, and makes it the active one of its branch if it is ready.
func (s *Store) Deploy(ctx context.Context, d Deployment) (got Deployed, err error) {
	if err := checkDoc("the definition", d.Definition, MaxSource); err != nil {
		return got, err
	}
	err = s.write(ctx, durable, func(tx conn) error {
		now := s.moment()
		got = Deployed{Moved: []string{}}
		if got.Agent, err = s.deployedAgent(ctx, tx, d, now); err != nil {
			return err
		}
		if got.Branch, err = s.deployedBranch(ctx, tx, got.Agent.ID, d); err != nil {
			return err
		}
		if d.Unchanged && got.Branch.ActiveID != "" && d.Reason == "" {
			active, err := s.Versions.byID(ctx, tx, got.Branch.ActiveID)
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
			got.Branch.Status, got.Branch.Reason = Failed, d.Reason
			if err := s.Branches.update(ctx, tx, &got.Branch); err != nil {
				return err
			}
			return s.BranchEvents.insert(ctx, tx, &BranchEvent{
				BranchID: got.Branch.ID, Kind: "failed", VersionID: got.Version.ID, PreviousID: got.Branch.ActiveID, Author: cmp.Or(d.By, d.Author), Note: d.Reason,
			})
		}
		kind := "deploy"
		if d.SourceID != "" {
			kind = "redeploy"
		}
		return s.activate(ctx, tx, &got, kind, cmp.Or(d.By, d.Author), d.Note)
	})
	return got, err
}

// deployedAgent returns the agent with its environments, and makes what does not exist.
func (s *Store) deployedAgent(ctx context.Context, tx conn, d Deployment, now time.Time) (Agent, error) {
	a, err := s.Agents.one(ctx, tx, NotFound, "name = ?", d.Agent)
	switch {
	case errors.Is(err, NotFound) && d.New:
		a = Agent{Name: d.Agent, Description: d.Description}
		err = s.Agents.insert(ctx, tx, &a)
	case errors.Is(err, NotFound):
		err = Errorf(NotFound, "there is no agent %.60q", d.Agent)
	case err == nil && d.New:
		err = Errorf(Exists, "the agent %q was made meanwhile; deploy again", d.Agent)
	case err == nil:
		if d.Reason == "" && d.SourceID == "" {
			a.Description = d.Description
		}
		err = s.Agents.update(ctx, tx, &a)
	}
	if err != nil {
		return a, err
	}
	if d.Reason == "" {
		for name, sticky := range d.Sticky {
			if err := put(ctx, tx, "environments", 2, Environment{AgentID: a.ID, Name: name, Sticky: sticky, Updated: now}); err != nil {
				return a, err
			}
		}
	}
	return a, s.needEnvironment(ctx, tx, a.ID, d.Environment)
}

func (s *Store) deployedBranch(ctx context.Context, tx conn, agent string, d Deployment) (Branch, error) {
	b, err := s.branchNamed(ctx, tx, agent, d.Branch)
	if errors.Is(err, NotFound) {
		b = Branch{AgentID: agent, Name: d.Branch, Environment: d.Environment, Status: Failed}
		err = s.Branches.insert(ctx, tx, &b)
	}
	if err == nil && b.Environment != d.Environment {
		err = Errorf(Invalid, "the branch %q is of the environment %q", b.Name, b.Environment)
	}
	return b, err
}

// addVersion makes a version, with a snapshot of the current variables.
func (s *Store) addVersion(ctx context.Context, tx conn, to Deployed, d Deployment, now time.Time) (Version, error) {
	v := Version{
		AgentID: to.Agent.ID, BranchID: to.Branch.ID, Environment: d.Environment, Hash: d.Hash, Code: d.Code,
		Definition: d.Definition, Status: Ready, Reason: d.Reason, Author: d.Author, SourceID: d.SourceID, SnapshotID: NewID("snap"),
	}
	if d.Reason != "" {
		v.Status = Failed
	}
	vars, err := s.variables(ctx, tx, to.Agent.ID, d.Environment)
	if err != nil {
		return v, err
	}
	sealed, err := s.seal.seal(vars, v.SnapshotID)
	if err != nil {
		return v, err
	}
	if err := tx.exec(ctx, "insert into snapshots (id, agent, sealed, created) values (?, ?, ?, ?)", v.SnapshotID, v.AgentID, sealed, now.UnixMilli()); err != nil {
		return v, err
	}
	if v.Number, err = one[int](ctx, tx, nil, "select coalesce(max(number), 0) + 1 from versions where agent = ?", v.AgentID); err != nil {
		return v, err
	}
	err = s.Versions.insert(ctx, tx, &v)
	return v, err
}

// activate makes got.Version the active one of its branch, and moves tasks that are not sticky to it.
func (s *Store) activate(ctx context.Context, tx conn, got *Deployed, kind, author, note string) error {
	b := &got.Branch
	event := BranchEvent{BranchID: b.ID, Kind: kind, VersionID: got.Version.ID, PreviousID: b.ActiveID, Author: author, Note: note}
	if err := s.BranchEvents.insert(ctx, tx, &event); err != nil {
		return err
	}
	b.ActiveID, b.Status, b.Reason = got.Version.ID, Ready, ""
	if err := s.Branches.update(ctx, tx, b); err != nil {
		return err
	}
	sticky, err := one[bool](ctx, tx, nil, "select sticky from environments where agent = ? and name = ?", b.AgentID, b.Environment)
	if err != nil || sticky {
		return err
	}
	got.Moved, err = s.moveTasks(ctx, tx, b.ActiveID, "branch = ? and version <> ?", b.ID, b.ActiveID)
	return err
}

// moveTasks sets the version of the tasks that are not final and match where, and returns their ids.
func (s *Store) moveTasks(ctx context.Context, tx conn, to, where string, args ...any) ([]string, error) {
	return all[string](ctx, tx, "update tasks set version = ?, updated = ? where "+where+" and "+notFinal+" returning id",
		append([]any{to, s.moment().UnixMilli()}, args...)...)
}

// Rollback makes another version that was deployed on a branch the active one; "" means the one before
// the active one. The version runs with its own snapshot; variables are not changed (U31).
func (s *Store) Rollback(ctx context.Context, branchID, versionID, author, note string) (got Deployed, err error) {
	err = s.write(ctx, durable, func(tx conn) error {
		got = Deployed{Moved: []string{}}
		if got.Branch, err = s.Branches.byID(ctx, tx, branchID); err != nil {
			return err
		}
		if got.Agent, err = s.Agents.byID(ctx, tx, got.Branch.AgentID); err != nil {
			return err
		}
		if versionID == "" {
			got.Version, err = s.Versions.one(ctx, tx, Errorf(Stale, "the branch %q has no earlier version to roll back to", got.Branch.Name),
				"branch = ?1 and status = 'READY' and number < (select number from versions where id = ?2) order by number desc limit 1",
				branchID, got.Branch.ActiveID)
		} else {
			got.Version, err = s.Versions.byID(ctx, tx, versionID)
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
		return s.activate(ctx, tx, &got, "rollback", author, note)
	})
	return got, err
}

// Migration says which tasks of a branch to move to which version (U32).
type Migration struct {
	Tasks    []string // ids of tasks of the branch that are not final
	To       string   // id of a version; "" means the branch's active one
	BranchID string
}

// Migrate moves either all tasks or, on an error, none.
func (s *Store) Migrate(ctx context.Context, m Migration) (to Version, moved []string, err error) {
	err = s.write(ctx, durable, func(tx conn) error {
		b, err := s.Branches.byID(ctx, tx, m.BranchID)
		if err != nil {
			return err
		}
		id := cmp.Or(m.To, b.ActiveID)
		if to, err = s.Versions.byID(ctx, tx, id); err != nil {
			return err
		}
		switch {
		case to.BranchID != b.ID:
			return Errorf(Invalid, "version %d was not deployed on the branch %q: tasks move within one branch", to.Number, b.Name)
		case to.Status != Ready:
			return Errorf(Invalid, "version %d failed: %s", to.Number, to.Reason)
		}
		moved = []string{}
		for _, id := range m.Tasks {
			t, err := s.Tasks.byID(ctx, tx, id)
			switch {
			case err != nil:
				return err
			case t.BranchID != b.ID:
				return Errorf(Invalid, "the task %s is not of the branch %q: tasks move within one branch", t.ID, b.Name)
			case t.Status.Final():
				return Errorf(Invalid, "the task %s is %s; there is nothing to migrate", t.ID, t.Status)
			}
			one, err := s.moveTasks(ctx, tx, to.ID, "id = ? and version <> ?", id, to.ID)
			if err != nil {
				return err
			}
			moved = append(moved, one...)
		}
		return nil
	})
	return to, moved, err
}
