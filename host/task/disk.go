package task

import (
	"context"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/host/task/budget"
)

const (
	// diskTime is how often the disk's free room is looked at while a turn runs whose task has a
	// limit of files.
	diskTime = time.Second
	// diskSure is after how long the files are measured though that has not shrunk: others may
	// have deleted as much as the task wrote.
	diskSure = 10 * time.Second
	// diskShare is how much longer than it takes is not measured again.
	diskShare = 10
)

// weighed is when a task's files were measured.
type weighed struct {
	bytes, free int64 // what they took, and what the disk had
	at          time.Time
	took        time.Duration
}

// weigh measures a task's files where there is a limit, if they may have passed it since, and
// gives its budget.
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
		filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { //nolint:errcheck // what goes meanwhile takes no room
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

// freeOf is what a directory's disk has free, in bytes; 0 where that is not known.
func freeOf(dir string) int64 {
	var disk unix.Statfs_t
	if unix.Statfs(dir, &disk) != nil {
		return 0
	}
	return int64(disk.Bfree) * int64(disk.Bsize) //nolint:unconvert // it is another type on other systems
}

// budgetNow is a task's budget as it is now: of one whose files are too large they are measured, as
// some may have been deleted.
func (s *Service) budgetNow(ctx context.Context, id string) budget.View {
	v := s.budgets.View(id)
	if v.Over == budget.Disk {
		v = s.measure(ctx, id)
	}
	return v
}
