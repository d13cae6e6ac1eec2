package tasks

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
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
	// MergeTask brings home what a task has changed, with running though it is at work;
	// PullTask writes its files into a directory, DiscardTask deletes it with its
	// workspace. Each says in a few words what it did.
	MergeTask(ctx context.Context, id string, running bool) (string, error)
	PullTask(ctx context.Context, id, dir string) (string, error)
	DiscardTask(ctx context.Context, id string) (string, error)
}

// Task is a task of the host's.
type Task struct {
	ID, Name string
	Session  ahp.URI // empty for one of programs that are no agents
	Status   string  // CREATING, PENDING, IDLE, RUNNING, WAITING, CANCELLED, FAILED, DELETING
	Reason   string  // why it failed
	Outcome  string  // of its last turn: done, failed, cancelled, interrupted, conflict, disk; "" for none
	Why      string  // it ended so
	Asks     string  // what it waits for, when it is WAITING
	Percent  int     // how far it is; -1 where it does not say
	Line     string  // what it is doing
	// Workspace is what it works on, in a few words.
	Workspace string
	Updated   time.Time
}

// Changed is a file that a task has changed.
type Changed struct {
	Mark           string // one cell: how
	Path           string
	Added, Deleted int // lines
	Binary         bool
}

// Changes are what a task has changed.
type Changes struct {
	Files          []Changed
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

// Load asks for the tasks, unless that is under way: then once more after it.
func (l *List) Load() {
	switch {
	case !l.connected():
		return
	case l.loading:
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
			if err != nil {
				return
			}
			l.all = all
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
		r.State.Text, r.Mark, r.Doing = "failed", overlay.Cell{Text: string(look.Failed), Style: look.Fail}, words.Clean(t.Reason)
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

// Pull shows what the task of a row has changed, to merge it or copy it out.
func (l *List) Pull(uri ahp.URI, look *look.Look) {
	t, ok := l.task(uri)
	if !ok {
		return
	}
	before := l.loop.Overlay
	get := func(ctx context.Context) (Changes, error) { return l.host.TaskChanges(ctx, t.ID) }
	loop.Get(l.loop, "compare the task's files", get, func(got Changes) {
		if l.loop.Overlay == before {
			l.showChanges(t, got, look)
		}
	})
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
		delete(l.changes, t.ID)
		l.Load()
	})
}

// merge brings home what a task has changed, asking first; then before is shown.
func (l *List) merge(t Task, c Changes, before overlay.Overlay) {
	if now := l.At(ahp.URI(taskScheme + t.ID)); now != nil {
		t = *now
	}
	question, running := fmt.Sprintf("merge %s into %s?", words.Plural(len(c.Files), "file"), c.Into), false
	switch t.Status {
	case "IDLE", "CANCELLED", "FAILED":
	default:
		question, running = fmt.Sprintf("%s is at work, so this may be half of a change: %s", t.Name, question), true
	}
	here := l.loop.Overlay
	l.loop.Open(overlay.NewConfirm(words.Clean(question), func() {
		l.loop.Open(before)
		l.done(t, "bring home what the task changed", func(ctx context.Context) (string, error) { return l.host.MergeTask(ctx, t.ID, running) })
	}, func() { l.loop.Open(here) }))
}

func (l *List) showChanges(t Task, c Changes, look *look.Look) {
	before := l.loop.Overlay
	facts := []string{words.Plural(len(c.Files), "file"), fmt.Sprintf("+%d -%d", c.Added, c.Deleted)}
	if c.Into != "" {
		facts = append(facts, "into "+words.Clean(c.Into))
	}
	var rows []overlay.Row
	count := func(sign string, n int) string {
		if n == 0 {
			return ""
		}
		return sign + strconv.Itoa(n)
	}
	for _, f := range c.Files {
		added, path := count("+", f.Added), words.Clean(f.Path)
		if f.Binary {
			added = "bin"
		}
		rows = append(rows, overlay.Row{Key: f.Path, Filter: path, Facts: facts, Cells: []overlay.Cell{
			{Text: f.Mark}, {Text: path}, {Text: added, Style: look.MarkPassed}, {Text: count("-", f.Deleted), Style: look.MarkFailed},
		}})
	}
	actions := []overlay.Action{{Letter: "o", Label: "copy out", NoRow: true, Do: func(string) {
		l.loop.Open(overlay.NewPrompt("copy "+words.Clean(t.Name)+" into the directory", "", func(dir string) {
			l.loop.Open(before)
			if dir = strings.TrimSpace(dir); dir != "" {
				l.done(t, "copy the task's files", func(ctx context.Context) (string, error) { return l.host.PullTask(ctx, t.ID, dir) })
			}
		}))
	}}}
	if c.Into != "" && len(c.Files) > 0 {
		actions = slices.Insert(actions, 0, overlay.Action{Letter: "m", Label: "merge", NoRow: true, Do: func(string) {
			l.merge(t, c, before)
		}})
	}
	l.loop.Open(&overlay.List{Source: overlay.Source{
		Title: "Changes of " + words.Clean(t.Name), None: "nothing was changed", Width: 110, Actions: actions, Rows: func() []overlay.Row { return rows },
		Columns: []overlay.Column{{Most: 1, Muted: true}, {Fills: true, Least: 20, Front: true}, {Right: true}, {Right: true}},
	}})
}
