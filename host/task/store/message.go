package store

import (
	"context"
	"database/sql"
	"time"
)

// Message is what a task said (U10, U55).
type Message struct {
	n       int64
	ID      string    `json:"id"`
	TaskID  string    `json:"task_id"`
	Author  string    `json:"author" doc:"agent, user or system"`
	Content []Part    `json:"content"`
	Created time.Time `json:"created_at"`
}

func (*Message) kind() kind {
	return kind{"message", "messages", "n, id, task, author, content, created"}
}

func (m *Message) row() []any {
	return []any{&m.n, &m.ID, &m.TaskID, &m.Author, list[[]Part]{&m.Content}, at{&m.Created}}
}

// AddMessage adds a message, whose id and time it sets.
func (s *Store) AddMessage(ctx context.Context, m Message) (Message, error) {
	if err := checkParts(m.Content); err != nil {
		return m, err
	}
	m.ID, m.Created = NewID("msg"), s.moment()
	return m, s.write(ctx, relaxed, func(tx *sql.Tx) error { return insert(ctx, tx, &m, nil) })
}

// Message finds one by its id.
func (s *Store) Message(ctx context.Context, id string) (Message, error) {
	return get[Message](ctx, s, id)
}

// Messages lists a task's: the older from the newest backwards, or the newer from
// the oldest on, from the cursor.
func (s *Store) Messages(ctx context.Context, task string, older bool, p Page) ([]Message, string, error) {
	return page[Message](ctx, s, p, older, "task = ? and ", task)
}
