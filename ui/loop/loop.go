package loop

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ui/overlay"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// callTimeout bounds a call to the host.
const callTimeout = 15 * time.Second

// noteTime is how long a message stays in the status line.
const noteTime = 4 * time.Second

// briefTime is how long one does that says that what was asked for is done.
const briefTime = 1500 * time.Millisecond

// Then is a message: what is to be done in the loop when something else is finished.
type Then func()

// Dirt says what has to be drawn again.
type Dirt uint8

// The bits of Dirt.
const (
	Panes  Dirt = 1 << iota // what terminals show
	Chrome                  // status line and pane headers
	All                     // everything
	Stale                   // where everything is has to be computed first

	Places = All | Stale
)

// Loop is the event loop as the parts of the interface use it.
type Loop struct {
	// Dirty has what has to be drawn again.
	Dirty Dirt
	// Overlay is what is on top, nil for nothing; Open and Close change it.
	Overlay overlay.Overlay
	// Keys are those that a command is bound to, for people; Home is the user's home
	// directory, "" when unknown.
	Keys func(command string) string
	Home string
	// Searches are what was looked for, the newest last.
	Searches []string

	log      *slog.Logger
	now      func() time.Time
	after    func(d time.Duration, msg tea.Msg)
	replaced func()

	cmds  []tea.Cmd
	calls int // under way

	note  note
	said  []said // newest last
	clock clock
}

// note is a message in the status line.
type note struct {
	text string
	kind status.Kind
	id   int
}

// said is a message that was in the status line.
type said struct {
	note
	at time.Time
}

// maxSaid bounds how many of them are kept.
const maxSaid = 100

// New makes a loop of a clock and of what delivers a message after a time. replaced
// is called before the overlay becomes another one.
func New(log *slog.Logger, now func() time.Time, after func(time.Duration, tea.Msg), replaced func()) *Loop {
	return &Loop{log: log, now: now, after: after, replaced: replaced}
}

func (l *Loop) Now() time.Time { return l.now() }

// After does something in the loop when the time has passed.
func (l *Loop) After(d time.Duration, do func()) { l.after(d, Then(do)) }

// Async runs a call to the host outside of the loop and what it gives in it. An
// error becomes a message; a panic ends the interface, restoring the terminal.
func (l *Loop) Async(what string, call func(context.Context) (func(), error)) {
	l.calls++
	l.Aside(func(ctx context.Context) func() {
		next, err := call(ctx)
		return func() {
			l.calls--
			if err != nil {
				l.Fail(what, err)
			}
			if next != nil {
				next()
			}
		}
	})
}

// Aside is Async for what nobody waits for: leaving doesn't either.
func (l *Loop) Aside(call func(context.Context) func()) {
	l.cmds = append(l.cmds, func() (msg tea.Msg) {
		defer func() {
			if p := recover(); p != nil {
				msg = Crashed(p)
			}
		}()
		ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
		defer cancel()
		return Then(call(ctx))
	})
}

// Call is Async for a call that gives nothing; then, if not nil, follows when it has
// succeeded.
func (l *Loop) Call(what string, call func(context.Context) error, then func()) {
	l.Async(what, func(ctx context.Context) (func(), error) {
		if err := call(ctx); err != nil {
			return nil, err
		}
		return then, nil
	})
}

// Get is Call for a call that gives something.
func Get[T any](l *Loop, what string, call func(context.Context) (T, error), then func(T)) {
	l.Async(what, func(ctx context.Context) (func(), error) {
		got, err := call(ctx)
		if err != nil {
			return nil, err
		}
		return func() { then(got) }, nil
	})
}

// Await is Get for what may take long: an overlay says so until it is done, and stops it.
// Nothing follows then, nor when something else is on top.
func Await[T any](l *Loop, what, label string, call func(context.Context) (T, error), then func(T)) {
	stopped, stop := context.WithCancel(context.Background())
	w := overlay.NewWaiting(label, stop)
	l.Open(w)
	l.Async(what, func(ctx context.Context) (func(), error) {
		defer stop()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(stopped, cancel)()
		got, err := call(ctx)
		if stopped.Err() != nil {
			return nil, nil
		}
		return func() {
			if l.Overlay != w {
				return
			}
			if l.Close(); err == nil {
				then(got)
			}
		}, err
	})
}

// Ask does something with a command's argument, or with what the person answers when it
// has none.
func (l *Loop) Ask(args []string, label, text string, do func(text string)) {
	if len(args) > 0 {
		do(strings.Join(args, " "))
		return
	}
	l.Open(overlay.NewPrompt(label, text, do))
}

// Idle reports whether no call is under way.
func (l *Loop) Idle() bool { return l.calls == 0 }

func (l *Loop) Quit() { l.cmds = append(l.cmds, tea.Quit) }

// Take gives what has to be run outside of the loop, once; nil is nothing.
func (l *Loop) Take() tea.Cmd {
	cmds := l.cmds
	l.cmds = nil
	switch len(cmds) {
	case 0:
		return nil
	case 1:
		return cmds[0]
	}
	return tea.Batch(cmds...)
}

// Crashed makes a panic elsewhere one of the loop, which restores the terminal and
// reports it.
func Crashed(p any) tea.Msg {
	stack := debug.Stack()
	return Then(func() { panic(fmt.Sprintf("%v\n%s", p, stack)) })
}

