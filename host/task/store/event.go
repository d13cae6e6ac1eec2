package store

import (
	"context"
	"encoding/json"
	"time"
)

// EventStatus is the status of an event.
type EventStatus string

const (
	EventPending   EventStatus = "PENDING"
	EventRunning   EventStatus = "RUNNING"
	EventDone      EventStatus = "DONE"
	EventFailed    EventStatus = "FAILED"
	EventDiscarded EventStatus = "DISCARDED" // by a cancel (U44)
)

// waits selects the events that wait or run.
const waits = "status in ('PENDING', 'RUNNING')"

// Event is something that was sent to a task (U18, U45, U56).
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

// AddEvent adds an event to a task that is not final, and sets its id, status and times.
func (s *Store) AddEvent(ctx context.Context, e Event) (Event, error) {
	e.Status = EventPending
	err := s.write(ctx, relaxed, func(tx conn) error {
		t, err := s.Tasks.byID(ctx, tx, e.TaskID)
		if err != nil {
			return err
		}
		if t.Status.Final() {
			why := ""
			if t.Reason != "" {
				why = ": " + t.Reason
			}
			return Errorf(Stale, "the task %s is %s and takes no events any more%s", t.ID, t.Status, why)
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

// KeyedEvent returns the event that an author sent to a task with an idempotency key (U66), or, if
// there is none, the id for it. The id depends on the key, so an event is added only once even if the
// host died before it stored its answer. Without a key the id is random. A key is valid for a day, and
// forever for a task that is lent.
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
	return nil, NewID("evt") // the key is no longer valid
}

// WaitingEvents returns a task's pending and running events, oldest first.
func (s *Store) WaitingEvents(ctx context.Context, task string) ([]Event, error) {
	return all[Event](ctx, s.reading(), s.Events.query()+"task = ? and "+waits+" order by n", task)
}

// Message is something that a task's agent said, or was told (U10, U55).
type Message struct {
	N       int64     `db:"n" json:"-"`
	ID      string    `db:"id" json:"id"`
	TaskID  string    `db:"task" json:"task_id"`
	Author  string    `db:"author" json:"author" doc:"agent, user or system"`
	Content []Part    `db:"content" json:"content"`
	EventID string    `db:"event,ref" json:"event_id,omitempty" doc:"The event whose turn it was said in; the user's of it is what began that"`
	Created time.Time `db:"created" json:"created_at"`
}

func (m *Message) check() error { return checkParts(m.Content) }

// Part is a part of an event or a message (U11, U45): text, which is Markdown, or data.
type Part struct {
	Type string          `json:"type" enum:"text,data"`
	Text string          `json:"text,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
}

// TextPart returns a part with text.
func TextPart(text string) Part { return Part{Type: "text", Text: text} }

// DataPart returns a part with data, which must be JSON.
func DataPart(data json.RawMessage) Part { return Part{Type: "data", Data: data} }

// Check returns an error if the part is not valid.
func (p Part) Check() error {
	switch {
	case p.Type == "text" && p.Data == nil:
		if len(p.Text) > MaxContent {
			return Errorf(TooLarge, "the text has %d bytes, more than %d", len(p.Text), MaxContent)
		}
		return nil
	case p.Type == "data" && p.Text == "" && len(p.Data) > 0:
		return checkDoc("the data", p.Data, MaxContent)
	case p.Type != "text" && p.Type != "data":
		return Errorf(Invalid, `the type of a part is "text" or "data", not %.40q`, p.Type)
	}
	return Errorf(Invalid, `a part of type "text" has text, one of type "data" has data, and neither has both`)
}

func checkParts(parts []Part) error {
	if len(parts) == 0 {
		return Errorf(Invalid, "there is no content")
	}
	total := 0
	for _, p := range parts {
		if err := p.Check(); err != nil {
			return err
		}
		total += len(p.Text) + len(p.Data)
	}
	if total > MaxContent {
		return Errorf(TooLarge, "the content has %d bytes, more than %d", total, MaxContent)
	}
	return nil
}
