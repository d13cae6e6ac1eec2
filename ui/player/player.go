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
	at    []time.Duration // times of the events, with pauses cut
	total time.Duration
	opt   Options

	feed *pane.Feed
	view *pane.View
	next int // index of the next event
	pos  time.Duration

	playing bool
	from    time.Duration // the position at the time since
	since   time.Time
}

// New makes a Player at o.Start. It plays when Play is called.
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

// rewind goes to the empty screen before the recording.
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
			p.feed.Events() // drop bells and clipboard writes
		case asciicast.Resize:
			p.feed.Resize(e.Cols, e.Rows)
		}
	}
	p.pos = to
}

// Seek goes to a position within the recording.
func (p *Player) Seek(to time.Duration, now time.Time) {
	p.seek(to)
	p.from, p.since = p.pos, now
}

// Play continues, or at the end begins again.
func (p *Player) Play(now time.Time) {
	if p.pos >= p.total && p.total > 0 {
		p.rewind()
		p.seek(0)
	}
	p.playing, p.from, p.since = true, p.pos, now
}

// Pause stops at the present position.
func (p *Player) Pause() { p.playing = false }

// Advance shows the events that are due. It returns the time until it must be called again, at
// most a second of the recording for its clock; 0 if it need not.
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

// Key handles a key by its name, such as "left". It reports whether to quit.
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

// marker returns the position of the next marker, or of the one before the last second.
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

// named returns the text of the last marker, or the recording's title.
func (p *Player) named() (text string) {
	for i := p.next - 1; i >= 0; i-- {
		if e := &p.rec.Events[i]; e.Kind == asciicast.Marker {
			return e.Data
		}
	}
	return p.rec.Header.Title
}

// help describes the keys.
const help = "space pause  left right [ ] seek  q quit"

func clock(d time.Duration) string {
	s := int(d.Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// Draw draws the screen and a line about the playback below it.
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

// Until calls f with each event up to the position.
func (p *Player) Until(f func(asciicast.Event)) {
	for _, e := range p.rec.Events[:p.next] {
		f(e)
	}
}
