package task

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/ahp"
	"tandemux/host/task/access"
	"tandemux/host/task/budget"
	"tandemux/host/task/question"
	"tandemux/host/task/store"
	"tandemux/host/task/turns"
)

// spend counts what the running turn has used, and stops the turn if the budget is used up.
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
	return l.s.endTurn(ctx, t, ahp.ChatTurnCancelled{TurnID: turn.ID, Meta: mustJSON(map[string]string{"tandemux/budget": v.Reason})})
}

// spent counts what a turn that has ended used, and returns the turn. If the turn was stopped because
// of the task's budget, the returned turn has failed for that reason.
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

// held returns why a task's budget keeps it from beginning a turn, or "".
func (s *Service) held(id string) string { return s.budgets.View(id).Reason }

// limits returns a new task's limits: those given, and the configuration's for its agent where none is
// given. An API key may not give higher limits than the configuration's.
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

// SetBudget changes the limits of a task that are given. Only the operator and the task's creator may
// raise a limit.
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
		s.Changed(t.ID)
	}
	return v, err
}

const (
	// diskTime is the interval at which the free disk space is read while a turn of a task with a
	// limit on its files runs.
	diskTime = time.Second
	// diskSure is after how long the files are measured although the free space has not shrunk: other
	// programs may have freed as much as the task wrote.
	diskSure = 10 * time.Second
	// diskShare: files are not measured again for diskShare times as long as the last measuring took.
	diskShare = 10
)

// weighed is a measurement of a task's files.
type weighed struct {
	bytes, free int64 // the files' size, and the disk's free space
	at          time.Time
	took        time.Duration
}

// weigh returns the task's budget and whether its files have a limit. If they may have passed it since
// the last measurement, or sure is set, it measures them.
func (l *live) weigh(ctx context.Context, sure bool) (budget.View, bool) {
	v := l.s.budgets.View(l.id)
	if v.Bytes == nil || *v.Bytes == 0 {
		return v, false
	}
	was, now := l.weighed, weighed{free: freeOf(l.s.State), at: time.Now()}
	if ago := now.at.Sub(was.at); !sure && (ago < diskShare*was.took || ago < diskSure && was.free-now.free < *v.Bytes-was.bytes) {
		return v, true
	}
	v = l.s.measure(ctx, l.id)
	if v.Used.Bytes != nil {
		now.bytes = *v.Used.Bytes
	}
	now.took = time.Since(now.at)
	l.weighed = now
	return v, true
}

func (s *Service) measure(ctx context.Context, id string) budget.View {
	seen := map[uint64]bool{}
	sum := int64(0)
	for _, dir := range []string{filepath.Join(s.State, "tasks", id), s.scratch(id)} {
		filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { //nolint:errcheck // files that vanish meanwhile take no space
			if err != nil {
				return ctx.Err()
			}
			info, err := d.Info()
			if err != nil {
				return ctx.Err()
			}
			at, is := info.Sys().(*syscall.Stat_t)
			if !is || at.Nlink > 1 && !info.IsDir() && seen[at.Ino] {
				return ctx.Err()
			}
			if at.Nlink > 1 && !info.IsDir() {
				seen[at.Ino] = true
			}
			sum += at.Blocks * 512
			return ctx.Err()
		})
	}
	if ctx.Err() != nil {
		return s.budgets.View(id)
	}
	v, err := s.budgets.Weigh(id, sum)
	if err != nil {
		s.Log.Warn("keep what a task's files take", "task", id, "err", err)
	}
	return v
}

// freeOf returns the free bytes of a directory's disk, or 0 if that is not known.
func freeOf(dir string) int64 {
	var disk unix.Statfs_t
	if unix.Statfs(dir, &disk) != nil {
		return 0
	}
	return int64(disk.Bfree) * int64(disk.Bsize) //nolint:unconvert // its type differs between systems
}

// budgetNow returns a task's current budget. If its files were too large it measures them again,
// because some may have been deleted.
func (s *Service) budgetNow(ctx context.Context, id string) budget.View {
	v := s.budgets.View(id)
	if v.Over == budget.Disk {
		v = s.measure(ctx, id)
	}
	return v
}
