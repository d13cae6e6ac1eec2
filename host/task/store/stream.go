package store

import (
	"context"
	"database/sql"
	"encoding/json"
)

// StreamEvent is one of those that readers of a task's stream get (U47, U48).
type StreamEvent struct {
	Seq  int64           `json:"seq"` // counts a task's from 1, without gaps
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

func (e *StreamEvent) row() []any { return []any{&e.Seq, &e.Type, doc{&e.Data}} }

// AppendStream adds events to a task's stream and gives the last one's number.
// What is beyond MaxStream or MaxStreamRaw goes from the front, a tenth at a time.
func (s *Store) AppendStream(ctx context.Context, task string, events []StreamEvent) (last int64, err error) {
	if err := checkStream(events); err != nil {
		return 0, err
	}
	err = s.write(ctx, relaxed, func(tx *sql.Tx) error {
		last, err = s.appendStream(ctx, tx, task, events)
		return err
	})
	if err != nil {
		s.forgetExtent(ctx, task)
	}
	return last, err
}

func checkStream(events []StreamEvent) error {
	for _, e := range events {
		if err := checkDoc("an event of the stream", e.Data, MaxPart); err != nil {
			return err
		}
	}
	return nil
}

// appendStream is AppendStream in a transaction; when that fails, forgetExtent is
// to be called.
func (s *Store) appendStream(ctx context.Context, tx *sql.Tx, task string, events []StreamEvent) (int64, error) {
	// Within the transaction, so that no other writer is between.
	now := s.extent(task)
	add, err := tx.PrepareContext(ctx, "insert into stream (task, seq, type, data) values (?, ?, ?, ?)")
	if err != nil {
		return 0, err
	}
	defer add.Close()
	for _, e := range events {
		now.last++
		if _, err := add.ExecContext(ctx, task, now.last, e.Type, string(e.Data)); err != nil {
			if _, foreign := constraint(err); foreign {
				return 0, Errorf(NotFound, "there is no task %.60q", task)
			}
			return 0, err
		}
		now.bytes += int64(len(e.Data))
	}
	now.count += int64(len(events))
	if err := s.trimStream(ctx, tx, task, &now); err != nil {
		return 0, err
	}
	// Noted before the commit, under the only writer's lock: a failed commit
	// weighs the stream anew.
	s.setExtent(task, &now)
	return now.last, nil
}

// trimStream removes the oldest events of a stream that is too long.
func (s *Store) trimStream(ctx context.Context, tx *sql.Tx, task string, now *extent) error {
	for now.count > s.most.stream || now.bytes > s.most.streamRaw && now.count > 1 {
		drop := max(now.count/10, now.count-s.most.stream, 1)
		first := now.last - now.count + 1
		var bytes int64
		if err := tx.QueryRowContext(ctx, "select coalesce(sum(length(cast(data as blob))), 0) from stream where task = ? and seq < ?", task, first+drop).Scan(&bytes); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "delete from stream where task = ? and seq < ?", task, first+drop); err != nil {
			return err
		}
		now.count, now.bytes = now.count-drop, now.bytes-bytes
	}
	return nil
}

// Stream gives events behind a number, n at most, and the number of the first
// that is still there: where it is beyond after+1 some are gone.
func (s *Store) Stream(ctx context.Context, task string, after int64, n int) (events []StreamEvent, first int64, err error) {
	events, err = all[StreamEvent](ctx, s.r, "select seq, type, data from stream where task = ? and seq > ? order by seq limit ?", task, after, min(max(n, 1), MaxPage))
	if err != nil {
		return nil, 0, s.explain(err)
	}
	e := s.extent(task)
	return events, e.last - e.count + 1, nil
}

// StreamEnd is the number of a task's last event, 0 when there is none.
func (s *Store) StreamEnd(task string) int64 { return s.extent(task).last }

// extent is what a task's stream holds.
func (s *Store) extent(task string) extent {
	s.sizes.mu.Lock()
	defer s.sizes.mu.Unlock()
	return s.sizes.streams[task]
}

func (s *Store) setExtent(task string, e *extent) {
	s.sizes.mu.Lock()
	defer s.sizes.mu.Unlock()
	s.sizes.streams[task] = *e
}

// forgetExtent weighs a stream anew, after a failure.
func (s *Store) forgetExtent(ctx context.Context, task string) {
	ctx = context.WithoutCancel(ctx)
	s.write(ctx, relaxed, func(tx *sql.Tx) error { //nolint:errcheck // then the next append fails and weighs again
		var e extent
		err := tx.QueryRowContext(ctx, "select coalesce(max(seq), 0), count(*), coalesce(sum(length(cast(data as blob))), 0) from stream where task = ?", task).Scan(&e.last, &e.count, &e.bytes)
		if err == nil {
			s.setExtent(task, &e)
		}
		return err
	})
}

// weigh learns what the bounded tables hold.
func (s *Store) weigh(ctx context.Context) error {
	s.sizes.streams, s.sizes.logs = map[string]extent{}, map[string]int64{}
	rows, err := s.r.QueryContext(ctx, "select task, max(seq), count(*), sum(length(cast(data as blob))) from stream group by task")
	if err != nil {
		return s.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		var task string
		var e extent
		if err := rows.Scan(&task, &e.last, &e.count, &e.bytes); err != nil {
			return s.explain(err)
		}
		s.sizes.streams[task] = e
	}
	if err := rows.Err(); err != nil {
		return s.explain(err)
	}
	counts, err := s.r.QueryContext(ctx, "select agent, count(*) from logs group by agent")
	if err != nil {
		return s.explain(err)
	}
	defer counts.Close()
	for counts.Next() {
		var agent string
		var n int64
		if err := counts.Scan(&agent, &n); err != nil {
			return s.explain(err)
		}
		s.sizes.logs[agent] = n
	}
	return s.explain(counts.Err())
}
