package task

import (
	"cmp"
	"context"
	"errors"

	"tandemux/ahp"
	"tandemux/host/task/access"
	"tandemux/host/task/budget"
	"tandemux/host/task/question"
	"tandemux/host/task/store"
	"tandemux/host/task/turns"
	"tandemux/internal/client"
)

// spend counts what the turn that runs has used, and stops it when that is all it may.
func (l *live) spend(ctx context.Context, t store.Task, turn *ahp.Turn) error {
	seen, ok := turns.Used(t.Session, turn)
	if !ok {
		return nil
	}
	v, again, err := l.s.budgets.Count(l.id, seen, len(question.Of(turn)) > 0)
	if err != nil {
		l.s.Log.Warn("keep what a task has used", "task", l.id, "err", err)
	}
	l.due = again
	if files, limited := l.weigh(ctx, false); limited {
		l.due, v = diskTime, files
		if again > 0 {
			l.due = min(again, diskTime)
		}
	}
	if v.Over == "" {
		return nil
	}
	if err := l.s.budgets.Stop(l.id, turn.ID); err != nil {
		return err
	}
	l.s.note(t, store.Warning, "stopping the turn: "+v.Reason)
	c, err := l.s.host(ctx)
	if err != nil {
		return err
	}
	_, err = c.DispatchWait(ctx, chatOf(t.Session), ahp.ChatTurnCancelled{TurnID: turn.ID, Meta: mustJSON(map[string]string{"tandemux/budget": v.Reason})})
	if _, refused := errors.AsType[*client.RejectedError](err); refused {
		return nil // it has ended
	}
	return err
}

// spent counts what a turn has used that is over, and gives it as it ended: one that was
// stopped because of its budget has failed for that.
func (l *live) spent(ctx context.Context, t store.Task, turn *ahp.Turn) *ahp.Turn {
	seen, ok := turns.Used(t.Session, turn)
	if !ok {
		return turn
	}
	seen.Ended = true
	before := l.s.budgets.View(l.id)
	v, _, err := l.s.budgets.Count(l.id, seen, false)
	if err != nil {
		l.s.Log.Warn("keep what a task has used", "task", l.id, "err", err)
	}
	if files, limited := l.weigh(ctx, true); limited {
		v = files
	}
	if len(v.Unknown) > len(before.Unknown) {
		l.s.note(t, store.Warning, "its agent does not report all that its budget limits, which may be passed unseen")
	}
	if turn.State == ahp.TurnCancelled && l.s.budgets.Stopped(l.id, turn.ID) {
		turn = turns.Failed(turn, turns.ErrorBudget, cmp.Or(v.Reason, "the budget was used up"))
	}
	return turn
}

// held says why a task begins nothing: its budget is used up. Empty: it does.
func (s *Service) held(id string) string { return s.budgets.View(id).Reason }

// limits are those of a task: what is given, and else the configuration's for its agent. No key
// goes beyond these.
func (s *Service) limits(who access.Principal, agent string, given budget.Limits) (budget.Limits, error) {
	most := s.Budgets().Of(agent)
	l := given.Or(most)
	if err := l.Check(); err != nil {
		return l, store.Errorf(store.Invalid, "%w", err)
	}
	if who.Kind != access.Operator && !l.Within(most) {
		return l, store.Errorf(store.Forbidden, "only the operator may set limits above those of the configuration")
	}
	return l, nil
}

// SetBudget changes those limits of a task that are given. Who did not create it may lower
// them only, unless it is the operator.
func (s *Service) SetBudget(ctx context.Context, who access.Principal, ref string, given budget.Limits) (budget.View, error) {
	t, err := s.Find(ctx, who, access.Update, ref)
	if err != nil {
		return budget.View{}, err
	}
	now := s.budgets.View(t.ID).Limits
	a, err := s.Store.Agents.Get(ctx, t.AgentID)
	if err != nil {
		return budget.View{}, err
	}
	l, err := s.limits(who, a.Name, given.Or(now))
	switch {
	case err != nil:
		return budget.View{}, err
	case t.Status.Final():
		return budget.View{}, store.Errorf(store.Stale, "the task %s is %s", t.Name, t.Status)
	case who.Kind != access.Operator && t.Creator != who.String() && !l.Within(now):
		return budget.View{}, store.Errorf(store.Forbidden, "only the operator and who created the task may raise its limits")
	}
	v, err := s.budgets.Limit(t.ID, given)
	if err == nil {
		s.changed(t.ID)
		s.wakeUp(t.ID)
	}
	return v, err
}
