package tasks

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// Host has tasks: agents at work in a workspace of their own. They are in the list
// of sessions.
type Host interface {
	// Tasks lists them, the newest first.
	Tasks(ctx context.Context) ([]Task, error)
	// TaskChanges says what a task has changed; empty where it has no files.
	TaskChanges(ctx context.Context, id string) (Changes, error)
	// SteerTask sends text to a task.
	SteerTask(ctx context.Context, id, text string) error
	// TaskPatch is what a task has changed as git writes it, as much as is bounded.
	TaskPatch(ctx context.Context, id string) (string, error)
	// MergeTask brings home what a task has changed. Where a check has failed, the error
	// is a CheckFailed.
	MergeTask(ctx context.Context, id string, how Merge) (Merged, error)
	// UpdateTask brings what is new at home into a task; PullTask writes its files into a
	// directory, DiscardTask deletes it with its workspace. Each says in a few words what
	// it did.
	UpdateTask(ctx context.Context, id string, how Update) (string, error)
	PullTask(ctx context.Context, id, dir string) (string, error)
	DiscardTask(ctx context.Context, id string) (string, error)
}

// Task is a task of the host's.
type Task struct {
	ID, Name string
	Session  ahp.URI // empty for one of programs that are no agents
	Status   string  // CREATING, PENDING, IDLE, RUNNING, WAITING, CANCELLED, FAILED, DELETING
	Reason   string  // why it failed, or could not be deleted
	Outcome  string  // of its last turn: done, failed, cancelled, interrupted, conflict, disk, budget; "" for none
	Why      string  // it ended so
	Asks     string  // what it waits for, when it is WAITING
	Percent  int     // how far it is; -1 where it does not say
	Line     string  // what it is doing
	// Workspace is what it works on, in a few words.
	Workspace string
	Updated   time.Time
}

// Rests reports whether nothing of it is at work.
func (t *Task) Rests() bool {
	return t.Status == "IDLE" || t.Status == "CANCELLED" || t.Status == "FAILED"
}

type Changed struct {
	Mark           string // one cell: how
	Path, From     string // From is what it was called before, of one that was renamed
	Added, Deleted int    // lines
	Binary         bool
}

type Changes struct {
	Files          []Changed
	Added, Deleted int // lines
	// Into is where merging would bring them, empty where that is nowhere.
	Into string
	// Branch is the task's own, of a worktree.
	Branch string
	// Conflicts are files that both sides changed, Left what can't come home.
	Conflicts, Left []string
	// Listed says that the task's session has a changeset.
	Listed bool
}

// Merge says how a task's work comes home.
type Merge struct {
	Message string // of the commit; empty for what the work was about
	Look    bool   // only say what would be
	Running bool   // though it is at work
	NoCheck bool   // without what must pass before
}

// Merged is what a merge did, or would do.
type Merged struct {
	Files, Added, Deleted int
	Into                  string
	Message               string // that a commit would have; empty where none is made
	Check                 string // the command that must pass before
	Behind                int    // commits that the task does not have
}

// Update says how what is new at home comes into a task: with conflicts that the agent
// is asked to resolve, or that are given up.
type Update struct{ Ask, Abort, Running bool }

// CheckFailed is the error of a merge whose check has failed.
type CheckFailed struct{ Reason, Output string }

func (e *CheckFailed) Error() string { return e.Reason }

const (
	// maxCompared bounds the tasks whose changes are asked for.
	maxCompared = 50
	// taskPause is between two looks at tasks while the list is open and one of them
	// works.
	taskPause = 3 * time.Second
)

// List is what this client knows of the host's tasks. They are asked for when the
// list of sessions opens, and while it is open.
type List struct {
	// Overlay is the list of sessions, nil before it was opened.
	Overlay *overlay.List

	loop      *loop.Loop
	log       *slog.Logger
	host      Host
	connected func() bool

	all      []Task
	loading  bool
	again    bool // something has changed since they were asked for
	then     []func()
	ticking  bool
	changes  map[string]compared // by id
	awaiting bool                // changes are being asked for
}

// New makes an empty list. connected says whether
// it can be asked now.
func New(l *loop.Loop, log *slog.Logger, host Host, connected func() bool) *List {
	return &List{loop: l, log: log, host: host, connected: connected}
}

// compared is what a task had changed at a time.
type compared struct {
	at      time.Time // the task's Updated
	status  string
	changes Changes
}

// taskScheme begins what the list calls a task without a session.
const taskScheme = "x-tandemux-task:/"

// At finds the task of a row of the list, nil for none.
func (l *List) At(uri ahp.URI) *Task {
	i := slices.IndexFunc(l.all, func(t Task) bool { return t.Session == uri || taskScheme+t.ID == uri })
	if i < 0 {
		return nil
	}
	return &l.all[i]
}

