package store

import (
	"context"
	"encoding/json"
	"time"
)

// Agent is an agent by its name. Its versions say what it runs.
type Agent struct {
	N           int64     `db:"n" json:"-"`
	ID          string    `db:"id" json:"id"`
	Name        string    `db:"name" json:"name"`
	Description string    `db:"description" json:"description,omitempty"`
	Created     time.Time `db:"created" json:"created_at"`
	Updated     time.Time `db:"updated" json:"updated_at"`
}

// DeleteAgent removes an agent that no task uses, with its versions, branches, environments, variables
// and logs. The error is InUse if a task uses it.
func (s *Store) DeleteAgent(ctx context.Context, id string) error {
	err := s.write(ctx, durable, func(tx conn) error {
		if err := s.Agents.unused(ctx, tx, id); err != nil {
			return err
		}
		// Versions refer to snapshots and branches to versions: in this order.
		for _, query := range []string{
			"update branches set active = null where agent = ?", "delete from versions where agent = ?",
			"delete from snapshots where agent = ?", "delete from states where agent = ?",
		} {
			if err := tx.exec(ctx, query, id); err != nil {
				return err
			}
		}
		return s.Agents.remove(ctx, tx, id)
	})
	if err == nil {
		s.sizes.mu.Lock()
		delete(s.sizes.logs, id)
		s.sizes.mu.Unlock()
	}
	return err
}

// Status says whether a deploy succeeded (U24).
type Status string

const (
	Ready  Status = "READY"
	Failed Status = "FAILED"
)

// Version is what one deploy of an agent made (U25, U27). It never changes.
type Version struct {
	N           int64           `db:"n" json:"-"`
	ID          string          `db:"id" json:"id"`
	AgentID     string          `db:"agent" json:"agent_id"`
	BranchID    string          `db:"branch" json:"branch_id"`
	Environment string          `db:"environment" json:"environment"`
	Number      int             `db:"number" json:"number" doc:"Counts the agent's versions from 1"`
	Hash        string          `db:"hash" json:"hash" doc:"SHA-256 of the definition and its files"`
	Code        string          `db:"code" json:"code,omitempty" doc:"SHA-256 of its files, absent when it has none"`
	Definition  json.RawMessage `db:"definition" json:"definition"`
	SnapshotID  string          `db:"snapshot" json:"secrets_snapshot" doc:"The variables as they were"`
	Status      Status          `db:"status" json:"status" enum:"READY,FAILED"`
	Reason      string          `db:"reason" json:"reason,omitempty" doc:"Why it failed"`
	Author      string          `db:"author" json:"author"`
	SourceID    string          `db:"source,ref" json:"source_id,omitempty" doc:"The version that it deploys again"`
	Created     time.Time       `db:"created" json:"created_at"`
}

// VersionNumbered returns the version of an agent with the number.
func (s *Store) VersionNumbered(ctx context.Context, agent string, number int) (Version, error) {
	return s.Versions.one(ctx, s.reading(), Errorf(NotFound, "the agent has no version %d", number), "agent = ? and number = ?", agent, number)
}

// Newest returns the version that was activated last in an agent's environment.
func (s *Store) Newest(ctx context.Context, agent, environment string) (Version, error) {
	return s.Versions.one(ctx, s.reading(), NotFound,
		"id = (select active from branches where agent = ? and environment = ? and active is not null order by updated desc, n desc limit 1)", agent, environment)
}

// Codes returns the hashes of the files of all versions.
func (s *Store) Codes(ctx context.Context) ([]string, error) {
	return all[string](ctx, s.reading(), "select distinct code from versions where code <> ''")
}

// Branch points to the version that its new tasks get (U25, U26).
type Branch struct {
	N           int64     `db:"n" json:"-"`
	ID          string    `db:"id" json:"id"`
	AgentID     string    `db:"agent" json:"agent_id"`
	Name        string    `db:"name" json:"name"`
	Environment string    `db:"environment" json:"environment"`
	ActiveID    string    `db:"active,ref" json:"version_id,omitempty" doc:"The active version; absent when none was ever ready"`
	Status      Status    `db:"status" json:"status" doc:"How its last deploy went" enum:"READY,FAILED"`
	Reason      string    `db:"reason" json:"reason,omitempty"`
	Created     time.Time `db:"created" json:"created_at"`
	Updated     time.Time `db:"updated" json:"updated_at"`
}

// BranchNamed returns the branch of an agent with the name.
func (s *Store) BranchNamed(ctx context.Context, agent, name string) (Branch, error) {
	return s.branchNamed(ctx, s.reading(), agent, name)
}

func (s *Store) branchNamed(ctx context.Context, q conn, agent, name string) (Branch, error) {
	return s.Branches.one(ctx, q, Errorf(NotFound, "nothing was deployed on the branch %.60q", name), "agent = ? and name = ?", agent, name)
}

// BranchEvent is a change of a branch (U26, U107).
type BranchEvent struct {
	N          int64     `db:"n" json:"-"`
	ID         string    `db:"id" json:"id"`
	BranchID   string    `db:"branch" json:"branch_id"`
	Kind       string    `db:"kind" json:"kind" enum:"deploy,redeploy,rollback,failed"`
	VersionID  string    `db:"version" json:"version_id"`
	PreviousID string    `db:"previous,ref" json:"previous_version_id,omitempty" doc:"The version that was active before"`
	Author     string    `db:"author" json:"author"`
	Note       string    `db:"note" json:"note,omitempty"`
	Created    time.Time `db:"created" json:"created_at"`
}
