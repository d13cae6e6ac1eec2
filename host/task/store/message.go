package store

import "time"

// Message is what was said in a task, by its agent and to it (U10, U55).
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
