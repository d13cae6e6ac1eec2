package segments

import (
	"context"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/ui/loop"
	"tandemux/ui/outer"
	"tandemux/ui/panes"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// Desk is the machine. Its methods are called outside of the event loop and take a bounded time.
// They return "" for what they can't tell.
type Desk interface {
	// Branch returns the git branch of a directory, with a * if tracked files have changed.
	Branch(ctx context.Context, dir ahp.URI) string
	// Battery returns the battery's charge.
	Battery(ctx context.Context) string
	// Script runs a line by sh and returns the first line that it prints, or why there is none.
	Script(ctx context.Context, line string, at Place) string
}

// Place is what the person is looking at.
type Place struct {
	Layout   string
	Terminal ahp.URI // in the focused pane, "" for none
	Dir      ahp.URI // the terminal's working directory
}

const (
	// apart is the shortest pause after an answer. The pause is also at least rest times as long
	// as the answer took.
	apart = 200 * time.Millisecond
	rest  = 4
	// batteryTime is how often the battery is asked.
	batteryTime = time.Minute
	// most is the longest answer, in bytes.
	most = 256
)

type Segments struct {
	loop    *loop.Loop
	panes   *panes.Panes
	outer   *outer.Terminal
	desk    Desk // nil if nothing can be asked
	blurred bool
	looks   int // number of times that the focus came back

	git, battery, script question
}

// subject is what a question depends on. The zero subject has no answer.
type subject struct {
	text, terminal string
	looks          int
	started        time.Time
	running        bool
}

// question is the question of a segment.
type question struct {
	about subject   // the last question's
	asked time.Time // when it was last asked
	next  time.Time // when it may be asked again
	busy  bool
	timer time.Time // when the last timer fires
	text  string
}

// New makes a Segments. desk may be nil.
func New(l *loop.Loop, ps *panes.Panes, o *outer.Terminal, desk Desk) *Segments {
	return &Segments{loop: l, panes: ps, outer: o, desk: desk}
}

// Now returns the last answers.
func (s *Segments) Now() status.Asked {
	return status.Asked{Git: s.git.text, Battery: s.battery.text, Script: s.script.text}
}

// Settle asks the questions that are due.
func (s *Segments) Settle(line status.Line, c *status.Content) {
	if s.desk == nil || s.panes.Unseen || !s.panes.Begun || s.panes.Holding > 0 {
		return
	}
	if s.outer.Blurred != s.blurred {
		if s.blurred = s.outer.Blurred; !s.blurred {
			s.looks++
		}
	}
	if s.blurred {
		return
	}
	at := Place{Layout: s.panes.Name}
	_, t, v := s.panes.Focused()
	if t != nil {
		if at.Terminal = t.URI; t.Host() == "" { // else the directory is on another machine
			at.Dir = t.Cwd
		}
	}
	var about subject
	git := line.Has("git")
	if git && at.Dir != "" {
		about = subject{text: at.Dir, terminal: at.Terminal, looks: s.looks}
		if v != nil {
			c, _, _ := v.Feed.LastCommand()
			about.started, about.running = c.Started, c.Running
		}
	}
	s.ask(&s.git, git, about, 0, func(ctx context.Context) string { return s.desk.Branch(ctx, at.Dir) })
	s.ask(&s.battery, line.Has("battery"), subject{text: "battery"}, batteryTime, s.desk.Battery)
	s.ask(&s.script, line.Has("script"), subject{text: c.Script}, c.Every, func(ctx context.Context) string {
		return s.desk.Script(ctx, c.Script, at)
	})
}

// ask asks a question if it is due, or sets a timer for when it will be.
func (s *Segments) ask(q *question, shown bool, about subject, every time.Duration, get func(context.Context) string) {
	now := s.loop.Now()
	if !shown || about == (subject{}) {
		q.about = subject{}
		s.told(q, "")
		return
	}
	due := q.next
	if q.about == about {
		if every == 0 {
			return
		}
		due = later(due, q.asked.Add(every))
	}
	switch {
	case q.busy:
	case now.Before(due):
		if !q.timer.After(now) || q.timer.After(due) {
			q.timer = due
			s.loop.After(due.Sub(now), func() {}) // the loop settles then
		}
	default:
		q.about, q.asked, q.busy = about, now, true
		s.loop.Aside(func(ctx context.Context) func() {
			text := get(ctx)
			return func() {
				now := s.loop.Now()
				q.busy, q.next = false, now.Add(max(apart, rest*now.Sub(q.asked)))
				if q.about != (subject{}) {
					s.told(q, words.Line(strings.ToValidUTF8(text[:min(len(text), most)], "")))
				}
			}
		})
	}
}

func (s *Segments) told(q *question, text string) {
	if q.text != text {
		q.text = text
		s.loop.Dirty |= loop.Chrome
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
