package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tandemux/host/task/budget"
	"tandemux/host/task/home"
	"tandemux/host/task/queue"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
	"tandemux/internal/client"
	"tandemux/internal/jsonrpc"
)

type Options struct {
	// State is the state directory, absolute. It has the database, the workspaces and the filesystems.
	State string
	// Database is the URL of a PostgreSQL database for the records; if empty they are in SQLite.
	Database string
	// Runtime is the runtime directory, absolute.
	Runtime string
	// Configured returns the definition of an agent in the configuration; nil if there is none.
	Configured func(name string) (registry.Definition, error)
	// Limits returns how many tasks may work at once; nil means any number. It is called each time.
	Limits func() queue.Limits
	// Logins returns the login files of an agent that the operator's tasks may see, relative to Home;
	// nil means none.
	Logins func(agent string) []string
	// Home is the operator's home directory.
	Home string
	// Budgets returns the limits of new tasks; nil means none. It is called each time.
	Budgets func() budget.Defaults
	// Repositories returns the settings of directories; nil means none.
	Repositories home.Settings
	// Dial opens a connection to the host as an internal service (host.Service).
	Dial func(context.Context) (jsonrpc.Transport, error)
	// Version is tandemux's version, Program the absolute path of its file, which sandboxes run too.
	Version, Program string
	// Log gets what happens, never what agents say; nil discards it.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Service manages the tasks of a host. Store, Agents, Files and Options never change.
type Service struct {
	Options
	// Store has the records, Agents checks access to them, Files has the workspaces and filesystems.
	Store  *store.Store
	Agents *registry.Registry
	Files  *workspace.Store

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	work    sync.WaitGroup // runners, and goroutines that wait for the host
	sink    *sink
	news    registry.News
	queue   *queue.Queue
	budgets *budget.Book

	support support
	seeding sync.Mutex // held while logins are copied

	dialing sync.Mutex // held while connecting to the host
	client  *client.Client

	mu     sync.Mutex // Protects following.
	live   map[string]*live
	marked bool // the file unfinishedName was written
	closed bool
}

// Open opens the store, connects to the host, and resumes what an earlier Service left undone.
func Open(ctx context.Context, o Options) (*Service, error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Limits == nil {
		o.Limits = func() queue.Limits { return nil }
	}
	if o.Budgets == nil {
		o.Budgets = func() budget.Defaults { return nil }
	}
	s := &Service{Options: o, live: map[string]*live{}, queue: queue.New(o.Limits)}
	s.sink = &sink{s: s, watched: map[string]*live{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Service) open(ctx context.Context) error {
	var err error
	if s.Store, err = store.Open(ctx, store.Options{Dir: s.State, URL: s.Database, Log: s.Log, Now: s.Now}); err != nil {
		return err
	}
	kept, err := s.Store.Budgets(ctx)
	if err != nil {
		return err
	}
	s.budgets = budget.NewBook(kept, func(task string, r budget.Record) error {
		return s.Store.KeepBudget(context.WithoutCancel(s.ctx), task, r)
	}, time.Now)
	if s.Agents, err = registry.New(ctx, s.Store, registry.Options{Dir: s.State, Log: s.Log, Now: s.Now, Configured: s.Configured}); err != nil {
		return err
	}
	about := func(ctx context.Context, id string, since time.Time) (string, string) {
		return home.About(ctx, s.Store, id, since)
	}
	if s.Files, err = workspace.Open(workspace.Options{State: s.State, About: about, Check: s.check, Resting: s.Resting, Carry: s.Repositories.Carried}); err != nil {
		return fmt.Errorf("open the workspaces: %w", err)
	}
	if err := s.sweep(ctx); err != nil {
		s.Log.Warn("remove what no task has", "err", err)
	}
	return s.resume(ctx)
}

// sweep removes the files of tasks and filesystems without records, which a host that died has left.
// It must run before anything else does.
func (s *Service) sweep(ctx context.Context) error {
	tasks, trees := map[string]bool{}, map[string]bool{}
	err := s.Store.Tasks.Each(ctx, nil, func(t store.Task) error {
		tasks[t.ID], trees[specOf(t).Filesystem] = true, true
		return nil
	})
	if err == nil {
		err = s.Store.Filesystems.Each(ctx, nil, func(f store.Filesystem) error { trees[f.ID] = true; return nil })
	}
	if err != nil {
		return err
	}
	born, err := s.Store.Born(ctx)
	if err != nil {
		return err
	}
	// What is older than the records belongs to another database, which was damaged or is gone. It may
	// be all that is left of somebody's work.
	older := func(dir, id string) bool {
		info, err := os.Stat(filepath.Join(s.State, dir, id))
		return err != nil || info.ModTime().Before(born)
	}
	return s.Files.Sweep(ctx, func(id string) bool { return tasks[id] || older("tasks", id) }, func(id string) bool { return trees[id] || older("filesystems", id) })
}

// resume starts the runners of all tasks that are not over.
func (s *Service) resume(ctx context.Context) error {
	err := s.Store.Tasks.Each(ctx, store.Where{"status": []store.TaskStatus{store.Idle, store.Running}}, func(t store.Task) error {
		events, err := s.Store.WaitingEvents(ctx, t.ID)
		switch {
		case err != nil || len(events) == 0:
		case events[0].Status == store.EventRunning:
			s.queue.Revive(t.ID, s.waiter(ctx, t, events[0]).Agent)
		default:
			s.queue.Ask(s.waiter(ctx, t, events[0]))
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.Store.Tasks.Each(ctx, nil, func(t store.Task) (err error) {
		if t.Status == store.Creating && !t.Facts.Made { // its creator was never told its id
			if t, _, err = s.Store.EndTask(ctx, t.ID, store.Deleting, "it was not made wholly"); err != nil {
				return err
			}
		}
		if t.Status == store.Deleting || !t.Status.Final() || !t.Facts.Ended {
			s.runner(t.ID)
		}
		return nil
	})
}

// Close ends the runners. The next Service resumes what they were doing.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.work.Wait()
	if c := s.connected(); c != nil {
		c.Close()
	}
	if s.budgets != nil {
		if err := s.budgets.Close(); err != nil {
			s.Log.Warn("keep what tasks have used", "err", err)
		}
	}
	if s.Store != nil {
		s.settled()
		s.Store.Close() //nolint:errcheck // what was written stays
	}
}

// connected returns the connection to the host, or nil before it is made.
func (s *Service) connected() *client.Client {
	s.dialing.Lock()
	defer s.dialing.Unlock()
	return s.client
}

// waiter returns the queue's entry for a task's event. An agent that is gone is named by its id.
func (s *Service) waiter(ctx context.Context, t store.Task, e store.Event) queue.Waiter {
	w := queue.Waiter{Task: t.ID, Agent: t.AgentID, Since: e.Created, Event: e.N}
	if a, err := s.Store.Agents.Get(ctx, t.AgentID); err == nil {
		w.Agent = a.Name
	}
	return w
}

// note adds a line about a task to its agent's log (U106). It must not contain what people or agents
// say.
func (s *Service) note(t store.Task, level store.Level, text string) {
	s.Log.Info("task", "task", t.ID, "note", text)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), 5*time.Second)
	defer cancel()
	launch, err := s.Agents.Launch(ctx, t.VersionID)
	if err == nil {
		err = s.Agents.Log(ctx, launch, store.LogEntry{TaskID: t.ID, Level: level, Source: "task", Text: text})
	}
	if err != nil {
		s.Log.Warn("write a task's log", "task", t.ID, "err", err)
	}
}

// logger returns a function that adds lines to the log of a task's agent.
func (s *Service) logger(t store.Task, l registry.Launch, source string) func(store.Level, string) {
	return func(level store.Level, text string) {
		err := s.Agents.Log(s.ctx, l, store.LogEntry{TaskID: t.ID, Level: level, Source: source, Text: text})
		if err != nil && s.ctx.Err() == nil {
			s.Log.Warn("write a task's log", "task", t.ID, "err", err)
		}
	}
}

// environ returns the host's environment for processes without a sandbox.
func (s *Service) environ() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "TANDEMUX_") {
			env = append(env, kv)
		}
	}
	return env
}

// unfinishedName is a file in the state directory that exists while a task may have something to do. A
// host that finds it opens the service when it starts.
const unfinishedName = "tasks.unfinished"

// Unfinished reports whether a Service of this state directory may have left work undone.
func Unfinished(state string) bool {
	_, err := os.Stat(filepath.Join(state, unfinishedName))
	return err == nil
}

// begun writes the file unfinishedName.
func (s *Service) begun() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.marked {
		return
	}
	err := os.WriteFile(filepath.Join(s.State, unfinishedName), nil, 0o600)
	if s.marked = err == nil; err != nil {
		s.Log.Warn("note that tasks are unfinished", "err", err)
	}
}

// settled removes the file unfinishedName if no task has anything left to do.
func (s *Service) settled() {
	unfinished, _, err := s.Store.Tasks.List(context.Background(), store.Where{"status": []store.TaskStatus{store.Creating, store.Running, store.Deleting}}, store.Page{Limit: 1})
	waiting, failed := s.Store.CountWaiting(context.Background())
	if err != nil || failed != nil || len(unfinished) > 0 || waiting > 0 {
		return
	}
	if err := os.Remove(filepath.Join(s.State, unfinishedName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.Log.Warn("note that all tasks are at rest", "err", err)
	}
}
