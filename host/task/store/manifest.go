package store

import (
	"context"
	"database/sql"
	"errors"
)

// Manifest gives what is known of a tree's files, as who wrote it encoded it, and
// its version; none and "" when there is none. The owner is a filesystem's id or
// any other name.
func (s *Store) Manifest(ctx context.Context, owner string) (data []byte, version string, err error) {
	err = s.r.QueryRowContext(ctx, "select data, version from manifests where owner = ?", owner).Scan(&data, &version)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, "", nil
	}
	return data, version, s.explain(err)
}

// PutManifest replaces a manifest whose version is base, "" for none; another
// version is Stale. A filesystem's record gets the version and sizes too, in the
// same transaction.
func (s *Store) PutManifest(ctx context.Context, owner, base, version string, data []byte, files, size int64) error {
	return s.write(ctx, relaxed, func(tx *sql.Tx) error {
		var have string
		err := tx.QueryRowContext(ctx, "select version from manifests where owner = ?", owner).Scan(&have)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if have != base {
			return Errorf(Stale, "the files changed meanwhile")
		}
		now := s.moment().UnixMilli()
		if _, err := tx.ExecContext(ctx, "insert or replace into manifests (owner, version, data, updated) values (?, ?, ?, ?)", owner, version, append([]byte{}, data...), now); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "update filesystems set version = ?, files = ?, size = ?, updated = ? where id = ?", version, files, size, now, owner)
		return err
	})
}

// DeleteManifest forgets a manifest, if there is one.
func (s *Store) DeleteManifest(ctx context.Context, owner string) error {
	return s.write(ctx, relaxed, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "delete from manifests where owner = ?", owner)
		return err
	})
}
