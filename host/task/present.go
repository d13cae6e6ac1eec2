package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"tandemux/host/task/access"
	"tandemux/host/task/budget"
	"tandemux/host/task/question"
	"tandemux/host/task/store"
	"tandemux/internal/client"
)

// Present is a task as it is now: what is stored of it, and what its session tells, which is
// kept nowhere else.
type Present struct {
	store.Task
	Last      *store.TurnOutcome  `json:"last_turn,omitempty" doc:"How its last turn ended"`
	Doing     string              `json:"doing,omitempty" doc:"What it does, in a line: the tool call that runs, or why it can't go on for now"`
	Budget    budget.View         `json:"budget" doc:"What it may use, and has used"`
	Questions []question.Question `json:"questions,omitempty" doc:"What it waits for, when it is WAITING"`
}

// Present says how a task is now. One that runs is WAITING when its agent asks something.
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

// look is what is known of a task's session, nothing where it has none that is followed,
// and why its runner can't go on, for now.
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

// Answered is an answer that was given.
type Answered struct {
	TaskID     string `json:"task_id"`
	QuestionID string `json:"question_id"`
	Answer     string `json:"answer" doc:"The option's label, or what an input was answered with"`
}

// Answer answers a question of a task's agent, if it is still asked as it was shown. It
// is for the operator, for who created the task, and for keys that may run its agent and
// change its project; never for what runs inside of a task. Forbidden, and Stale for a
// question that is no longer asked.
func (s *Service) Answer(ctx context.Context, who access.Principal, ref string, a question.Answer) (Answered, error) {
	t, err := s.Find(ctx, who, access.Answer, ref)
	if err != nil {
		return Answered{}, err
	}
	asked := s.Present(t).Questions
	i := slices.IndexFunc(asked, func(q question.Question) bool { return q.ID == a.QuestionID })
	switch {
	case a.QuestionID == "":
		return Answered{}, store.Errorf(store.Invalid, "question_id: say which question is answered, so that it can't be another one")
	case i < 0 && len(asked) == 0:
		return Answered{}, store.Errorf(store.Stale, "the task %s asks nothing now: the question was answered, or its turn has ended", t.Name)
	case i < 0:
		return Answered{}, store.Errorf(store.Stale, "the question %.40q is not asked, or not in these words: the task %s asks %d others", a.QuestionID, t.Name, len(asked))
	}
	action, said, err := asked[i].Reply(a, who)
	if err != nil {
		return Answered{}, err
	}
	c, err := s.host(ctx)
	if err != nil {
		return Answered{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	_, err = c.DispatchWait(ctx, chatOf(t.Session), action)
	if refused, is := errors.AsType[*client.RejectedError](err); is {
		return Answered{}, store.Errorf(store.Stale, "not answered: %s", refused.Error())
	}
	if err != nil {
		return Answered{}, fmt.Errorf("answer the task %s: %w", t.Name, err)
	}
	s.note(t, store.Info, "a question was answered by "+who.Named())
	return Answered{TaskID: t.ID, QuestionID: a.QuestionID, Answer: said}, nil
}
