package registry

import (
	"context"
	"strings"
	"sync"

	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

// Log adds lines to the log of a version's agent, with the version's secrets masked. It sets their
// agent and version.
func (r *Registry) Log(ctx context.Context, l Launch, entries ...store.LogEntry) error {
	for i := range entries {
		entries[i].AgentID, entries[i].VersionID = l.Agent.ID, l.Version.ID
		entries[i].Text = l.Masker.Text(entries[i].Text)
	}
	return r.addLogs(ctx, l.Agent.ID, entries...)
}

func (r *Registry) addLogs(ctx context.Context, agent string, entries ...store.LogEntry) error {
	err := r.store.AddLogs(ctx, entries)
	r.news.Tell(agent)
	return err
}

// News wakes those who wait for a change of something: an agent's log, or a task.
type News struct {
	mu      sync.Mutex
	waiting map[string]chan struct{} // by the id of what changes
}

// Of returns a channel that is closed with the next change. Get the channel, then look, then wait.
func (n *News) Of(what string) <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.waiting == nil {
		n.waiting = map[string]chan struct{}{}
	}
	if n.waiting[what] == nil {
		n.waiting[what] = make(chan struct{})
	}
	return n.waiting[what]
}

// Tell wakes those who wait.
func (n *News) Tell(changed ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, what := range changed {
		if c := n.waiting[what]; c != nil {
			close(c)
			delete(n.waiting, what)
		}
	}
}

// AwaitLogs is Logs that waits for the first line that f selects, until ctx ends. Then it returns no
// lines.
func (r *Registry) AwaitLogs(ctx context.Context, who access.Principal, f store.LogFilter) (lines []store.LogEntry, last int64, err error) {
	a, err := r.agent(ctx, who, access.Read, f.Agent)
	if err != nil {
		return nil, 0, err
	}
	for {
		more := r.news.Of(a.ID) // before Logs, so that no line is missed
		if lines, last, err = r.Logs(context.WithoutCancel(ctx), who, f); err != nil || len(lines) > 0 {
			return lines, last, err
		}
		f.After = max(f.After, last)
		select {
		case <-more:
		case <-ctx.Done():
			return nil, f.After, nil
		}
	}
}

// Logs returns lines of an agent's log, for who may read the agent and, for lines of tasks, the task
// (U106). f.Agent and f.Version may be ids, names or numbers. last is the number to continue after.
func (r *Registry) Logs(ctx context.Context, who access.Principal, f store.LogFilter) (lines []store.LogEntry, last int64, err error) {
	a, err := r.agent(ctx, who, access.Read, f.Agent)
	if err != nil {
		return nil, 0, err
	}
	f.Agent = a.ID
	if f.Version != "" {
		v, err := r.versionOf(ctx, who, a.ID, f.Version)
		if err != nil {
			return nil, 0, err
		}
		f.Version = v.ID
	}
	if f.Task != "" {
		t, err := r.store.Tasks.Find(ctx, f.Task)
		if err == nil {
			f.Task = t.ID
		} else if !strings.HasPrefix(f.Task, "tsk_") { // a deleted task still has lines
			return nil, 0, err
		}
	}
	all, err := r.store.Logs(ctx, f)
	if err != nil {
		return nil, 0, err
	}
	last = f.After
	allowed := map[string]bool{"": true}
	for _, e := range all {
		last = max(last, e.N)
		may, known := allowed[e.TaskID]
		if !known {
			may = r.mayReadLog(ctx, who, e.TaskID)
			allowed[e.TaskID] = may
		}
		if may {
			lines = append(lines, e)
		}
	}
	return lines, last, nil
}

// mayReadLog reports whether who may read a task's lines. Only the operator may read those of deleted
// tasks.
func (r *Registry) mayReadLog(ctx context.Context, who access.Principal, task string) bool {
	if who.Kind == access.Operator {
		return true
	}
	t, err := r.store.Tasks.Find(ctx, task)
	return err == nil && t.ID == task && access.MayTask(who, access.Read, ParentsOf(t)) == access.Allowed
}
