package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"
)

// Agent is a definition that may be run, by its name; what it runs is in its
// versions.
type Agent struct {
	n           int64
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Created     time.Time `json:"created_at"`
	Updated     time.Time `json:"updated_at"`
}

func (*Agent) kind() kind {
	return kind{"agent", "agents", "n, id, name, description, created, updated"}
}

func (a *Agent) row() []any {
	return []any{&a.n, &a.ID, &a.Name, &a.Description, at{&a.Created}, at{&a.Updated}}
}

// Agent finds one by id, name or the beginning of an id (U19, U23).
func (s *Store) Agent(ctx context.Context, ref string) (Agent, error) {
	return named[Agent](ctx, s, s.r, ref)
}

// Agents lists them, oldest first.
func (s *Store) Agents(ctx context.Context, p Page) ([]Agent, string, error) {
	return page[Agent](ctx, s, p, false, "")
}

// DeleteAgent removes one that no task is of, with its versions, branches,
// environments, variables and logs.
func (s *Store) DeleteAgent(ctx context.Context, id string) error {
	err := s.write(ctx, durable, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, "select count(*) from tasks where agent = ?", id).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return Errorf(InUse, "%d tasks are of this agent; delete them first", n)
		}
		// Versions refer to snapshots and branches to versions: in this order.
		for _, query := range []string{
			"update branches set active = null where agent = ?", "delete from versions where agent = ?",
			"delete from snapshots where agent = ?", "delete from states where agent = ?",
		} {
			if _, err := tx.ExecContext(ctx, query, id); err != nil {
				return err
			}
		}
		return remove[Agent](ctx, tx, id)
	})
	if err == nil {
		s.sizes.mu.Lock()
		delete(s.sizes.logs, id)
		s.sizes.mu.Unlock()
	}
	return err
}

// Status is how a deploy went (U24).
type Status string

const (
	Ready  Status = "READY"
	Failed Status = "FAILED"
)

// Version is an agent as it was deployed once (U25, U27). It never changes.
type Version struct {
	n           int64
	ID          string          `json:"id"`
	AgentID     string          `json:"agent_id"`
	BranchID    string          `json:"branch_id"`
	Environment string          `json:"environment"`
	Number      int             `json:"number" doc:"Counts the agent's versions from 1"`
	Hash        string          `json:"hash" doc:"SHA-256 of the definition and its files"`
	Code        string          `json:"code,omitempty" doc:"SHA-256 of its files, absent when it has none"`
	Definition  json.RawMessage `json:"definition"`
	SnapshotID  string          `json:"secrets_snapshot" doc:"The variables as they were"`
	Status      Status          `json:"status" enum:"READY,FAILED"`
	Reason      string          `json:"reason,omitempty" doc:"Why it failed"`
	Author      string          `json:"author"`
	SourceID    string          `json:"source_id,omitempty" doc:"The version that it deploys again"`
	Created     time.Time       `json:"created_at"`
}

func (*Version) kind() kind {
	return kind{"version", "versions", "n, id, agent, branch, environment, number, hash, code, definition, snapshot, status, reason, author, source, created"}
}

func (v *Version) row() []any {
	return []any{
		&v.n, &v.ID, &v.AgentID, &v.BranchID, &v.Environment, &v.Number, &v.Hash, &v.Code,
		doc{&v.Definition},
		&v.SnapshotID,
		(*string)(&v.Status), &v.Reason, &v.Author,
		optional{&v.SourceID},
		at{&v.Created},
	}
}

// Version finds one by its id.
func (s *Store) Version(ctx context.Context, id string) (Version, error) {
	return get[Version](ctx, s, id)
}

// VersionNumbered finds the version of an agent by its number.
func (s *Store) VersionNumbered(ctx context.Context, agent string, number int) (Version, error) {
	v, err := one[Version](ctx, s.r, Errorf(NotFound, "the agent has no version %d", number),
		query[Version]()+"agent = ? and number = ?", agent, number)
	return v, s.explain(err)
}

