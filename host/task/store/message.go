package store

import "time"

// Message is what a task said (U10, U55).
type Message struct {
	N       int64     `db:"n" json:"-"`
	ID      string    `db:"id" json:"id"`
	TaskID  string    `db:"task" json:"task_id"`
	Author  string    `db:"author" json:"author" doc:"agent, user or system"`
	Content []Part    `db:"content" json:"content"`
	Created time.Time `db:"created" json:"created_at"`
}

func (m *Message) check() error { return checkParts(m.Content) }
