package task

import (
	"cmp"
	"fmt"

	"tandemux/host/task/budget"
	"tandemux/host/task/question"
	"tandemux/host/task/store"
)

// Present is a task as it is now: its record, and what is known from its session and is stored
// nowhere.
type Present struct {
	store.Task
	Last      *store.TurnOutcome  `json:"last_turn,omitempty" doc:"How its last turn ended"`
	Doing     string              `json:"doing,omitempty" doc:"What it does, in a line: the tool call that runs, or why it can't go on for now"`
	Budget    budget.View         `json:"budget" doc:"What it may use, and has used"`
	Questions []question.Question `json:"questions,omitempty" doc:"What it waits for, when it is WAITING"`
}

// Present returns a task as it is now. A running task has the status WAITING while its agent asks
// something.
func (s *Service) Present(t store.Task) Present {
	n := Present{Task: t, Last: t.Facts.Last, Budget: s.budgets.View(t.ID)}
	if t.Status.Final() {
		return n
	}
	if before, room, waits := s.queue.Ahead(t.ID); waits {
		switch n.Status = store.Pending; {
		case room: // It is about to begin.
		case before > 0:
			n.Doing = fmt.Sprintf("waits for other tasks: %d before it", before)
		default:
			n.Doing = "waits until another task is done"
		}
		n.Doing = cmp.Or(n.Budget.Reason, n.Doing)
		return n
	}
	if n.Status == store.Idle && s.queue.Works(t.ID) {
		if rests, err := s.AtRest(s.ctx, t); err == nil && !rests { // a turn is about to begin
			n.Status = store.Running
		}
	}
	now, stuck := s.look(t)
	chat := now.chat
	if stuck != "" {
		n.Doing = question.OneLine("can't go on, and tries again: " + stuck)
	}
	if t.Status == store.Creating || chat.ActiveTurn == nil {
		if n.Budget.Over != "" && t.Status == store.Running {
			n.Status = store.Pending
		}
		if n.Budget.Over != "" && stuck == "" {
			n.Doing = n.Budget.Reason
		}
		return n
	}
	if n.Questions = question.Of(chat.ActiveTurn); len(n.Questions) > 0 {
		n.Status = store.Waiting
	}
	if stuck == "" {
		n.Doing = question.OneLine(chat.Activity)
	}
	return n
}

// look returns what is known of a task's session, nothing if none is watched, and why its runner can't
// go on at the moment.
func (s *Service) look(t store.Task) (now seen, stuck string) {
	s.mu.Lock()
	l := s.live[t.ID]
	s.mu.Unlock()
	if l == nil {
		return now, ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != t.Session || l.seen.lost {
		return now, l.stuck
	}
	return l.seen, l.stuck
}
