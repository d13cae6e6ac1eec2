package store

import (
	"context"
	"time"
)

// EventStatus is where an event is.
type EventStatus string

const (
	EventPending   EventStatus = "PENDING"
	EventRunning   EventStatus = "RUNNING"
	EventDone      EventStatus = "DONE"
	EventFailed    EventStatus = "FAILED"
	EventDiscarded EventStatus = "DISCARDED" // by a cancel (U44)
)

// waits chooses the events that wait or run.
const waits = "status in ('PENDING', 'RUNNING')"

// Event is what was sent to a task (U18, U45, U56).
type Event struct {
	N       int64       `db:"n" json:"-"`
	ID      string      `db:"id" json:"id"`
	TaskID  string      `db:"task" json:"task_id"`
	Content []Part      `db:"content" json:"content"`
	Status  EventStatus `db:"status" json:"status" enum:"PENDING,RUNNING,DONE,FAILED,DISCARDED"`
	Reason  string      `db:"reason" json:"reason,omitempty"`
	Author  string      `db:"author" json:"author"`
	Turn    string      `db:"turn" json:"turn,omitempty" doc:"The turn that it began"`
	Created time.Time   `db:"created" json:"created_at"`
	Updated time.Time   `db:"updated" json:"updated_at"`
}

func (e *Event) check() error { return checkParts(e.Content) }

// AddEvent adds an event to a task that is not final, whose id, status and times
// it sets.
func (s *Store) AddEvent(ctx context.Context, e Event) (Event, error) {
	e.Status = EventPending
	err := s.write(ctx, relaxed, func(tx conn) error {
		t, err := s.Tasks.byID(ctx, tx, e.TaskID)
		if err != nil {
			return err
		}
		if t.Status.Final() {
			return Errorf(Stale, "the task %s is %s and takes no events any more", t.ID, t.Status)
		}
		waiting, err := one[int64](ctx, tx, nil, "select count(*) from events where task = ? and "+waits, t.ID)
		if err == nil && waiting >= s.most.pending {
			err = Errorf(InUse, "%d events of the task wait already", waiting)
		}
		if err != nil {
			return err
		}
		return s.Events.insert(ctx, tx, &e)
	})
	return e, err
}

// KeyedEvent gives the event of a task that an author sent with an idempotency key (U66), if
// it is there, or the id that it is to have: so it is there once, also where the host died
// before it kept its answer. Without a key the id is any. A key counts for a day, and ever for
// a task that is lent.
func (s *Store) KeyedEvent(ctx context.Context, author string, t Task, key string) (have *Event, id string) {
	if key == "" {
		return nil, NewID("evt")
	}
	id = keyedID("evt", author, t.ID, key)
	switch e, err := s.Events.Get(ctx, id); {
	case err != nil:
		return nil, id
	case t.Facts.Lent || s.moment().Sub(e.Created) < repliesLast:
		return &e, id
	}
	return nil, NewID("evt") // the key counts no more
}

// WaitingEvents are a task's that are pending or running, oldest first.
func (s *Store) WaitingEvents(ctx context.Context, task string) ([]Event, error) {
	return all[Event](ctx, s.reading(), s.Events.query()+"task = ? and "+waits+" order by n", task)
}
