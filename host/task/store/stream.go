package store

import (
	"context"
	"encoding/json"
)

// StreamEvent is an event that readers of a task's stream get (U47, U48).
type StreamEvent struct {
	Seq  int64           `db:"seq" json:"seq"` // numbers a task's events from 1, without gaps
	Type string          `db:"type" json:"type"`
	Data json.RawMessage `db:"data" json:"data"`
}

// AppendStream adds events to a task's stream and returns the last one's number. Beyond MaxStream
// events or MaxStreamRaw bytes the oldest are deleted, a tenth at a time.
func (s *Store) AppendStream(ctx context.Context, task string, events []StreamEvent) (last int64, err error) {
	if err := checkStream(events); err != nil {
		return 0, err
	}
	err = s.write(ctx, relaxed, func(tx conn) error {
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

// appendStream is AppendStream within a transaction. If the transaction fails, the caller has to call
// forgetExtent.
func (s *Store) appendStream(ctx context.Context, tx conn, task string, events []StreamEvent) (int64, error) {
	// This is read within the transaction, so no other writer comes between.
	now := s.extent(task)
	for _, e := range events {
		now.Last++
		if err := tx.exec(ctx, "insert into stream (task, seq, type, data) values (?, ?, ?, ?)", task, now.Last, e.Type, string(e.Data)); err != nil {
			if _, foreign := constraint(err); foreign {
				return 0, Errorf(NotFound, "there is no task %.60q", task)
			}
			return 0, err
		}
		now.Bytes += int64(len(e.Data))
	}
	now.Count += int64(len(events))
	if err := s.trimStream(ctx, tx, task, &now); err != nil {
		return 0, err
	}
	// This is set before the commit, while no other writer can run. If the commit fails, forgetExtent
	// corrects it.
	s.setExtent(task, &now)
	return now.Last, nil
}

// trimStream deletes the oldest events of a stream that is too long.
func (s *Store) trimStream(ctx context.Context, tx conn, task string, now *extent) error {
	for now.Count > s.most.stream || now.Bytes > s.most.streamRaw && now.Count > 1 {
		drop := max(now.Count/10, now.Count-s.most.stream, 1)
		first := now.Last - now.Count + 1
		bytes, err := one[int64](ctx, tx, nil, "select coalesce(sum(octet_length(data)), 0) from stream where task = ? and seq < ?", task, first+drop)
		if err != nil {
			return err
		}
		if err := tx.exec(ctx, "delete from stream where task = ? and seq < ?", task, first+drop); err != nil {
			return err
		}
		now.Count, now.Bytes = now.Count-drop, now.Bytes-bytes
	}
	return nil
}

// Stream returns at most n events after a number, and the number of the first event that is still
// stored. If that is above after+1, events are missing.
func (s *Store) Stream(ctx context.Context, task string, after int64, n int) (events []StreamEvent, first int64, err error) {
	events, err = all[StreamEvent](ctx, s.reading(), "select seq, type, data from stream where task = ? and seq > ? order by seq limit ?", task, after, min(max(n, 1), MaxPage))
	if err != nil {
		return nil, 0, err
	}
	e := s.extent(task)
	return events, e.Last - e.Count + 1, nil
}

// LastOf returns the number of a task's last stored event of a type, or 0.
func (s *Store) LastOf(ctx context.Context, task, kind string) (int64, error) {
	return one[int64](ctx, s.reading(), nil, "select coalesce(max(seq), 0) from stream where task = ? and type = ?", task, kind)
}

// StreamEnd returns the number of a task's last event, or 0.
func (s *Store) StreamEnd(task string) int64 { return s.extent(task).Last }

// extent returns the size of a task's stream.
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

// forgetExtent reads the size of a stream again after a failure.
func (s *Store) forgetExtent(ctx context.Context, task string) {
	ctx = context.WithoutCancel(ctx)
	s.end(ctx, relaxed, func(tx conn) error { //nolint:errcheck // the next append fails then and reads it again
		e, err := one[extent](ctx, tx, nil, "select '', coalesce(max(seq), 0), count(*), coalesce(sum(octet_length(data)), 0) from stream where task = ?", task)
		if err == nil {
			s.setExtent(task, &e)
		}
		return err
	})
}

// weigh reads the sizes of the bounded tables.
func (s *Store) weigh(ctx context.Context, q conn) error {
	streams, err := all[extent](ctx, q, "select task, max(seq), count(*), sum(octet_length(data)) from stream group by task")
	if err != nil {
		return err
	}
	logs, err := all[extent](ctx, q, "select agent, 0, count(*), 0 from logs group by agent")
	if err != nil {
		return err
	}
	s.sizes.mu.Lock()
	defer s.sizes.mu.Unlock()
	s.sizes.streams, s.sizes.logs = map[string]extent{}, map[string]int64{}
	for _, e := range streams {
		s.sizes.streams[e.Of] = e
	}
	for _, e := range logs {
		s.sizes.logs[e.Of] = e.Count
	}
	return nil
}
