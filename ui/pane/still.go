package pane

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"tandemux/emulator"
	"tandemux/emulator/engine"
)

// reader is how a view that is scrolled back stands in the text, for the feed: it keeps
// that text for it. Guarded by the mu of the feed.
type reader struct {
	least int                // the oldest line that shows or is selected; math.MaxInt where the view follows the output
	top   spot               // what shows first
	copy  spot               // copy mode's cursor
	at    *[2]emulator.Place // of both, before their lines got other numbers
	// still is the feed as it was before output came that took of the text in which the
	// view stands. It is read until the view follows the output again.
	still *Feed
}

// lock locks the feed that the view reads, and gives it.
func lock(v *View) *Feed {
	f := v.Feed
	f.mu.Lock()
	if !v.back && !v.Held {
		v.reader.still = nil
	}
	now := cmp.Or(v.reader.still, f)
	if now != v.seen {
		v.seen, v.full, v.key = now, true, signKey{}
		if now == f {
			v.era = -1 // the lines that are named are of the other one
		}
	}
	if now == f {
		return f
	}
	if em := f.em; em != nil {
		cols, rows := em.Size()
		if c, r := now.em.Size(); c != cols || r != rows {
			now.Resize(cols, rows)
		}
	}
	f.mu.Unlock()
	now.mu.Lock()
	return now
}

// stand tells the feed where the view stands. The lock must be held.
func stand(v *View) {
	r := &v.reader
	r.top, r.least = spot{0, v.top}, math.MaxInt
	if v.back || v.Held {
		r.least = v.top
		if s := v.selection; s != nil {
			r.least = min(r.least, s.AnchorLine, s.Line)
		}
	}
	if v.copy != nil {
		r.copy = spot{v.copy.X, v.copy.Line}
	}
}

// keep gives the readers that stand where lost says a copy of the text, before that changes.
// The lock must be held, as for all below.
func (f *Feed) keep(lost func(*reader) bool) {
	if f.em == nil || f.whole != nil { // else the text is not all there yet
		return
	}
	var c *Feed
	for v := range f.readers {
		if v.reader.least == math.MaxInt || !lost(&v.reader) {
			continue
		}
		if c == nil {
			c = f.clone()
		}
		v.reader.still = c
		c.reads(v, true)
		f.reads(v, false)
	}
}

// all is for keep where the whole text goes.
func all(*reader) bool { return true }

// drops gives a test whether output may take away what a reader stands in.
func (f *Feed) drops(data []byte) func(*reader) bool {
	if len(f.readers) == 0 {
		return func(*reader) bool { return false }
	}
	f.collect()
	limit := f.limit
	if limit == 0 {
		limit = emulator.DefaultHistory
	}
	cols, rows := f.em.Size()
	n, more := f.em.HistoryLen(), bytes.Count(data, []byte{'\n'})+len(data)/cols+rows // seldom more than that
	oldest, full := f.lineOff-n, n+more > limit
	cleared := bytes.Contains(data, []byte("\x1b[3J")) || bytes.Contains(data, []byte("\x1bc"))
	return func(r *reader) bool { return cleared || full && r.least-oldest < more }
}

// clone gives a feed with the same text, that nothing is written to.
func (f *Feed) clone() *Feed {
	f.collect()
	cols, rows := f.em.Size()
	em, _ := engine.New(f.engine, emulator.Options{Cols: cols, Rows: rows, History: f.limit}) // it is one that this feed has
	emulator.Copy(em, f.em, -1)
	c := NewFeed(f.engine, nil)
	c.em, c.limit, c.lineOff, c.epoch, c.commands = em, f.limit, f.lineOff, f.epoch, f.commands
	c.commands.list = slices.Clone(f.commands.list)
	c.gen = f.gen + 1<<40 // it is never that of f
	c.all = c.gen
	return c
}

// anchor notes where the readers stand, before lines get other numbers.
func (f *Feed) anchor() {
	for v := range f.readers {
		if r := &v.reader; r.at == nil && r.least != math.MaxInt {
			r.at = &[2]emulator.Place{emulator.PlaceOf(f.em, r.top.x, r.top.line-f.lineOff), emulator.PlaceOf(f.em, r.copy.x, r.copy.line-f.lineOff)}
		}
	}
}

// restand has the view stand where it did before lines got other numbers.
func restand(v *View) {
	at := v.reader.at
	v.reader.at = nil
	if at == nil || !v.back && !v.Held {
		return
	}
	_, y := at[0].In(v.seen.em)
	v.top = y + v.seen.lineOff
	if c := v.copy; c != nil {
		c.X, y = at[1].In(v.seen.em)
		c.Line, c.want = y+v.seen.lineOff, c.X
	}
}
