package store

import (
	"context"
	"errors"
	"slices"
)

// BeginEvent sets a pending event, and its task, to running. The error is Stale if the task is final
// or the event is not pending.
func (s *Store) BeginEvent(ctx context.Context, id, turn string) (e Event, t Task, err error) {
	err = s.write(ctx, relaxed, func(tx conn) error {
		e, err = s.Events.byID(ctx, tx, id)
		if err == nil {
			t, err = s.Tasks.byID(ctx, tx, e.TaskID)
		}
		switch {
		case err != nil:
			return err
		case t.Status.Final():
			return Errorf(Stale, "the task %s is %s", t.ID, t.Status)
		case e.Status != EventPending:
			return Errorf(Stale, "the event %s is %s", e.ID, e.Status)
		}
		e.Status, e.Turn = EventRunning, turn
		if err := s.Events.update(ctx, tx, &e); err != nil {
			return err
		}
		t.Status = Running
		if err := heard(ctx, s, tx, e); err != nil {
			return err
		}
		return s.Tasks.update(ctx, tx, &t)
	})
	return e, t, err
}

// AdoptEvent adds a running event for a turn that somebody else began in the task's session. known
// says that the turn has one already.
func (s *Store) AdoptEvent(ctx context.Context, e Event) (got Event, known bool, err error) {
	err = s.write(ctx, relaxed, func(tx conn) error {
		got, err = s.Events.one(ctx, tx, NotFound, "task = ?1 and (turn = ?2 or id = ?2)", e.TaskID, e.Turn)
		if !errors.Is(err, NotFound) {
			known = err == nil
			return err
		}
		got = e
		got.Status = EventRunning
		if err := s.Events.insert(ctx, tx, &got); err != nil {
			return err
		}
		return heard(ctx, s, tx, got)
	})
	return got, known, err
}

// heard stores what the agent is told as a message of the user's.
func heard(ctx context.Context, s *Store, tx conn, e Event) error {
	return s.Messages.insert(ctx, tx, &Message{TaskID: e.TaskID, Author: "user", Content: e.Content, EventID: e.ID})
}

// TurnEnd is what EndEvent changes at the end of a turn.
type TurnEnd struct {
	Event    string // its id
	Status   EventStatus
	Reason   string
	Messages []Message
	Stream   []StreamEvent
	// Facts replaces the task's facts.
	Facts Facts
	// Full allows the change on a full disk.
	Full bool
}

// EndEvent stores the end of a turn: its event, its messages and the end of its part of the stream,
// all or nothing. If the event has ended already nothing is changed. The task then is idle, unless it
// is final or events wait.
func (s *Store) EndEvent(ctx context.Context, end TurnEnd) (t Task, err error) {
	if err := checkStream(end.Stream); err != nil {
		return t, err
	}
	write := s.write
	if end.Full {
		write = s.end
	}
	var was *extent
	err = write(ctx, relaxed, func(tx conn) error {
		e, err := s.Events.byID(ctx, tx, end.Event)
		if err == nil {
			t, err = s.Tasks.byID(ctx, tx, e.TaskID)
		}
		if err != nil {
			return err
		}
		if was != nil { // the second attempt of a transaction
			s.setExtent(t.ID, was)
		} else {
			was = new(s.extent(t.ID))
		}
		if e.Status != EventRunning && e.Status != EventPending {
			return nil
		}
		e.Status, e.Reason = end.Status, end.Reason
		if err := s.Events.update(ctx, tx, &e); err != nil {
			return err
		}
		for _, m := range end.Messages {
			m.TaskID, m.EventID = t.ID, e.ID
			if err := s.Messages.insert(ctx, tx, &m); err != nil {
				return err
			}
		}
		if _, err = s.appendStream(ctx, tx, t.ID, end.Stream); err != nil {
			return err
		}
		return s.settleTask(ctx, tx, &t, end.Facts)
	})
	if err != nil && t.ID != "" {
		s.forgetExtent(ctx, t.ID)
	}
	return t, err
}

// settleTask sets the status of a task that is not final: running if events wait, else idle.
func (s *Store) settleTask(ctx context.Context, tx conn, t *Task, facts Facts) error {
	t.Facts = facts
	if !t.Status.Final() {
		waiting, err := one[bool](ctx, tx, nil, "select exists (select 1 from events where task = ? and "+waits+")", t.ID)
		if err != nil {
			return err
		}
		if t.Status = Idle; waiting {
			t.Status = Running
		}
	}
	return s.Tasks.update(ctx, tx, t)
}

// SettleTask says that nothing runs in a task that is not final. It is then running if events wait,
// else idle.
func (s *Store) SettleTask(ctx context.Context, id string, facts Facts) (t Task, err error) {
	err = s.write(ctx, relaxed, func(tx conn) error {
		if t, err = s.Tasks.byID(ctx, tx, id); err != nil {
			return err
		}
		return s.settleTask(ctx, tx, &t, facts)
	})
	return t, err
}

// EndTask makes a task final: to is Cancelled, FailedRun or Deleting. Waiting events are discarded
// (U44). A final task changes only to Deleting; changed reports whether the status changed. It also
// works on a full disk.
func (s *Store) EndTask(ctx context.Context, id string, to TaskStatus, reason string) (t Task, changed bool, err error) {
	if !slices.Contains([]TaskStatus{Cancelled, FailedRun, Deleting}, to) {
		return t, false, Errorf(Invalid, "a task does not end by being %s", to)
	}
	err = s.end(ctx, relaxed, func(tx conn) error {
		if t, err = s.Tasks.byID(ctx, tx, id); err != nil {
			return err
		}
		if t.Status == to || t.Status.Final() && to != Deleting {
			return nil
		}
		changed = true
		because := ""
		if reason != "" {
			because = ": " + reason
		}
		if err := tx.exec(ctx, "update events set status = 'DISCARDED', reason = ?, updated = ? where task = ? and status = 'PENDING'", "the task is "+string(to)+because, s.moment().UnixMilli(), id); err != nil {
			return err
		}
		t.Status, t.Reason = to, reason
		return s.Tasks.update(ctx, tx, &t)
	})
	return t, changed, err
}

// OpenStream returns the events of a turn whose end is not yet in the task's stream, from its start
// on, or nothing.
func (s *Store) OpenStream(ctx context.Context, task string) ([]StreamEvent, error) {
	return all[StreamEvent](ctx, s.reading(), `select seq, type, data from stream where task = ?1
		and seq >= (select max(seq) from stream where task = ?1 and type = 'start')
		and not exists (select 1 from stream where task = ?1 and type = 'finish' and seq > (select max(seq) from stream where task = ?1 and type = 'start'))
		order by seq`, task)
}

// CountWaiting returns how many events of all tasks are pending or running.
func (s *Store) CountWaiting(ctx context.Context) (int, error) {
	return one[int](ctx, s.reading(), nil, "select count(*) from events where "+waits)
}
