package task

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/host/task/access"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/host/task/turns"
	"tandemux/host/workspace/modules"
	"tandemux/internal/client"
)

// cancelTime bounds on_cancel, and the wait for the end of a turn that was cancelled.
const cancelTime = 10 * time.Second

// deleteTime is how long Delete waits until the task is deleted.
const deleteTime = 30 * time.Second

// Find returns the task ref if who may do verb with it.
func (s *Service) Find(ctx context.Context, who access.Principal, verb access.Verb, ref string) (store.Task, error) {
	t, err := s.Store.Tasks.Find(ctx, ref)
	if err != nil {
		return t, err
	}
	return t, registry.Refuse(access.MayTask(who, verb, registry.ParentsOf(t)), verb, "task", ref)
}

// Cancel stops a task for good (U44). When it returns, the status is CANCELLED and waiting events are
// discarded; the agent is told to cancel, and ended if it does not.
func (s *Service) Cancel(ctx context.Context, who access.Principal, ref string) (store.Task, error) {
	t, err := s.Find(ctx, who, access.Run, ref)
	if err != nil {
		return t, err
	}
	s.begun()
	t, changed, err := s.Store.EndTask(ctx, t.ID, store.Cancelled, "")
	switch {
	case err != nil:
		return t, err
	case !changed && t.Status != store.Cancelled:
		return t, store.Errorf(store.Stale, "the task %s is %s already", t.Name, t.Status)
	case changed:
		s.note(t, store.Info, "cancelled by "+who.String())
		s.changed(t.ID)
		s.runner(t.ID).interrupt()
	}
	return t, nil
}

// finish ends a final task's turn, runs on_cancel, and ends the session with its agent and terminals.
// The workspace stays until the task is deleted.
func (l *live) finish(ctx context.Context, t store.Task) error {
	if l.facts.Ended {
		return nil
	}
	if err := l.quit(ctx, t, t.Status == store.Cancelled); err != nil {
		return err
	}
	l.facts.Ended = true
	_, err := l.s.Store.Tasks.EditFull(ctx, t.ID, func(r *store.Task) error {
		r.Facts, r.Progress = l.facts, nil
		return nil
	})
	l.s.changed(t.ID)
	return err
}

// quit ends a task's session. If hook is set it runs on_cancel before.
func (l *live) quit(ctx context.Context, t store.Task, hook bool) error {
	if t.Session != "" {
		if err := l.cancelTurn(ctx, t); err != nil {
			return err
		}
	}
	if hook && l.facts.Begun {
		l.s.onCancel(ctx, t)
	}
	if err := l.dispose(ctx, t.Session); err != nil {
		return err
	}
	for _, name := range []string{"tmp", "login"} {
		if err := os.RemoveAll(filepath.Join(l.s.scratch(t.ID), name)); err != nil {
			l.s.Log.Warn("empty a task's /tmp, and its logins", "task", t.ID, "err", err)
		}
	}
	return l.endRest(ctx, t)
}

// cancelTurn cancels the running turn and writes its end to the stream.
func (l *live) cancelTurn(ctx context.Context, t store.Task) error {
	ctx, cancel := context.WithTimeout(ctx, cancelTime)
	defer cancel()
	if now := l.look(); !now.lost && !now.hasChat && l.facts.Begun {
		if err := l.attach(ctx, &t); err != nil && !errors.Is(err, errWaiting) {
			return err
		}
	}
	if a := l.look().chat.ActiveTurn; a != nil {
		if err := l.stopTurn(ctx, t, a.ID); err != nil || ctx.Err() != nil {
			return err // the turn ends with its session
		}
	}
	return l.follow(ctx, &t, l.look())
}

// Stop ends the running turn. The task goes on.
func (s *Service) Stop(ctx context.Context, who access.Principal, ref string) (store.Task, error) {
	t, err := s.Find(ctx, who, access.Run, ref)
	if err != nil {
		return t, err
	}
	now, _ := s.look(t)
	if now.chat.ActiveTurn == nil {
		return t, store.Errorf(store.Stale, "the task %s is at no turn that could be stopped", t.Name)
	}
	return t, s.endTurn(ctx, t, ahp.ChatTurnCancelled{TurnID: now.chat.ActiveTurn.ID})
}

// endTurn asks the host to cancel a turn. A turn that has ended already is no error.
func (s *Service) endTurn(ctx context.Context, t store.Task, a ahp.ChatTurnCancelled) error {
	c, err := s.host(ctx)
	if err != nil {
		return err
	}
	_, err = c.DispatchWait(ctx, chatOf(t.Session), a)
	if _, refused := errors.AsType[*client.RejectedError](err); refused {
		return nil
	}
	return err
}

