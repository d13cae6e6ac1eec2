package store

import (
	"context"
	"database/sql"
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

// Event is what was sent to a task (U18, U45, U56).
type Event struct {
	n       int64
	ID      string      `json:"id"`
	TaskID  string      `json:"task_id"`
	Content []Part      `json:"content"`
	Status  EventStatus `json:"status" enum:"PENDING,RUNNING,DONE,FAILED,DISCARDED"`
	Reason  string      `json:"reason,omitempty"`
	Author  string      `json:"author"`
	Turn    string      `json:"turn,omitempty" doc:"The turn that it began"`
	Created time.Time   `json:"created_at"`
	Updated time.Time   `json:"updated_at"`
}

func (*Event) kind() kind {
	return kind{"event", "events", "n, id, task, content, status, reason, author, turn, created, updated"}
}

func (e *Event) row() []any {
	return []any{
		&e.n, &e.ID, &e.TaskID, list[[]Part]{&e.Content}, (*string)(&e.Status), &e.Reason, &e.Author, &e.Turn, at{&e.Created}, at{&e.Updated},
	}
}

// AddEvent adds an event to a task that is not final, whose id, status and times
// it sets.
func (s *Store) AddEvent(ctx context.Context, e Event) (Event, error) {
	if err := checkParts(e.Content); err != nil {
		return e, err
	}
	e.ID, e.Status, e.Created = NewID("evt"), EventPending, s.moment()
	e.Updated = e.Created
	return e, s.write(ctx, relaxed, func(tx *sql.Tx) error {
		t, err := byID[Task](ctx, tx, e.TaskID)
		if err != nil {
			return err
		}
		if t.Status.Final() {
			return Errorf(Stale, "the task %s is %s and takes no events any more", t.ID, t.Status)
		}
		var waiting int64
		if err := tx.QueryRowContext(ctx, "select count(*) from events where task = ? and status in ('PENDING', 'RUNNING')", t.ID).Scan(&waiting); err != nil {
			return err
		}
		if waiting >= s.most.pending {
			return Errorf(InUse, "%d events of the task wait already", waiting)
		}
		return insert(ctx, tx, &e, nil)
	})
}

// Event finds one by its id.
func (s *Store) Event(ctx context.Context, id string) (Event, error) {
	return get[Event](ctx, s, id)
}

// Events lists a task's, oldest first.
func (s *Store) Events(ctx context.Context, task string, p Page) ([]Event, string, error) {
	return page[Event](ctx, s, p, false, "task = ? and ", task)
}

// WaitingEvents are a task's that are pending or running, oldest first.
func (s *Store) WaitingEvents(ctx context.Context, task string) ([]Event, error) {
	found, err := all[Event](ctx, s.r, query[Event]()+"task = ? and status in ('PENDING', 'RUNNING') order by n", task)
	return found, s.explain(err)
}
