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

// callTimeout is the timeout of a call to the host.
const callTimeout = 15 * time.Second

// noteTime is how long a message stays in the status line.
const noteTime = 4 * time.Second

// briefTime is how long a message stays that only confirms what was asked for.
const briefTime = 1500 * time.Millisecond

// Then is a message with a function to run in the event loop.
type Then func()

// Dirt says what must be drawn again.
type Dirt uint8

// The bits of Dirt.
const (
	Panes  Dirt = 1 << iota // terminals' contents
	Chrome                  // status line and pane headers
	All                     // everything
	Stale                   // places must be computed first

	Places = All | Stale
)

// Loop is the event loop as the parts of the interface use it.
type Loop struct {
	// Dirty is what must be drawn again.
	Dirty Dirt
	// Overlay is what is on top, nil for nothing. Open and Close change it.
	Overlay overlay.Overlay
	// Keys returns the keys of a command as text. Home is the user's home directory, "" if
	// unknown.
	Keys func(command string) string
	Home string
	// Searches is the texts of searches, the newest last.
	Searches []string

	log      *slog.Logger
	now      func() time.Time
	after    func(d time.Duration, msg tea.Msg)
	replaced func()

	cmds  []tea.Cmd
	calls int // number of calls that have not ended

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

// said is an earlier message.
type said struct {
	note
	at time.Time
}

// maxSaid is how many messages are kept.
const maxSaid = 100

// New makes a Loop. now is its clock, after delivers a message to the event loop after a time,
// and replaced is called before the overlay changes.
func New(log *slog.Logger, now func() time.Time, after func(time.Duration, tea.Msg), replaced func()) *Loop {
	return &Loop{log: log, now: now, after: after, replaced: replaced}
}

func (l *Loop) Now() time.Time { return l.now() }

// After calls do in the event loop when d has passed.
func (l *Loop) After(d time.Duration, do func()) { l.after(d, Then(do)) }

// Async runs call outside of the event loop, then the function that it returns in the loop. An
// error becomes a message. A panic ends the interface and restores the terminal.
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

// Aside is Async for a call without messages, for which leaving the interface doesn't wait.
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

// Call is Async for a call without a result. then, if not nil, is called in the loop if it has
// succeeded.
func (l *Loop) Call(what string, call func(context.Context) error, then func()) {
	l.Async(what, func(ctx context.Context) (func(), error) {
		if err := call(ctx); err != nil {
			return nil, err
		}
		return then, nil
	})
}

// Get is Call for a call with a result.
func Get[T any](l *Loop, what string, call func(context.Context) (T, error), then func(T)) {
	l.Async(what, func(ctx context.Context) (func(), error) {
		got, err := call(ctx)
		if err != nil {
			return nil, err
		}
		return func() { then(got) }, nil
	})
}

// Await is Get for a call that may take long. Until it ends, an overlay shows that and can stop
// it. then is not called if it was stopped or another overlay is on top.
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

// Ask calls do with a command's arguments, or with the person's answer if there are none.
func (l *Loop) Ask(args []string, label, text string, do func(text string)) {
	if len(args) > 0 {
		do(strings.Join(args, " "))
		return
	}
	l.Open(overlay.NewPrompt(label, text, do))
}

// Idle reports whether all calls have ended.
func (l *Loop) Idle() bool { return l.calls == 0 }

func (l *Loop) Quit() { l.cmds = append(l.cmds, tea.Quit) }

// Take returns the commands to run outside of the loop, once; nil for none.
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

// Crashed returns a message that makes a panic of another goroutine one of the event loop, which
// restores the terminal and reports it.
func Crashed(p any) tea.Msg {
	stack := debug.Stack()
	return Then(func() { panic(fmt.Sprintf("%v\n%s", p, stack)) })
}

// Say shows a message in the status line for a while.
func (l *Loop) Say(kind status.Kind, format string, args ...any) {
	l.sayFor(noteTime, kind, format, args...)
}

// Brief is Say for a message that only confirms what was asked for. It stays for a shorter time.
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

// Unsay removes the message.
func (l *Loop) Unsay() {
	if l.note.text != "" {
		l.note.text = ""
		l.Dirty |= Chrome
	}
}

// Note returns the message in the status line, "" for none.
func (l *Loop) Note() (text string, kind status.Kind) { return l.note.text, l.note.kind }

// OpenMessages lists earlier messages, the newest first.
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

// Fail reports an error.
func (l *Loop) Fail(what string, err error) {
	l.log.Warn("call failed", "what", what, "err", err)
	text := err.Error()
	if !strings.HasPrefix(text, what+": ") { // most of the host's errors begin like this
		text = what + ": " + text
	}
	l.Say(status.Error, "%s", text)
}

// Open replaces the overlay.
func (l *Loop) Open(o overlay.Overlay) {
	l.replaced()
	l.Overlay = o
	l.Dirty |= Places
}

func (l *Loop) Close() { l.Open(nil) }

// Confirm asks a question. The previous overlay is opened again afterwards.
func (l *Loop) Confirm(question string, yes func()) {
	before := l.Overlay
	back := func() {
		if before != nil {
			l.Open(before)
		}
	}
	l.Open(overlay.NewConfirm(question, func() { yes(); back() }, back))
}

// clock keeps visible times up to date. Its timer runs only while a time is visible.
type clock struct {
	skew    time.Duration // this clock minus the host's
	due     time.Duration // time until a visible time changes, 0 for never
	ticking bool
}

// HostTime sets the skew of the clocks from the time of an event that the host has just reported,
// in Unix milliseconds.
func (l *Loop) HostTime(ms int64) {
	if ms > 0 {
		l.clock.skew = l.now().Sub(time.UnixMilli(ms))
	}
}

// Since returns how long ago t was, for a time of the host's clock.
func (l *Loop) Since(t time.Time) time.Duration { return max(l.now().Sub(t)-l.clock.skew, 0) }

// Counts says that the visible duration d changes with each whole unit.
func (l *Loop) Counts(d, unit time.Duration) {
	if wait := unit - d%unit; l.clock.due == 0 || wait < l.clock.due {
		l.clock.due = wait
	}
}

// Tick must be called after drawing. It redraws when a visible time changes.
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

// maxSearches is how many searches are remembered.
const maxSearches = 50

// Search asks for a text and searches while it is typed. An empty text repeats the last search.
// found is called with the accepted text, left if the search was cancelled.
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

// Searched remembers a search.
func (l *Loop) Searched(text string) {
	l.Searches = append(slices.DeleteFunc(l.Searches, func(s string) bool { return s == text }), text)
	if len(l.Searches) > maxSearches {
		l.Searches = l.Searches[1:]
	}
}

// LastSearch returns the text of the last search, "" for none.
func (l *Loop) LastSearch() string {
	if len(l.Searches) == 0 {
		return ""
	}
	return l.Searches[len(l.Searches)-1]
}
