package registry

import (
	"context"
	"strings"
	"sync"

	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

// Log puts lines in the log of a version's agent, without the version's secrets.
// Their agent and version are set.
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

// News wakes who waits for something to change: an agent's log, a task.
type News struct {
	mu      sync.Mutex
	waiting map[string]chan struct{} // by what is waited for
}

// Of is closed with the next change: take it, look, and then wait for it.
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

// AwaitLogs is Logs, but waits for the first line that the filter chooses until
// the context ends, whereupon it gives none.
func (r *Registry) AwaitLogs(ctx context.Context, who access.Principal, f store.LogFilter) (lines []store.LogEntry, last int64, err error) {
	a, err := r.agent(ctx, who, access.Read, f.Agent)
	if err != nil {
		return nil, 0, err
	}
	for {
		more := r.news.Of(a.ID) // before looking, so that nothing falls between
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

// Logs gives lines of an agent's log, to somebody who may read the agent and, of
// tasks' lines, the task (U106). Agent and Version may be named in any way. The
// number of the last line looked at is where a follower goes on.
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
		} else if !strings.HasPrefix(f.Task, "tsk_") { // one that was deleted has lines still
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

// mayReadLog says whether somebody may read a task's lines: those of tasks that
// are gone are the operator's.
func (r *Registry) mayReadLog(ctx context.Context, who access.Principal, task string) bool {
	if who.Kind == access.Operator {
		return true
	}
	t, err := r.store.Tasks.Find(ctx, task)
	return err == nil && t.ID == task && access.MayTask(who, access.Read, ParentsOf(t)) == access.Allowed
}
