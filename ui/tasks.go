package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// Tasks are the methods of a Host that has tasks: agents at work in a workspace of their own. They
// are in the list of sessions.
type Tasks interface {
	// Tasks lists them, the newest first.
	Tasks(ctx context.Context) ([]Task, error)
	// TaskChanges says what a task has changed; empty where it has no files.
	TaskChanges(ctx context.Context, id string) (TaskChanges, error)
	// SteerTask sends text to a task.
	SteerTask(ctx context.Context, id, text string) error
	// MergeTask brings home what a task has changed, PullTask writes its files into a
	// directory, DiscardTask deletes it with its workspace. Each says in a few words
	// what it did.
	MergeTask(ctx context.Context, id string) (string, error)
	PullTask(ctx context.Context, id, dir string) (string, error)
	DiscardTask(ctx context.Context, id string) (string, error)
}

// Task is a task of the host's.
type Task struct {
	ID, Name string
	Session  ahp.URI // empty for one of programs that are no agents
	Status   string  // CREATING, IDLE, RUNNING, CANCELLED, FAILED, DELETING
	Reason   string  // why it failed
	Percent  int     // how far it is; -1 where it does not say
	Line     string  // what it is doing
	// Workspace is what it works on, in a few words.
	Workspace string
	Updated   time.Time
}

// TaskChanges is what a task has changed.
type TaskChanges struct {
	Files          []overlay.Changed
	Added, Deleted int // lines
	// Into is where merging would bring them, empty where that is nowhere.
	Into string
	// Branch is the task's own, of a worktree.
	Branch string
}

const (
	// maxCompared bounds the tasks whose changes are asked for.
	maxCompared = 50
	// taskPause is between two looks at tasks while the list is open and one of them
	// works.
	taskPause = 3 * time.Second
)

// taskList is what this client knows of the host's tasks. They are asked for when the
// list of sessions opens, and while it is open.
type taskList struct {
	all      []Task
	loading  bool
	again    bool // something has changed since they were asked for
	ticking  bool
	changes  map[string]compared // by id
	awaiting bool                // changes are being asked for
}

// compared is what a task had changed at a time.
type compared struct {
	at      time.Time // the task's Updated
	status  string
	changes TaskChanges
}

// taskScheme begins what the list calls a task without a session.
const taskScheme = "x-tandemux-task:/"

// taskAt finds the task of a row of the list.
func (m *Model) taskAt(uri ahp.URI) *Task {
	i := slices.IndexFunc(m.taskList.all, func(t Task) bool { return t.Session == uri || taskScheme+t.ID == uri })
	if i < 0 {
		return nil
	}
	return &m.taskList.all[i]
}

// loadTasks asks for the tasks, unless that is under way: then once more after it.
func (m *Model) loadTasks() {
	h, l := m.cfg.Host, &m.taskList
	switch {
	case !m.can(CanTasks) || m.link != Connected:
		return
	case l.loading:
		l.again = true
		return
	}
	l.loading, l.again = true, false
	m.loop.Async("list the tasks", func(ctx context.Context) (func(), error) {
		all, err := h.Tasks(ctx)
		if err != nil {
			m.log.Info("the host lists no tasks", "err", err)
		}
		return func() {
			l := &m.taskList
			l.loading = false
			if err != nil {
				return
			}
			l.all = all
			m.loop.Dirty |= loop.Panes
			m.compareTasks()
			if l.again && m.listsTasks() {
				m.loadTasks()
			}
			m.lookAgain()
		}, nil
	})
}

// listsTasks reports whether the list is open.
func (m *Model) listsTasks() bool {
	_, ok := m.loop.Overlay.(*overlay.Agents)
	return ok
}

// lookAgain looks at the tasks after a while if the list is open and one works: how
// far it is comes by no notification.
func (m *Model) lookAgain() {
	l := &m.taskList
	works := slices.ContainsFunc(l.all, func(t Task) bool { return t.Status == "RUNNING" || t.Status == "CREATING" })
	if l.ticking || !works || !m.listsTasks() {
		return
	}
	l.ticking = true
	m.loop.After(taskPause, func() {
		m.taskList.ticking = false
		if m.listsTasks() {
			m.loadTasks()
		}
	})
}

// compareTasks asks what the tasks have changed, one after the other, of those about
// which that is not known as they are now.
func (m *Model) compareTasks() {
	h, l := m.cfg.Host, &m.taskList
	if !m.can(CanTasks) || l.awaiting || !m.listsTasks() {
		return
	}
	i := slices.IndexFunc(l.all[:min(len(l.all), maxCompared)], func(t Task) bool {
		known, ok := l.changes[t.ID]
		return t.Workspace != "" && t.Status != "CREATING" && t.Status != "DELETING" && (!ok || !known.at.Equal(t.Updated) || known.status != t.Status)
	})
	if i < 0 {
		return
	}
	t := l.all[i]
	l.awaiting = true
	m.loop.Async("compare a task's files", func(ctx context.Context) (func(), error) {
		got, err := h.TaskChanges(ctx, t.ID)
		if err != nil {
			m.log.Info("a task's changes are not known", "task", t.ID, "err", err)
		}
		return func() {
			l := &m.taskList
			l.awaiting = false
			if l.changes == nil || len(l.changes) > 4*maxCompared {
				l.changes = map[string]compared{}
			}
			l.changes[t.ID] = compared{t.Updated, t.Status, got}
			m.loop.Dirty |= loop.Panes
			m.compareTasks()
		}, nil
	})
}