// Find is the task of an id, nil for none.
func (l *List) Find(id string) *Task { return l.At(taskScheme + id) }

func (l *List) Host() Host { return l.host }

// Changed says that something was done with a task.
func (l *List) Changed(id string) {
	delete(l.changes, id)
	l.Load()
}

// Load asks for the tasks, unless that is under way: then once more after it.
func (l *List) Load() { l.Know(nil) }

// Know is Load, and what follows once they are known as far as they will be.
func (l *List) Know(then func()) {
	if !l.connected() {
		return
	}
	if then != nil {
		l.then = append(l.then, then)
	}
	if l.loading {
		l.again = true
		return
	}
	l.loading, l.again = true, false
	l.loop.Async("list the tasks", func(ctx context.Context) (func(), error) {
		all, err := l.host.Tasks(ctx)
		if err != nil {
			l.log.Info("the host lists no tasks", "err", err)
		}
		return func() {
			l.loading = false
			if err == nil {
				l.all = all
			}
			for _, then := range l.then {
				then()
			}
			l.then = nil
			if err != nil {
				return
			}
			l.loop.Dirty |= loop.Panes
			l.compare()
			if l.again && l.Shown() {
				l.Load()
			}
			l.lookAgain()
		}, nil
	})
}

// Shown reports whether the list is open.
func (l *List) Shown() bool { return l.loop.Overlay == l.Overlay }

// lookAgain looks at the tasks after a while if the list is open and one works: how
// far it is comes by no notification.
func (l *List) lookAgain() {
	works := slices.ContainsFunc(l.all, func(t Task) bool {
		return t.Status == "RUNNING" || t.Status == "CREATING" || t.Status == "PENDING" || t.Status == "WAITING"
	})
	if l.ticking || !works || !l.Shown() {
		return
	}
	l.ticking = true
	l.loop.After(taskPause, func() {
		l.ticking = false
		if l.Shown() {
			l.Load()
		}
	})
}