// Versions lists an agent's, or with a branch that branch's, newest first (U26,
// U27).
func (s *Store) Versions(ctx context.Context, agent, branch string, p Page) ([]Version, string, error) {
	return page[Version](ctx, s, p, true, "agent = ?1 and (?2 = '' or branch = ?2) and ", agent, branch)
}

// Codes gives the hashes of all files that versions have.
func (s *Store) Codes(ctx context.Context) (map[string]bool, error) {
	rows, err := s.r.QueryContext(ctx, "select distinct code from versions where code <> ''")
	if err != nil {
		return nil, s.explain(err)
	}
	defer rows.Close()
	codes := map[string]bool{}
	for rows.Next() {
		var c string
		if err := rows.Scan(&c); err != nil {
			return nil, s.explain(err)
		}
		codes[c] = true
	}
	return codes, s.explain(rows.Err())
}

// Branch points at the version that new tasks of it get (U25, U26).
type Branch struct {
	n           int64
	ID          string    `json:"id"`
	AgentID     string    `json:"agent_id"`
	Name        string    `json:"name"`
	Environment string    `json:"environment"`
	ActiveID    string    `json:"version_id,omitempty" doc:"The active version; absent when none was ever ready"`
	Status      Status    `json:"status" doc:"How its last deploy went" enum:"READY,FAILED"`
	Reason      string    `json:"reason,omitempty"`
	Created     time.Time `json:"created_at"`
	Updated     time.Time `json:"updated_at"`
}

func (*Branch) kind() kind {
	return kind{"branch", "branches", "n, id, agent, name, environment, active, status, reason, created, updated"}
}

func (b *Branch) row() []any {
	return []any{
		&b.n, &b.ID, &b.AgentID, &b.Name, &b.Environment, optional{&b.ActiveID}, (*string)(&b.Status), &b.Reason, at{&b.Created}, at{&b.Updated},
	}
}

// Branch finds one by its id.
func (s *Store) Branch(ctx context.Context, id string) (Branch, error) {
	return get[Branch](ctx, s, id)
}

// BranchNamed finds an agent's branch by its name.
func (s *Store) BranchNamed(ctx context.Context, agent, name string) (Branch, error) {
	b, err := branchNamed(ctx, s.r, agent, name)
	return b, s.explain(err)
}

func branchNamed(ctx context.Context, q querier, agent, name string) (Branch, error) {
	return one[Branch](ctx, q, Errorf(NotFound, "nothing was deployed on the branch %.60q", name),
		query[Branch]()+"agent = ? and name = ?", agent, name)
}

// Branches lists an agent's, of one environment or for "" of all, oldest first.
func (s *Store) Branches(ctx context.Context, agent, environment string, p Page) ([]Branch, string, error) {
	return page[Branch](ctx, s, p, false, "agent = ?1 and (?2 = '' or environment = ?2) and ", agent, environment)
}

// BranchEvent is what happened to a branch (U26, U107).
type BranchEvent struct {
	n          int64
	ID         string    `json:"id"`
	BranchID   string    `json:"branch_id"`
	Kind       string    `json:"kind" enum:"deploy,redeploy,rollback,failed"`
	VersionID  string    `json:"version_id"`
	PreviousID string    `json:"previous_version_id,omitempty" doc:"The version that was active before"`
	Author     string    `json:"author"`
	Note       string    `json:"note,omitempty"`
	Created    time.Time `json:"created_at"`
}

func (*BranchEvent) kind() kind {
	return kind{"event of a branch", "branch_events", "n, id, branch, kind, version, previous, author, note, created"}
}

func (e *BranchEvent) row() []any {
	return []any{&e.n, &e.ID, &e.BranchID, &e.Kind, &e.VersionID, optional{&e.PreviousID}, &e.Author, &e.Note, at{&e.Created}}
}

// BranchEvents lists what happened to a branch, newest first.
func (s *Store) BranchEvents(ctx context.Context, branch string, p Page) ([]BranchEvent, string, error) {
	return page[BranchEvent](ctx, s, p, true, "branch = ? and ", branch)
}
