package task

import (
	"cmp"
	"context"
	"errors"
	"time"

	"tandemux/ahp"
	"tandemux/host/task/store"
	"tandemux/host/task/turns"
	"tandemux/host/workspace/filetree"
)

const (
	// fullTime is for how long a step is repeated on a full disk before its turn fails.
	fullTime = 3 * time.Second
	// smallEnd bounds what the end of a turn may write on a full disk, in bytes: more would use up the
	// reserve (package store).
	smallEnd = 32 << 10
	// diskFull is why a turn or a task failed.
	diskFull = "the disk is full: make room, then go on"
)

func isFull(err error) bool { return errors.Is(err, filetree.ErrFull) || errors.Is(err, store.Full) }

// noRoom notes since when a step has failed because of a full disk. After fullTime it fails the turn.
func (l *live) noRoom(err error) error {
	switch {
	case !isFull(err):
		l.full = time.Time{}
		return err
	case l.full.IsZero():
		l.full = time.Now()
	}
	if !l.gaveUp() {
		return err
	}
	if failed := l.failFull(l.s.ctx); failed != nil {
		return failed
	}
	l.full = time.Time{}
	return nil
}

func (l *live) gaveUp() bool { return !l.full.IsZero() && time.Since(l.full) >= fullTime }

// failFull fails the current turn, or the task while it is created, with diskFull.
func (l *live) failFull(ctx context.Context) error {
	t, err := l.s.Store.Tasks.Find(ctx, l.id)
	if err != nil || t.Status.Final() {
		return err
	}
	if t.Status == store.Creating {
		return l.fail(ctx, t, diskFull)
	}
	waiting, err := l.s.Store.WaitingEvents(ctx, t.ID)
	if err != nil || len(waiting) == 0 {
		return err
	}
	turn := &ahp.Turn{ID: cmp.Or(waiting[0].Turn, waiting[0].ID)}
	if a := l.look().chat.ActiveTurn; a != nil && a.ID == turn.ID {
		if err := l.stopTurn(ctx, t, a.ID); err != nil {
			return err
		}
	}
	for _, had := range l.look().chat.Turns {
		if had.ID == turn.ID {
			turn = &had
		}
	}
	return l.end(ctx, waiting[0], turns.Failed(turn, turns.ErrorDisk, diskFull))
}
