package task

import (
	"context"
	"encoding/json"

	"tandemux/host/task/access"
	"tandemux/host/task/budget"
	"tandemux/host/task/store"
)

// Send adds an event to a task (U45). It becomes a prompt, or is given to on_event, when the events
// before it have ended. A second event with the same key (U66) is not added.
func (s *Service) Send(ctx context.Context, who access.Principal, ref, key string, content []store.Part) (store.Event, error) {
	t, err := s.Find(ctx, who, access.Run, ref)
	if err != nil {
		return store.Event{}, err
	}
	have, id := s.Store.KeyedEvent(ctx, who.String(), t, key)
	if have != nil {
		return *have, nil
	}
	if v := s.budgetNow(ctx, t.ID); v.Over != "" {
		less := map[bool]string{true: ", and so does it to delete files"}[v.Over == budget.Disk]
		return store.Event{}, store.Errorf(store.Stale, "%s: `tandemux task budget %s --max-%s N` raises it%s", v.Reason, t.Name, v.Over, less)
	}
	s.begun()
	s.queue.Sent(id)
	e, err := s.Store.AddEvent(ctx, store.Event{ID: id, TaskID: t.ID, Content: content, Author: who.String()})
	if err == nil {
		s.queue.Ask(s.waiter(ctx, t, e))
		s.changed(t.ID)
		s.Changed(t.ID)
	}
	return e, err
}

// Say adds a message to a task (U10).
func (s *Service) Say(ctx context.Context, who access.Principal, ref string, content []store.Part) (store.Message, error) {
	t, err := s.Find(ctx, who, access.Report, ref)
	if err != nil {
		return store.Message{}, err
	}
	author := "user"
	if who.Kind == access.TaskKind {
		author = "agent"
	}
	m, err := s.Store.Messages.Create(ctx, store.Message{TaskID: t.ID, Author: author, Content: content})
	if err == nil {
		s.changed(t.ID)
	}
	return m, err
}

// maxProgress bounds a progress line, in bytes.
const maxProgress = 200

// Progress says how far a task is (U21).
type Progress struct {
	TaskID  string `json:"task_id"`
	Percent *int   `json:"progress" doc:"In percent, null when nobody said"`
	Line    string `json:"status_message" doc:"What it is doing, in a line"`
	Status  string `json:"status"`
}

// ProgressOf returns the progress of a task.
func ProgressOf(t Present) Progress {
	return Progress{TaskID: t.ID, Percent: t.Progress, Line: t.ProgressLine, Status: string(t.Status)}
}

// SetProgress sets how far a task is. What is nil is not changed.
func (s *Service) SetProgress(ctx context.Context, who access.Principal, ref string, percent *int, line *string) (store.Task, error) {
	t, err := s.Find(ctx, who, access.Report, ref)
	if err != nil {
		return t, err
	}
	return s.setProgress(ctx, t.ID, percent, line)
}

func (s *Service) setProgress(ctx context.Context, id string, percent *int, line *string) (store.Task, error) {
	t, err := s.Store.Tasks.Edit(ctx, id, func(r *store.Task) error {
		if r.Status.Final() {
			return store.Errorf(store.Stale, "the task %s is %s", r.Name, r.Status)
		}
		if percent != nil {
			r.Progress = percent
		}
		if line != nil {
			if len(*line) > maxProgress {
				return store.Errorf(store.Invalid, "the status_message has %d bytes, more than %d", len(*line), maxProgress)
			}
			r.ProgressLine = *line
		}
		return nil
	})
	if err == nil {
		s.changed(id)
	}
	return t, err
}

// Rename changes a task's name and params. What is nil is not changed.
func (s *Service) Rename(ctx context.Context, who access.Principal, ref string, name *string, params json.RawMessage) (store.Task, error) {
	t, err := s.Find(ctx, who, access.Update, ref)
	if err != nil {
		return t, err
	}
	t, err = s.Store.Tasks.Edit(ctx, t.ID, func(r *store.Task) error {
		if name != nil {
			if err := access.CheckName("a task", *name); err != nil {
				return store.Errorf(store.Invalid, "%w", err)
			}
			r.Name = *name
		}
		if params != nil {
			r.Params = params
		}
		return nil
	})
	if err == nil {
		s.changed(t.ID)
	}
	return t, err
}
