package task

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tandemux/host/task/access"
	"tandemux/host/task/question"
	"tandemux/host/task/store"
	"tandemux/internal/client"
)

type Answered struct {
	TaskID     string `json:"task_id"`
	QuestionID string `json:"question_id"`
	Answer     string `json:"answer" doc:"The option's label, or what an input was answered with"`
}

// Answer answers a question of a task's agent if the agent still asks it as it was shown. The
// operator, the task's creator, and keys that may run its agent and change its project may answer;
// what runs inside a task never may. The error is store.Forbidden, or store.Stale if the question is
// no longer asked.
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
