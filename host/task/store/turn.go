package store

import (
	"context"
	"errors"
	"slices"
)

// BeginEvent says that a task is at an event: a pending one is running from now
// on, in a turn, and so is its task. It is Stale when the task is final, or the
// event does not wait.
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

// AdoptEvent adds an event that is running already: a turn that somebody else began
// in the task's session. Known says that there is one of that turn.
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

// heard keeps what the agent is told as a message of the user's.
func heard(ctx context.Context, s *Store, tx conn, e Event) error {
	return s.Messages.insert(ctx, tx, &Message{TaskID: e.TaskID, Author: "user", Content: e.Content, EventID: e.ID})
}

// TurnEnd is what the end of a turn changes.
type TurnEnd struct {
	Event    string // its id
	Status   EventStatus
	Reason   string
	Messages []Message
	Stream   []StreamEvent
	// Facts are the task's from now on.
	Facts Facts
	// Full says that it is noted where the disk is full, too.
	Full bool
}

// EndEvent notes the end of a turn: its event, what was said and the end of the
// stream's part about it, all or nothing. An event that has ended stays as it is,
// and nothing is added. The task is idle unless it is final or events wait.
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
		if was != nil { // it is tried again
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

// settleTask gives a task that is not final the status that its events make.
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

// SettleTask says that nothing runs in a task that is not final: it is idle, or
// running where events wait.
func (s *Store) SettleTask(ctx context.Context, id string, facts Facts) (t Task, err error) {
	err = s.write(ctx, relaxed, func(tx conn) error {
		if t, err = s.Tasks.byID(ctx, tx, id); err != nil {
			return err
		}
		return s.settleTask(ctx, tx, &t, facts)
	})
	return t, err
}

// EndTask makes a task final: to is Cancelled, FailedRun or Deleting. Events that
// wait are discarded (U44). Whether it changed is told: one that is cancelled stays
// so, and only deleting follows upon another final status. A full disk is no hindrance.
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

// OpenStream gives what a task's stream says of the turn that it has not told the
// end of: from its start on; nothing when there is none.
func (s *Store) OpenStream(ctx context.Context, task string) ([]StreamEvent, error) {
	return all[StreamEvent](ctx, s.reading(), `select seq, type, data from stream where task = ?1
		and seq >= (select max(seq) from stream where task = ?1 and type = 'start')
		and not exists (select 1 from stream where task = ?1 and type = 'finish' and seq > (select max(seq) from stream where task = ?1 and type = 'start'))
		order by seq`, task)
}

// CountWaiting counts the events that wait or run, of all tasks.
func (s *Store) CountWaiting(ctx context.Context) (int, error) {
	return one[int](ctx, s.reading(), nil, "select count(*) from events where "+waits)
}
