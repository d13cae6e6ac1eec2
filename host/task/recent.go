package task

import (
	"context"
	"slices"
	"sync"

	"tandemux/host/task/store"
)

// recent keeps the end of the streams of tasks that are at work, so that readers who
// are up to date, who are most, ask the store for nothing. It is bounded for each
// task, and there are no more than runners.
type recent struct {
	mu     sync.Mutex // Protects following.
	byTask map[string]*tail
}

// tail is the end of a stream, without gaps.
type tail struct {
	events []store.StreamEvent
	bytes  int
}

const (
	maxTail      = 512
	maxTailBytes = 64 << 10
)

// add takes events that were appended, the last of which has a number.
func (r *recent) add(task string, events []store.StreamEvent, last int64) {
	if len(events) == 0 || last == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.byTask[task]
	first := last - int64(len(events)) + 1
	if t == nil || len(t.events) > 0 && t.events[len(t.events)-1].Seq+1 != first {
		t = &tail{}
		r.byTask[task] = t
	}
	for i, e := range events {
		e.Seq = first + int64(i)
		t.events = append(t.events, e)
		t.bytes += len(e.Data)
	}
	drop := 0
	for len(t.events)-drop > maxTail || t.bytes > maxTailBytes && drop < len(t.events) {
		t.bytes -= len(t.events[drop].Data)
		drop++
	}
	if drop > 0 {
		t.events = slices.Clone(t.events[drop:]) // readers may have what was
	}
}

// after gives events behind a number, n at most; ok: these are all that there are, or
// the first of them.
func (r *recent) after(task string, at int64, n int) (events []store.StreamEvent, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.byTask[task]
	if t == nil || len(t.events) == 0 {
		return nil, false
	}
	i := at + 1 - t.events[0].Seq
	if i < 0 || i > int64(len(t.events)) {
		return nil, false
	}
	rest := t.events[i:]
	return rest[:min(n, len(rest)):min(n, len(rest))], true
}

func (r *recent) forget(task string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byTask, task)
}

// Stream gives events of a task's stream behind a number, n at most, and the number of
// the first that is kept.
func (s *Service) Stream(ctx context.Context, task string, after int64, n int) ([]store.StreamEvent, int64, error) {
	if events, ok := s.recent.after(task, after, n); ok {
		return events, 0, nil
	}
	return s.Store.Stream(ctx, task, after, n)
}