// stopTurn cancels a turn and waits for its end, for cancelTime at most.
func (l *live) stopTurn(ctx context.Context, t store.Task, id string) error {
	ctx, cancel := context.WithTimeout(ctx, cancelTime)
	defer cancel()
	if err := l.s.endTurn(ctx, t, ahp.ChatTurnCancelled{TurnID: id}); err != nil {
		return err
	}
	for l.look().chat.ActiveTurn != nil && !l.look().lost {
		select {
		case <-l.wake:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// endRest ends the events that are left, whose turn never began or was lost.
func (l *live) endRest(ctx context.Context, t store.Task) error {
	waiting, err := l.s.Store.WaitingEvents(ctx, t.ID)
	if err != nil {
		return err
	}
	for _, e := range waiting {
		turn := &ahp.Turn{ID: e.ID, State: ahp.TurnCancelled}
		if e.Turn != "" {
			turn.ID = e.Turn
		}
		if err := l.end(ctx, e, turn); err != nil {
			return err
		}
	}
	return nil
}

// forced begins the Reason of a task that is being deleted by force. It is kept there and not in the
// Facts because a runner never writes the Reason of such a task.
const forced = "by force"

// Deleted is the result of deleting a task.
type Deleted struct {
	ID         string         `json:"id"`
	KeptBranch string         `json:"kept_branch,omitempty" doc:"A git branch with commits that are nowhere else, which was left"`
	Submodules []modules.Kept `json:"submodules,omitempty" doc:"Submodules whose work is on a branch of their own repositories"`
	// Dropped are paths that were deleted with the workspace and existed nowhere else; at most 1000.
	Dropped []string `json:"dropped,omitempty" doc:"What went with it and was nowhere else: repositories in the workspace, what was in submodules, what a copy had not merged; nothing is named by force"`
}

// Delete removes a task with its session, its workspace and its records. Without force, a branch with
// commits that are nowhere else is kept.
func (s *Service) Delete(ctx context.Context, who access.Principal, ref string, force bool) (Deleted, error) {
	t, err := s.Find(ctx, who, access.Delete, ref)
	if err != nil {
		return Deleted{}, err
	}
	s.begun()
	reason := ""
	if force {
		reason = forced
	}
	_, changed, err := s.Store.EndTask(ctx, t.ID, store.Deleting, reason)
	if err == nil && !changed && force { // a deletion that failed is tried again by force
		_, err = s.Store.Tasks.EditFull(ctx, t.ID, func(r *store.Task) error { r.Reason = reason; return nil })
	}
	if err != nil {
		return Deleted{}, err
	}
	s.changed(t.ID)
	l := s.runner(t.ID)
	l.interrupt()
	ctx, cancel := context.WithTimeout(ctx, deleteTime)
	defer cancel()
	select {
	case <-l.done:
	case <-ctx.Done():
		return Deleted{}, store.Errorf(store.Busy, "the task %s is still being deleted; that goes on", t.Name)
	}
	switch left, err := s.Store.Tasks.Find(ctx, t.ID); {
	case err == nil && left.ID == t.ID:
		return Deleted{}, store.Errorf(store.Stale, "the task %s is %s: %s", t.Name, left.Status, left.Reason)
	case err != nil && !errors.Is(err, store.NotFound):
		return Deleted{}, err
	}
	return Deleted{ID: t.ID, KeptBranch: l.left.Branch, Dropped: l.left.Dropped, Submodules: l.left.Modules}, nil
}

// remove deletes all of a task, its record last. If the files can't be deleted, the task is CANCELLED
// with a Reason that says why.
func (l *live) remove(ctx context.Context, t store.Task) error {
	if err := l.quit(ctx, t, !l.facts.Ended); err != nil {
		return err
	}
	if err := l.removeFiles(ctx, t); err != nil {
		l.s.Log.Warn("delete a task", "task", t.ID, "err", err)
		_, err := l.s.Store.Tasks.EditFull(ctx, t.ID, func(r *store.Task) error {
			l.facts.Ended = true
			r.Status, r.Facts, r.Progress = store.Cancelled, l.facts, nil
			r.Reason = "it could not be deleted: " + turns.Clip(err.Error(), 1<<10)
			return nil
		})
		l.s.changed(t.ID)
		return err
	}
	l.s.note(t, store.Info, "deleted")
	l.s.dropRecord(ctx, t)
	return nil
}

func (l *live) removeFiles(ctx context.Context, t store.Task) error {
	left, err := l.s.Files.Remove(ctx, t.ID, strings.HasPrefix(t.Reason, forced))
	if err != nil {
		return err
	}
	if left.Branch != "" {
		l.s.note(t, store.Info, "the branch "+left.Branch+" stays: it has commits that are nowhere else")
	}
	for _, m := range left.Modules {
		l.s.note(t, store.Info, "what was made in the submodule "+m.Path+" is on its branch "+m.Branch)
	}
	for _, path := range left.Dropped {
		l.s.note(t, store.Warning, "went with the workspace, and was nowhere else: "+path)
	}
	l.left = left
	return nil
}