// taskRow makes a session's row one of its task.
func (m *Model) taskRow(r overlay.Session, t Task) overlay.Session {
	l := &m.outer.look
	r.Task = true
	switch t.Status {
	case "CREATING", "CANCELLED", "DELETING":
		r.State, r.StateStyle = strings.ToLower(t.Status), l.Background
		r.Mark = string(l.Ended)
	case "FAILED":
		r.State, r.StateStyle, r.Mark, r.Doing = "failed", l.Fail, string(l.Failed), words.Clean(t.Reason)
	}
	if t.Percent >= 0 {
		r.Progress = fmt.Sprintf("%d%%", t.Percent)
	}
	if line := words.Clean(t.Line); line != "" && r.State != "waiting for you" {
		r.Doing = line
	}
	c := m.taskList.changes[t.ID].changes
	if len(c.Files) > 0 {
		r.Changes = fmt.Sprintf("+%d -%d", c.Added, c.Deleted)
	}
	r.Cwd = words.Clean(t.Workspace)
	if c.Branch != "" {
		r.Cwd = words.Clean(c.Branch)
	}
	return r
}

// programTasks are the rows of tasks that have no session.
func (m *Model) programTasks(listed map[ahp.URI]bool, archived bool) []overlay.Session {
	var rows []overlay.Session
	for _, t := range m.taskList.all {
		over := t.Status == "CANCELLED" || t.Status == "FAILED" || t.Status == "DELETING"
		if t.Session != "" && listed[t.Session] || over && !archived && t.Status != "FAILED" {
			continue
		}
		l := &m.outer.look
		r := overlay.Session{
			URI: taskScheme + t.ID, Title: words.Clean(t.Name), Mark: string(l.Ended), State: "idle", StateStyle: l.Background,
			Time: rested(m.env.Now().Sub(t.Updated)),
		}
		if t.Status == "RUNNING" {
			r.Mark, r.State, r.StateStyle = string(l.Running), "working", l.Agent
		}
		rows = append(rows, m.taskRow(r, t))
	}
	return rows
}

// onTask does something with the task of a row.
func (m *Model) onTask(f func(t Task, h Tasks)) func(ahp.URI) {
	return func(uri ahp.URI) {
		t, h := m.taskAt(uri), m.cfg.Host
		if t == nil || !m.can(CanTasks) {
			m.loop.Say(status.Info, "this session is no task: `tandemux task create` makes one")
			return
		}
		f(*t, h)
	}
}

// steerTask asks what to tell a task.
func (m *Model) steerTask(t Task, h Tasks) {
	before := m.loop.Overlay
	m.loop.Open(overlay.NewPrompt("tell "+words.Clean(t.Name), "", func(text string) {
		m.loop.Open(before)
		if strings.TrimSpace(text) == "" {
			return
		}
		m.loop.Async("tell the task", func(ctx context.Context) (func(), error) {
			err := h.SteerTask(ctx, t.ID, text)
			return func() {
				if err == nil {
					m.loop.Brief("told %s", t.Name)
				}
				m.loadTasks()
			}, err
		})
	}))
}

// pullTask shows what a task has changed, to merge it or copy it out.
func (m *Model) pullTask(t Task, h Tasks) {
	before := m.loop.Overlay
	m.loop.Async("compare the task's files", func(ctx context.Context) (func(), error) {
		got, err := h.TaskChanges(ctx, t.ID)
		return func() {
			if err == nil && m.loop.Overlay == before {
				m.showChanges(t, h, got)
			}
		}, err
	})
}

func (m *Model) showChanges(t Task, h Tasks, c TaskChanges) {
	before := m.loop.Overlay
	done := func(what string, do func(ctx context.Context) (string, error)) {
		m.loop.Async(what, func(ctx context.Context) (func(), error) {
			said, err := do(ctx)
			return func() {
				if err == nil {
					m.loop.Say(status.Info, "%s", said)
				}
				delete(m.taskList.changes, t.ID)
				m.loadTasks()
			}, err
		})
	}
	for i := range c.Files {
		c.Files[i].Path = words.Clean(c.Files[i].Path)
	}
	b := overlay.Bringing{
		Title: "Changes of " + words.Clean(t.Name), Files: c.Files,
		Note: fmt.Sprintf("%s, +%d -%d", words.Plural(len(c.Files), "file"), c.Added, c.Deleted),
		Out: func() {
			m.loop.Open(overlay.NewPrompt("copy "+words.Clean(t.Name)+" into the directory", "", func(dir string) {
				m.loop.Open(before)
				if dir = strings.TrimSpace(dir); dir != "" {
					done("copy the task's files", func(ctx context.Context) (string, error) { return h.PullTask(ctx, t.ID, dir) })
				}
			}))
		},
	}
	if c.Into != "" {
		b.Note += ", into " + words.Clean(c.Into)
		b.Merge = func() {
			m.loop.Open(before)
			done("bring home what the task changed", func(ctx context.Context) (string, error) { return h.MergeTask(ctx, t.ID) })
		}
	}
	m.loop.Open(overlay.NewChanges(b))
}

// discardTask deletes a task, asking first.
func (m *Model) discardTask(t Task, h Tasks) {
	question := fmt.Sprintf("discard the task %q with its workspace?", t.Name)
	if c := m.taskList.changes[t.ID].changes; len(c.Files) > 0 {
		question = fmt.Sprintf("discard the task %q and its changes of %s?", t.Name, words.Plural(len(c.Files), "file"))
	}
	m.confirm(words.Clean(question), func() {
		m.loop.Async("discard the task", func(ctx context.Context) (func(), error) {
			said, err := h.DiscardTask(ctx, t.ID)
			return func() {
				if err == nil {
					m.loop.Say(status.Info, "%s", said)
				}
				m.loadTasks()
			}, err
		})
	})
}
