package pane

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"tandemux/emulator"
	"tandemux/emulator/engine"
)

// reader is the part of the text that a view needs: the feed keeps it from being lost. The mu of
// the feed guards it.
type reader struct {
	oldest int                // the oldest line that shows or is selected; math.MaxInt while the view follows the output
	top    spot               // the first cell that shows
	copy   spot               // copy mode's cursor
	at     *[2]emulator.Place // top and copy, while their lines are being renumbered
	// frozen is a copy of the feed from before it lost lines that the view needs. The view reads
	// it instead of the feed until it follows the output again.
	frozen *Feed
}

// lock locks and returns the feed that the view reads: v.Feed or its frozen copy.
func lock(v *View) *Feed {
	f := v.Feed
	f.mu.Lock()
	if !v.back && !v.Held {
		v.reader.frozen = nil
	}
	now := cmp.Or(v.reader.frozen, f)
	if now != v.seen {
		v.seen, v.full, v.key = now, true, signKey{}
		if now == f {
			v.epoch = -1 // renumber: the view's line numbers are those of the frozen copy
		}
	}
	if now == f {
		return f
	}
	if em := f.em; em != nil && now.em != nil {
		cols, rows := em.Size()
		if c, r := now.em.Size(); c != cols || r != rows {
			now.Resize(cols, rows)
		}
	}
	f.mu.Unlock()
	now.mu.Lock()
	return now
}

// noteReader updates v.reader from the view's position. The lock must be held.
func noteReader(v *View) {
	r := &v.reader
	r.top, r.oldest = spot{0, v.top}, math.MaxInt
	if v.back || v.Held {
		r.oldest = v.top
		if s := v.selection; s != nil {
			r.oldest = min(r.oldest, s.AnchorLine, s.Line)
		}
	}
	if v.copy != nil {
		r.copy = spot{v.copy.X, v.copy.Line}
	}
}

// freeze gives the views for which lost is true a frozen copy of the feed, before its text
// changes. The lock must be held, as for all below.
func (f *Feed) freeze(lost func(*reader) bool) {
	if f.em == nil || f.whole != nil { // a skimmed feed doesn't have the text
		return
	}
	var c *Feed
	for v := range f.readers {
		if v.reader.oldest == math.MaxInt || !lost(&v.reader) {
			continue
		}
		if c == nil {
			c = f.clone()
		}
		v.reader.frozen = c
		c.setReader(v, true)
		f.setReader(v, false)
	}
}

// everyReader is freeze's argument when the feed loses all its text.
func everyReader(*reader) bool { return true }

// mayDrop returns a test of whether output may remove text that a reader needs.
func (f *Feed) mayDrop(data []byte) func(*reader) bool {
	if len(f.readers) == 0 {
		return func(*reader) bool { return false }
	}
	f.collect()
	limit := f.limit
	if limit == 0 {
		limit = emulator.DefaultHistory
	}
	cols, rows := f.em.Size()
	n, more := f.em.HistoryLen(), bytes.Count(data, []byte{'\n'})+len(data)/cols+rows // output seldom adds more lines
	oldest, full := f.lineOff-n, n+more > limit
	cleared := bytes.Contains(data, []byte("\x1b[3J")) || bytes.Contains(data, []byte("\x1bc"))
	return func(r *reader) bool { return cleared || full && r.oldest-oldest < more }
}

// clone returns a feed with the same text, to which nothing will be written.
func (f *Feed) clone() *Feed {
	f.collect()
	cols, rows := f.em.Size()
	em, _ := engine.New(f.engine, emulator.Options{Cols: cols, Rows: rows, History: f.limit}) // no error: f has an engine of that name
	emulator.Copy(em, f.em, -1)
	c := NewFeed(f.engine, nil)
	c.em, c.limit, c.lineOff, c.epoch, c.commands = em, f.limit, f.lineOff, f.epoch, f.commands
	c.commands.list = slices.Clone(f.commands.list)
	c.gen = f.gen + 1<<40 // views must not take it for a generation of f
	c.all = c.gen
	return c
}

// anchor saves the readers' places before a change that renumbers the lines.
func (f *Feed) anchor() {
	for v := range f.readers {
		if r := &v.reader; r.at == nil && r.oldest != math.MaxInt {
			r.at = &[2]emulator.Place{emulator.PlaceOf(f.em, r.top.x, r.top.line-f.lineOff), emulator.PlaceOf(f.em, r.copy.x, r.copy.line-f.lineOff)}
		}
	}
}

// restorePlace moves the view to the places that anchor saved, after lines were renumbered.
func restorePlace(v *View) {
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
