package store

import (
	"context"
	"time"

	"tandemux/host/task/access"
)

// APIKey is a key for the HTTP interface (U87, U97), without the secret.
type APIKey struct {
	N       int64          `db:"n" json:"-"`
	ID      string         `db:"id" json:"id"`
	Name    string         `db:"name" json:"name"`
	Hash    []byte         `db:"hash" json:"-"` // SHA-256 of the secret
	Scopes  []access.Scope `db:"scopes" json:"scopes"`
	Author  string         `db:"author" json:"author"`
	Created time.Time      `db:"created" json:"created_at"`
	Used    time.Time      `db:"used" json:"last_used_at,omitzero"`
	Expires time.Time      `db:"expires" json:"expires_at,omitzero"`
	Revoked time.Time      `db:"revoked" json:"revoked_at,omitzero"`
}

// CreateKey adds a key, and sets its id and time.
func (s *Store) CreateKey(ctx context.Context, k APIKey) (APIKey, error) {
	if k.Scopes == nil {
		k.Scopes = []access.Scope{}
	}
	err := s.write(ctx, durable, func(tx conn) error {
		n, err := one[int](ctx, tx, nil, "select count(*) from keys where revoked = 0")
		if err != nil {
			return err
		}
		if n >= MaxKeys {
			return Errorf(InUse, "there are %d keys already: revoke some first", n)
		}
		return s.Keys.insert(ctx, tx, &k)
	})
	return k, err
}

// Key finds a key by id, name or the beginning of an id. Of several with a name it returns the one
// that is not revoked.
func (s *Store) Key(ctx context.Context, ref string) (APIKey, error) {
	if k, err := s.Keys.one(ctx, s.reading(), NotFound, "name = ? and revoked = 0", ref); err == nil {
		return k, nil
	}
	return s.Keys.Find(ctx, ref)
}

// ValidKeys returns all keys that are not revoked.
func (s *Store) ValidKeys(ctx context.Context) ([]APIKey, error) {
	return all[APIKey](ctx, s.reading(), s.Keys.query()+"revoked = 0")
}

// TouchKey notes that a key was used.
func (s *Store) TouchKey(ctx context.Context, id string, when time.Time) error {
	return s.write(ctx, relaxed, func(tx conn) error {
		return tx.exec(ctx, "update keys set used = ? where id = ?", when.UnixMilli(), id)
	})
}
