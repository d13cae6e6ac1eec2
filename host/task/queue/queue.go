package queue

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// AllTasks is the name in Limits of the limit for all tasks together.
const AllTasks = "all"

// maxAtOnce bounds a limit.
const maxAtOnce = 1000

// Limits says how many tasks may work at once, of an agent by its name and in all. Without an entry
// there is no limit. It is the value of an option (option.Tables).
type Limits map[string]int

// Set reads the value of the configuration.
func (l *Limits) Set(raw any) (path []string, err error) {
	path = []string{"tasks-at-once"}
	table, ok := raw.(map[string]any)
	if !ok {
		return path, errors.New("must be a table of numbers, such as { all = 8, claude = 3 }")
	}
	all := Limits{}
	for name, v := range table {
		n, ok := v.(int64)
		if !ok || n < 1 || n > maxAtOnce {
			return append(path, name), fmt.Errorf("must be a number of tasks, 1 to %d", maxAtOnce)
		}
		all[name] = int(n)
	}
	*l = all
	return nil, nil
}

// Queue gives tasks places in the order in which they were asked to work, as far as the limits allow.
// A task has a place from before its agent starts, or its turn begins, until it has nothing to do or
// its turn has ended. All methods may be called from any goroutine.
type Queue struct {
	limits func() Limits // immutable

	mu      sync.Mutex        // Protects following.
	working map[string]string // the agent of each task that has a place, by task
	waiting []Waiter          // in the order in which they were asked
	sent    map[string]bool
}

// New returns a Queue. limits is called at each step, and must not call the Queue.
func New(limits func() Limits) *Queue {
	return &Queue{limits: limits, working: map[string]string{}, sent: map[string]bool{}}
}

// Sent notes that an event was sent to this process, until Over is called.
func (q *Queue) Sent(event string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent[event] = true
}

// WasSent reports whether an event was sent to this process and not to an earlier one.
func (q *Queue) WasSent(event string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.sent[event]
}

func (q *Queue) Over(event string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.sent, event)
}

// Waiter is a task that waits for a place.
type Waiter struct {
	Task, Agent string
	Since       time.Time // when it was asked to work
	Event       int64     // the number of the event that asked; at the same time the lower one comes first
}

// Enter reports whether a task has a place, and puts it on the list if not: Leave and Next say when to
// try again.
func (q *Queue) Enter(w Waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, has := q.working[w.Task]; has {
		return true
	}
	q.insert(w)
	limits := q.limits()
	for i, first := range q.waiting {
		if !q.room(limits, first.Agent) {
			continue
		}
		if first.Task != w.Task {
			return false // that task is woken, or about to call Enter
		}
		q.waiting = slices.Delete(q.waiting, i, i+1)
		q.working[w.Task] = w.Agent
		return true
	}
	return false
}

// insert adds a task to the waiting ones, in order.
func (q *Queue) insert(w Waiter) {
	if i, found := slices.BinarySearchFunc(q.waiting, w, func(a, b Waiter) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Event, b.Event), strings.Compare(a.Task, b.Task))
	}); !found {
		if j := slices.IndexFunc(q.waiting, func(o Waiter) bool { return o.Task == w.Task }); j >= 0 {
			return // it keeps its earlier place
		}
		q.waiting = slices.Insert(q.waiting, i, w)
	}
}

// Ask puts a task on the list unless it has a place, so that later ones come after it. The task then
// has to call Enter.
func (q *Queue) Ask(w Waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, has := q.working[w.Task]; !has {
		q.insert(w)
	}
}

// Revive gives a task a place regardless of the limits, because an earlier host left it at work.
func (q *Queue) Revive(task, agent string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.working[task] = agent
}

// room reports whether one more task of an agent may work.
func (q *Queue) room(limits Limits, agent string) bool {
	of := 0
	for a := range maps.Values(q.working) {
		if a == agent {
			of++
		}
	}
	return within(len(q.working), limits[AllTasks]) && within(of, limits[agent])
}

// within reports whether one more is allowed; a limit of 0 means none.
func within(n, limit int) bool { return limit == 0 || n < limit }

// Leave frees a task's place, and returns the tasks that may call Enter now.
func (q *Queue) Leave(task string) (next []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, had := q.working[task]
	delete(q.working, task)
	n := len(q.waiting)
	q.waiting = slices.DeleteFunc(q.waiting, func(w Waiter) bool { return w.Task == task })
	if !had && n == len(q.waiting) {
		return nil
	}
	return q.first()
}

// Next returns the tasks that there is room for, at most one of each agent.
func (q *Queue) Next() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.first()
}

func (q *Queue) first() (next []string) {
	limits, seen := q.limits(), map[string]bool{}
	for _, w := range q.waiting {
		if !seen[w.Agent] && q.room(limits, w.Agent) {
			seen[w.Agent], next = true, append(next, w.Task)
		}
	}
	return next
}

// Works reports whether a task has a place.
func (q *Queue) Works(task string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, has := q.working[task]
	return has
}

// Ahead returns how many tasks wait before a task, whether there is room for it, so that it is about
// to Enter, and whether it waits at all.
func (q *Queue) Ahead(task string) (n int, room, waits bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n = slices.IndexFunc(q.waiting, func(w Waiter) bool { return w.Task == task })
	return n, slices.Contains(q.first(), task), n >= 0
}
