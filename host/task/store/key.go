package store

import (
	"context"
	"database/sql"
	"time"

	"tandemux/host/task/access"
)

// APIKey is what authenticates calls of the interface (U87, U97): everything but
// the secret itself.
type APIKey struct {
	n       int64
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Hash    []byte         `json:"-"` // SHA-256 of the secret
	Scopes  []access.Scope `json:"scopes"`
	TaskID  string         `json:"task_id,omitempty" doc:"The task that it is for; it speaks for that task alone"`
	Author  string         `json:"author"`
	Created time.Time      `json:"created_at"`
	Used    time.Time      `json:"last_used_at,omitzero"`
	Expires time.Time      `json:"expires_at,omitzero"`
	Revoked time.Time      `json:"revoked_at,omitzero"`
}

func (*APIKey) kind() kind {
	return kind{"key", "keys", "n, id, name, hash, scopes, task, author, created, used, expires, revoked"}
}

func (k *APIKey) row() []any {
	return []any{
		&k.n, &k.ID, &k.Name, &k.Hash,
		list[[]access.Scope]{&k.Scopes},
		optional{&k.TaskID},
		&k.Author,
		at{&k.Created},
		at{&k.Used},
		at{&k.Expires},
		at{&k.Revoked},
	}
}

// CreateKey adds a key, whose id and time it sets.
func (s *Store) CreateKey(ctx context.Context, k APIKey) (APIKey, error) {
	k.ID, k.Created = NewID("key"), s.moment()
	if k.Scopes == nil {
		k.Scopes = []access.Scope{}
	}
	return k, s.write(ctx, durable, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, "select count(*) from keys where revoked = 0 and task is null").Scan(&n); err != nil {
			return err
		}
		if n >= MaxKeys && k.TaskID == "" {
			return Errorf(InUse, "there are %d keys already: revoke some first", n)
		}
		return insert(ctx, tx, &k, Errorf(Exists, "there is a key named %q already", k.Name))
	})
}

// Key finds one by id, name or the beginning of an id; of those with one name the
// one that is not revoked.
func (s *Store) Key(ctx context.Context, ref string) (APIKey, error) {
	k, err := one[APIKey](ctx, s.r, ErrNotFound, query[APIKey]()+"name = ? and revoked = 0 and task is null", ref)
	if err == nil {
		return k, nil
	}
	return named[APIKey](ctx, s, s.r, ref)
}

// Keys lists those that are not tasks' own, revoked ones too, oldest first.
func (s *Store) Keys(ctx context.Context, p Page) ([]APIKey, string, error) {
	return page[APIKey](ctx, s, p, false, "task is null and ")
}

// ValidKeys gives all keys that are not revoked, tasks' own too.
func (s *Store) ValidKeys(ctx context.Context) ([]APIKey, error) {
	found, err := all[APIKey](ctx, s.r, query[APIKey]()+"revoked = 0")
	return found, s.explain(err)
}

// UpdateKey changes one: what change refuses is left as it is.
func (s *Store) UpdateKey(ctx context.Context, id string, change func(*APIKey) error) (APIKey, error) {
	return edit(ctx, s, durable, id, change)
}

// TouchKey notes that a key was used.
func (s *Store) TouchKey(ctx context.Context, id string, when time.Time) error {
	return s.write(ctx, relaxed, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "update keys set used = ? where id = ?", when.UnixMilli(), id)
		return err
	})
}
