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

// Host has tasks: agents that work in a workspace of their own.
type Host interface {
	// Tasks lists the tasks, the newest first.
	Tasks(ctx context.Context) ([]Task, error)
	// TaskChanges returns a task's changes, empty if it has no files.
	TaskChanges(ctx context.Context, id string) (Changes, error)
	// SteerTask sends text to a task.
	SteerTask(ctx context.Context, id, text string) error
	// TaskPatch returns a task's changes as a patch of git, as much as the host's limit allows.
	TaskPatch(ctx context.Context, id string) (string, error)
	// MergeTask merges a task's changes. If a check failed, the error is a CheckFailed.
	MergeTask(ctx context.Context, id string, how Merge) (Merged, error)
	// UpdateTask merges what is new at home into a task. PullTask writes a task's files into a
	// directory. DiscardTask deletes a task with its workspace. Each returns a short text about
	// what it did.
	UpdateTask(ctx context.Context, id string, how Update) (string, error)
	PullTask(ctx context.Context, id, dir string) (string, error)
	DiscardTask(ctx context.Context, id string) (string, error)
}

// Task is a task of a host.
type Task struct {
	ID, Name string
	Session  ahp.URI // empty if its program is no agent
	Status   string  // CREATING, PENDING, IDLE, RUNNING, WAITING, CANCELLED, FAILED, DELETING
	Reason   string  // why it failed, or could not be deleted
	Outcome  string  // of its last turn: done, failed, cancelled, interrupted, conflict, disk, budget; "" for none
	Why      string  // why it had that outcome
	Asks     string  // its question if it is WAITING
	Percent  int     // its progress; -1 if unknown
	Line     string  // what it is doing
	// Workspace describes its workspace.
	Workspace string
	Updated   time.Time
}

// Rests reports whether nothing of the task is running.
func (t *Task) Rests() bool {
	return t.Status == "IDLE" || t.Status == "CANCELLED" || t.Status == "FAILED"
}

type Changed struct {
	Mark           string // the kind of change, in one cell
	Path, From     string // From is the old path of a renamed file
	Added, Deleted int    // lines
	Binary         bool
}

type Changes struct {
	Files          []Changed
	Added, Deleted int // lines
	// Into is where merging would put the changes, empty if nowhere.
	Into string
	// Branch is the task's branch, if it has a worktree.
	Branch string
	// Conflicts is the files that both sides changed, Left what can't be merged.
	Conflicts, Left []string
	// Listed says that the task's session has a changeset.
	Listed bool
}

// Merge is how to merge a task's changes.
type Merge struct {
	Message string // of the commit; empty for one from the task
	Look    bool   // only say what would be done
	Running bool   // also if the task is running
	NoCheck bool   // without the check
}

// Merged is what a merge did, or would do.
type Merged struct {
	Files, Added, Deleted int
	Into                  string
	Message               string // the commit's message; empty if there is no commit
	Check                 string // the command that must pass
	Behind                int    // number of commits that the task does not have
}

// Update is how to merge what is new at home into a task. Ask has the agent resolve conflicts,
// Abort gives up a merge with conflicts, Running allows it while the task is running.
type Update struct{ Ask, Abort, Running bool }

// CheckFailed is the error of a merge whose check failed.
type CheckFailed struct{ Reason, Output string }

func (e *CheckFailed) Error() string { return e.Reason }

const (
	// maxCompared is how many tasks' changes are asked for.
	maxCompared = 50
	// taskPause is how often tasks are fetched while the list is open and one of them is running.
	taskPause = 3 * time.Second
)

// List is what this client knows of the hosts' tasks. They are fetched when the list of sessions
// opens, and while it is open.
type List struct {
	// Overlay is the list of sessions, nil before it is first opened.
	Overlay *overlay.List

	loop      *loop.Loop
	log       *slog.Logger
	host      Host
	connected func() bool

	all      []Task
	loading  bool
	again    bool // fetch once more when loading has ended
	then     []func()
	ticking  bool
	changes  map[string]compared // by task id
	awaiting bool                // changes are being fetched
}

// New makes an empty List. connected reports whether the host can be asked.
func New(l *loop.Loop, log *slog.Logger, host Host, connected func() bool) *List {
	return &List{loop: l, log: log, host: host, connected: connected}
}

// compared is a task's changes at a time.
type compared struct {
	at      time.Time // the task's Updated
	status  string
	changes Changes
}

// taskScheme is the scheme of the key of a task without a session.
const taskScheme = "x-tandemux-task:/"

// At returns the task of a row's key, nil for none.
func (l *List) At(uri ahp.URI) *Task {
	i := slices.IndexFunc(l.all, func(t Task) bool { return t.Session == uri || taskScheme+t.ID == uri })
	if i < 0 {
		return nil
	}
	return &l.all[i]
}

// Find returns the task of an id, nil for none.
func (l *List) Find(id string) *Task { return l.At(taskScheme + id) }

func (l *List) Host() Host { return l.host }

// Changed says that a task was changed.
func (l *List) Changed(id string) {
	delete(l.changes, id)
	l.Load()
}

// Load fetches the tasks. If it is doing so already it fetches them once more afterwards.
func (l *List) Load() { l.Know(nil) }

// Know is Load, and calls then when the answer has arrived, also if it is an error.
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

// lookAgain fetches the tasks after a while if the list is open and one is running: no
// notification reports progress.
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

// compare fetches the changes of tasks that have changed, one after the other.
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
	Mark, State overlay.Cell // the state as a mark and in a word
	Title       string
	Unread      bool
	Agent       string
	Tokens      string // "" if unknown
	Time        string // how long it has worked or rested
	Cwd         string // a task's workspace
	Doing       string // what it does or waits for
	Where       string // such as "tab 2", "" if no pane of this layout shows it
	// Of a task: its progress, and the number of changed lines.
	Progress, Changes string
}

// Columns is the columns of Session.Row.
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

// Row returns the session as a row.
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

// Fill fills a session's row with its task.
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

// ended shows how the last turn of an idle task ended, unless well. The session's state is newer.
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

// Rows returns the rows of the tasks without a session.
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

// task returns the task of a row; if there is none it says so.
func (l *List) task(uri ahp.URI) (t Task, ok bool) {
	if t := l.At(uri); t != nil {
		return *t, true
	}
	l.loop.Say(status.Info, "this session is no task: `tandemux task new` makes one")
	return t, false
}

// Steer asks for a text and sends it to the task of a row.
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

// Discard deletes the task of a row after a question.
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

// done does something with a task and shows the resulting text.
func (l *List) done(t Task, what string, do func(ctx context.Context) (string, error)) {
	loop.Get(l.loop, what, do, func(said string) {
		l.loop.Say(status.Info, "%s", said)
		l.Changed(t.ID)
	})
}