// Say shows a message in the status line for a while.
func (l *Loop) Say(kind status.Kind, format string, args ...any) {
	l.sayFor(noteTime, kind, format, args...)
}

// Brief is Say for what was done as asked: it soon makes room for the status
// again.
func (l *Loop) Brief(format string, args ...any) {
	l.sayFor(briefTime, status.Info, format, args...)
}

func (l *Loop) sayFor(d time.Duration, kind status.Kind, format string, args ...any) {
	l.note = note{text: words.Clean(fmt.Sprintf(format, args...)), kind: kind, id: l.note.id + 1}
	l.said = append(l.said[max(len(l.said)-maxSaid+1, 0):], said{l.note, l.now()})
	l.Dirty |= Chrome
	id := l.note.id
	l.After(d, func() {
		if l.note.id == id {
			l.Unsay()
		}
	})
}

// Unsay takes the message away.
func (l *Loop) Unsay() {
	if l.note.text != "" {
		l.note.text = ""
		l.Dirty |= Chrome
	}
}

// Note is the message in the status line, "" for none.
func (l *Loop) Note() (text string, kind status.Kind) { return l.note.text, l.note.kind }

// OpenMessages shows what was said, the newest first.
func (l *Loop) OpenMessages() {
	rows := make([]overlay.Row, 0, len(l.said))
	for i, s := range slices.Backward(l.said) {
		rows = append(rows, overlay.Row{
			Key: strconv.Itoa(i), Filter: s.text, Facts: []string{s.text},
			Cells: []overlay.Cell{{Text: s.at.Format(time.TimeOnly)}, {Text: s.text}},
		})
	}
	l.Open(&overlay.List{Source: overlay.Source{
		Title: "Messages", None: "nothing was said yet", Width: 120, Rows: func() []overlay.Row { return rows },
		Columns: []overlay.Column{{Most: 8, Muted: true}, {Fills: true}},
	}})
}

// Fail reports what went wrong.
func (l *Loop) Fail(what string, err error) {
	l.log.Warn("call failed", "what", what, "err", err)
	text := err.Error()
	if !strings.HasPrefix(text, what+": ") { // as most of the host's errors begin
		text = what + ": " + text
	}
	l.Say(status.Error, "%s", text)
}

// Open puts an overlay on top.
func (l *Loop) Open(o overlay.Overlay) {
	l.replaced()
	l.Overlay = o
	l.Dirty |= Places
}

func (l *Loop) Close() { l.Open(nil) }

// Confirm opens a question; the overlay that was open comes back after it.
func (l *Loop) Confirm(question string, yes func()) {
	before := l.Overlay
	back := func() {
		if before != nil {
			l.Open(before)
		}
	}
	l.Open(overlay.NewConfirm(question, func() { yes(); back() }, back))
}

// clock is how times that show follow the clock. A timer runs only while one shows.
type clock struct {
	skew    time.Duration // by how much this clock is ahead of the host's
	due     time.Duration // until what was drawn last changes, 0 for never
	ticking bool
}

// HostTime learns from what the host has just done, in Unix milliseconds, how its
// clock stands.
func (l *Loop) HostTime(ms int64) {
	if ms > 0 {
		l.clock.skew = l.now().Sub(time.UnixMilli(ms))
	}
}

// Since is how long ago something was by the host's clock.
func (l *Loop) Since(t time.Time) time.Duration { return max(l.now().Sub(t)-l.clock.skew, 0) }

// Counts says that a time is drawn that changes with each whole unit.
func (l *Loop) Counts(d, unit time.Duration) {
	if wait := unit - d%unit; l.clock.due == 0 || wait < l.clock.due {
		l.clock.due = wait
	}
}

// Tick draws the times again when they change. It is called after drawing.
func (l *Loop) Tick() {
	c := &l.clock
	if c.due == 0 || c.ticking {
		return
	}
	c.ticking = true
	l.After(c.due, func() {
		c.ticking, c.due = false, 0
		l.Dirty |= Chrome
	})
}

// maxSearches bounds what is remembered of what was looked for.
const maxSearches = 50

// Search asks what to look for and looks for it as it is typed. Without a text it is
// what was looked for before. found is told of what was accepted, left that nothing was.
func (l *Loop) Search(label string, changed func(text string) string, step func(reverse bool) string, found func(text string), left func()) {
	l.Open(overlay.NewSearch(overlay.Asking{Label: label, Past: l.Searches, Changed: changed, Step: step, Done: func(text string, ok bool) {
		l.Dirty |= Panes | Chrome
		switch text = cmp.Or(text, l.LastSearch()); {
		case !ok:
			left()
		case text == "":
			l.Say(status.Info, "nothing was searched for yet")
		default:
			l.Searched(text)
			found(text)
		}
	}}))
}

// Searched keeps what was looked for.
func (l *Loop) Searched(text string) {
	l.Searches = append(slices.DeleteFunc(l.Searches, func(s string) bool { return s == text }), text)
	if len(l.Searches) > maxSearches {
		l.Searches = l.Searches[1:]
	}
}

// LastSearch is what was looked for last, "" for nothing.
func (l *Loop) LastSearch() string {
	if len(l.Searches) == 0 {
		return ""
	}
	return l.Searches[len(l.Searches)-1]
}