// compare asks what the tasks have changed, one after the other, of those about
// which that is not known as they are now.
func (l *List) compare() {
	if l.awaiting || !l.Shown() {
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
	l.loop.Async("compare a task's files", func(ctx context.Context) (func(), error) {
		got, err := l.host.TaskChanges(ctx, t.ID)
		if err != nil {
			l.log.Info("a task's changes are not known", "task", t.ID, "err", err)
		}
		return func() {
			l.awaiting = false
			if l.changes == nil || len(l.changes) > 4*maxCompared {
				l.changes = map[string]compared{}
			}
			l.changes[t.ID] = compared{t.Updated, t.Status, got}
			l.loop.Dirty |= loop.Panes
			l.compare()
		}, nil
	})
}

// Session is a row of the list of sessions.
type Session struct {
	URI         ahp.URI
	Mark, State overlay.Cell // the state in one cell, and in a word
	Title       string
	Unread      bool
	Agent       string
	Tokens      string // "" where not known
	Time        string // how long it has worked, or since when it rests
	Cwd         string // a task's workspace
	Doing       string // what it does, or waits for
	Where       string // "tab 2", "" when no pane of this layout shows it
	// Of a task: how far it is, and how many lines it has changed.
	Progress, Changes string
}

// Columns are those of a session's row.
var Columns = []overlay.Column{
	{Most: 1},
	{Most: 16, Least: 8},
	{Fills: true, Least: 20},
	{Right: true, Muted: true},
	{Right: true, Muted: true},
	{Right: true, Muted: true},
	{Right: true, Muted: true},
	{Most: 18, Muted: true},
	{Muted: true},
	{Most: 30, Muted: true},
}

// Row is the session in those columns.
func (s *Session) Row(look *look.Look) overlay.Row {
	title := overlay.Cell{Text: s.Title}
	if s.Unread {
		title.Style = look.Overlay
		title.Style.Attrs |= look.OverlayAccent.Attrs
	}
	s.State.Style = s.Mark.Style
	return overlay.Row{
		Key: s.URI, Filter: strings.Join([]string{s.Title, s.Agent, s.State.Text, s.Cwd, s.Where}, " "),
		Cells: []overlay.Cell{s.Mark, s.State, title, {Text: s.Progress}, {Text: s.Changes}, {Text: s.Time}, {Text: s.Tokens}, {Text: s.Agent}, {Text: s.Where}, {Text: s.Cwd}},
		Facts: []string{s.Doing, s.Cwd, s.Agent, s.Where},
	}
}

// Fill makes a session's row one of its task.
func (l *List) Fill(r *Session, t Task, look *look.Look) {
	switch t.Status {
	case "CREATING", "CANCELLED", "DELETING":
		r.State.Text, r.Mark = strings.ToLower(t.Status), overlay.Cell{Text: string(look.Ended), Style: look.Background}
	case "FAILED":
		r.State.Text, r.Mark = "failed", overlay.Cell{Text: string(look.Failed), Style: look.Fail}
	}
	if t.Reason != "" {
		r.Doing = words.Clean(t.Reason)
	}
	if t.Percent >= 0 {
		r.Progress = fmt.Sprintf("%d%%", t.Percent)
	}
	if line := words.Clean(t.Line); line != "" && r.State.Text != "waiting for you" {
		r.Doing = line
	}
	ended(r, t, look)
	c := l.changes[t.ID].changes
	if len(c.Files) > 0 {
		r.Changes = fmt.Sprintf("+%d -%d", c.Added, c.Deleted)
	}
	r.Cwd = words.Clean(t.Workspace)
	if c.Branch != "" {
		r.Cwd = words.Clean(c.Branch)
	}
}

// ended says how the last turn of an idle task ended, if not well. What its session says
// is newer.
func ended(r *Session, t Task, look *look.Look) {
	if t.Status != "IDLE" || r.State.Text != "idle" && r.State.Text != "failed" {
		return
	}
	switch t.Outcome {
	case "", "done":
		return
	case "cancelled":
		r.Doing = "its last turn was cancelled"
		return
	case "disk":
		r.State.Text = "disk full"
	default:
		r.State.Text = words.Clean(t.Outcome)
	}
	r.Mark, r.Doing = overlay.Cell{Text: string(look.Failed), Style: look.Fail}, words.Clean(t.Why)
}

// Rows are the rows of tasks that have no session.
func (l *List) Rows(listed map[ahp.URI]bool, archived bool, look *look.Look) []overlay.Row {
	var rows []overlay.Row
	for _, t := range l.all {
		over := t.Status == "CANCELLED" || t.Status == "FAILED" || t.Status == "DELETING"
		if t.Session != "" && listed[t.Session] || over && !archived && t.Status != "FAILED" {
			continue
		}
		r := Session{URI: taskScheme + t.ID, Title: words.Clean(t.Name), Time: words.Rested(l.loop.Now().Sub(t.Updated))}
		r.State.Text, r.Mark = "idle", overlay.Cell{Text: string(look.Ended), Style: look.Background}
		if t.Status == "RUNNING" {
			r.State.Text, r.Mark = "working", overlay.Cell{Text: string(look.Running), Style: look.Agent}
		}
		if t.Status == "WAITING" {
			r.State.Text, r.Mark, r.Doing = "waiting for you", overlay.Cell{Text: "?", Style: look.Agent}, words.Clean(t.Asks)
		}
		l.Fill(&r, t, look)
		rows = append(rows, r.Row(look))
	}
	return rows
}

// task finds the task of a row, saying so where there is none.
func (l *List) task(uri ahp.URI) (t Task, ok bool) {
	if t := l.At(uri); t != nil {
		return *t, true
	}
	l.loop.Say(status.Info, "this session is no task: `tandemux task new` makes one")
	return t, false
}

// Steer asks what to tell the task of a row.
func (l *List) Steer(uri ahp.URI) {
	t, ok := l.task(uri)
	if !ok {
		return
	}
	before := l.loop.Overlay
	l.loop.Open(overlay.NewPrompt("tell "+words.Clean(t.Name), "", func(text string) {
		l.loop.Open(before)
		if strings.TrimSpace(text) == "" {
			return
		}
		l.loop.Call("tell the task", func(ctx context.Context) error { return l.host.SteerTask(ctx, t.ID, text) }, func() {
			l.loop.Brief("told %s", t.Name)
			l.Load()
		})
	}))
}

// Discard deletes the task of a row, asking first.
func (l *List) Discard(uri ahp.URI) {
	t, ok := l.task(uri)
	if !ok {
		return
	}
	question := fmt.Sprintf("discard the task %q with its workspace?", t.Name)
	if c := l.changes[t.ID].changes; len(c.Files) > 0 {
		question = fmt.Sprintf("discard the task %q and its changes of %s?", t.Name, words.Plural(len(c.Files), "file"))
	}
	l.loop.Confirm(words.Clean(question), func() {
		l.done(t, "discard the task", func(ctx context.Context) (string, error) { return l.host.DiscardTask(ctx, t.ID) })
	})
}

// done does something with a task and says what that did.
func (l *List) done(t Task, what string, do func(ctx context.Context) (string, error)) {
	loop.Get(l.loop, what, do, func(said string) {
		l.loop.Say(status.Info, "%s", said)
		l.Changed(t.ID)
	})
}
