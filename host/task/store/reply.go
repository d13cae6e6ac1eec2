package store

import (
	"context"
	"crypto/subtle"
	"database/sql"
	"errors"
	"time"
)

// repliesLast is how long an answer can be replayed.
const repliesLast = 24 * time.Hour

// Reply is the stored answer to a request, which a repeated request gets (U66).
type Reply struct {
	Status int
	Header string // JSON, in a form of the caller's
	Body   []byte
}

type replyRow struct {
	Author  string    `db:"author"`
	Key     string    `db:"key"`
	Digest  []byte    `db:"digest"`
	Life    string    `db:"life"`
	Status  int       `db:"status"`
	Header  string    `db:"header"`
	Body    []byte    `db:"body"`
	Created time.Time `db:"created"`
}

// Reserve begins a request with an idempotency key. If it returns a Reply, the request was done before
// and that is the answer. If not, the caller does the request and calls Settle or Abandon. The error
// is Stale for another request with the same key, and Busy while the same request is being done.
func (s *Store) Reserve(ctx context.Context, author, key string, digest [32]byte) (*Reply, error) {
	var found *Reply
	err := s.write(ctx, relaxed, func(tx conn) error {
		now := s.moment()
		if err := tx.exec(ctx, "delete from replies where created < ?", now.Add(-repliesLast).UnixMilli()); err != nil {
			return err
		}
		var have []byte
		var whose string
		var r Reply
		err := tx.QueryRowContext(ctx, "select digest, life, status, header, body from replies where author = ? and key = ?", author, key).
			Scan(&have, &whose, &r.Status, &r.Header, &r.Body)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		case subtle.ConstantTimeCompare(have, digest[:]) != 1:
			return Errorf(Stale, "this idempotency key was used for another request")
		case r.Status != 0:
			found = &r
			return nil
		case whose == s.life:
			return Errorf(Busy, "the same request is being done; ask again")
		}
		return put(ctx, tx, "replies", 2, replyRow{author, key, digest[:], s.life, 0, "", []byte{}, now})
	})
	return found, err
}

// Settle stores the answer of a reserved request.
func (s *Store) Settle(ctx context.Context, author, key string, r Reply) error {
	if len(r.Body) > MaxReply {
		return Errorf(TooLarge, "the answer has %d bytes, more than %d", len(r.Body), MaxReply)
	}
	return s.write(ctx, relaxed, func(tx conn) error {
		return tx.exec(ctx, "update replies set status = ?, header = ?, body = ? where author = ? and key = ?", r.Status, r.Header, append([]byte{}, r.Body...), author, key)
	})
}

// Abandon removes a reserved request that failed, so that it may be tried again.
func (s *Store) Abandon(ctx context.Context, author, key string) error {
	return s.write(ctx, relaxed, func(tx conn) error {
		return tx.exec(ctx, "delete from replies where author = ? and key = ? and status = 0", author, key)
	})
}
