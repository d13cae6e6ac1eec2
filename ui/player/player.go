package player

import (
	"fmt"
	"time"

	"tandemux/ahp"
	"tandemux/emulator/engine"
	"tandemux/internal/asciicast"
	"tandemux/ui/look"
	"tandemux/ui/paint"
	"tandemux/ui/pane"
	"tandemux/ui/words"
)

type Recording struct {
	Header asciicast.Header
	Events []asciicast.Event
}

type Options struct {
	Speed     float64       `flag:"speed" doc:"How many times as fast"`
	IdleLimit time.Duration `flag:"idle-limit" doc:"Cut longer pauses to this (default as the recording says)"`
	Start     time.Duration `flag:"start" doc:"Where to begin, pauses cut"`
}

type Player struct {
	rec   Recording
	at    []time.Duration // of the events, pauses cut
	total time.Duration
	opt   Options

	feed *pane.Feed
	view *pane.View
	next int // event that comes next
	pos  time.Duration

	playing bool
	from    time.Duration // place at since
	since   time.Time
}

// New makes a player that plays from o.Start when Play is called.
func New(rec Recording, o Options) *Player {
	if !(o.Speed > 0) {
		o.Speed = 1
	}
	o.Speed = min(max(o.Speed, 0.01), 1000)
	limit := o.IdleLimit
	if limit <= 0 {
		limit = rec.Header.IdleLimit
	}
	p := &Player{rec: rec, opt: o, at: make([]time.Duration, len(rec.Events))}
	last := time.Duration(0)
	for i, e := range rec.Events {
		pause := e.At - last
		last = e.At
		if limit > 0 {
			pause = min(pause, limit)
		}
		p.total += pause
		p.at[i] = p.total
	}
	p.feed = pane.NewFeed(engine.Default, nil)
	p.view = pane.NewView(p.feed)
	p.rewind()
	p.seek(o.Start)
	return p
}

// rewind shows what the recording begins with: nothing.
func (p *Player) rewind() {
	// A size within bounds can't be refused.
	_ = p.feed.Reset(ahp.TerminalState{Cols: p.rec.Header.Cols, Rows: p.rec.Header.Rows})
	p.next, p.pos = 0, 0
}

func (p *Player) seek(to time.Duration) {
	to = min(max(to, 0), p.total)
	if to < p.pos {
		p.rewind()
	}
	for ; p.next < len(p.at) && p.at[p.next] <= to; p.next++ {
		switch e := &p.rec.Events[p.next]; e.Kind {
		case asciicast.Output:
			p.feed.Write(e.Data)
			p.feed.Events() // bells and what it would copy
		case asciicast.Resize:
			p.feed.Resize(e.Cols, e.Rows)
		}
	}
	p.pos = to
}

// Seek goes to a place, within the recording.
func (p *Player) Seek(to time.Duration, now time.Time) {
	p.seek(to)
	p.from, p.since = p.pos, now
}

// Play goes on, or begins again at the end; Pause stays.
func (p *Player) Play(now time.Time) {
	if p.pos >= p.total && p.total > 0 {
		p.rewind()
		p.seek(0)
	}
	p.playing, p.from, p.since = true, p.pos, now
}

// Pause stays where it is.
func (p *Player) Pause() { p.playing = false }

// Advance shows what is due and gives the time until more is, at most a second
// for the clock in the line at the bottom; 0 when nothing will be.
func (p *Player) Advance(now time.Time) time.Duration {
	if !p.playing {
		return 0
	}
	p.seek(p.from + time.Duration(float64(now.Sub(p.since))*p.opt.Speed))
	if p.pos >= p.total {
		p.playing = false
		return 0
	}
	wait := min(time.Second-p.pos%time.Second, p.at[p.next]-p.pos)
	return max(time.Duration(float64(wait)/p.opt.Speed), time.Millisecond)
}

// Key does what a key does, by its name such as "left"; it reports whether the
// player is to end.
func (p *Player) Key(name string, now time.Time) (quit bool) {
	p.Advance(now)
	const step = 5 * time.Second
	switch name {
	case "q", "esc", "ctrl+c", "ctrl+d":
		return true
	case "space":
		if p.playing {
			p.Pause()
		} else {
			p.Play(now)
		}
	case "left":
		p.Seek(p.pos-step, now)
	case "right":
		p.Seek(p.pos+step, now)
	case "]":
		p.Seek(p.marker(true), now)
	case "[":
		p.Seek(p.marker(false), now)
	}
	return false
}

// marker gives the place of the next marker, or the one before the one here.
func (p *Player) marker(forward bool) time.Duration {
	to := time.Duration(0)
	for i, e := range p.rec.Events {
		switch {
		case e.Kind != asciicast.Marker:
		case forward && p.at[i] > p.pos:
			return p.at[i]
		case !forward && p.at[i] < p.pos-time.Second:
			to = p.at[i]
		}
	}
	if forward {
		return p.pos
	}
	return to
}

// named gives the text of the marker that was passed last.
func (p *Player) named() (text string) {
	for i := p.next - 1; i >= 0; i-- {
		if e := &p.rec.Events[i]; e.Kind == asciicast.Marker {
			return e.Data
		}
	}
	return p.rec.Header.Title
}

// help is what the keys do.
const help = "space pause  left right [ ] seek  q quit"

func clock(d time.Duration) string {
	s := int(d.Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// Draw draws the screen and the line below it.
func (p *Player) Draw(c *paint.Canvas, l look.Look) paint.Cursor {
	w, h := c.Size()
	p.view.Redraw()
	cur := p.view.Draw(c, paint.Rect{W: w, H: h - 1}, pane.Look{Letterbox: l.Letterbox, Selection: l.Selection, Fill: l.Fill})
	row := paint.Rect{Y: h - 1, W: w, H: 1}
	c.Fill(row, ' ', l.Status)
	state := "playing"
	switch {
	case p.pos >= p.total:
		state = "end"
	case !p.playing:
		state = "paused"
	}
	x := c.Text(0, row.Y, w, " "+state+" ", l.StatusLayout)
	text := fmt.Sprintf(" %s/%s ", clock(p.pos), clock(p.total))
	if p.opt.Speed != 1 {
		text += fmt.Sprintf(" %gx ", p.opt.Speed)
	}
	x += c.Text(x, row.Y, w-x, text, l.Status)
	room := w - x - 1
	if n := paint.Width(help) + 1; room > n {
		c.Text(w-n, row.Y, w, help, l.StatusMuted)
		room -= n
	}
	c.Text(x, row.Y, room, " "+paint.Cut(words.Line(p.named()), room-1, l.Ellipsis), l.StatusMuted)
	return cur
}

// Until calls f with each event up to the place.
func (p *Player) Until(f func(asciicast.Event)) {
	for _, e := range p.rec.Events[:p.next] {
		f(e)
	}
}
