package pane

import (
	"tandemux/emulator"
	"tandemux/ui/motion"
)

// copyMode is copy mode's cursor and what belongs to it. Its line is an absolute number, so
// output doesn't move it.
type copyMode struct {
	motion.Cursor
	want   int  // column that vertical motions return to
	hidden bool // the view doesn't show that it is in copy mode (Hold)
}

// spot is a cell of the text: a column and a line.
type spot struct{ x, line int }

// before reports whether a lies before b in reading order.
func (a spot) before(b spot) bool { return a.line < b.line || a.line == b.line && a.x < b.x }

// MaxCount is the largest repeat count of a motion.
const MaxCount = 9999

// with runs do on the feed that v reads, with the feed locked and the view's geometry up to date.
// It doesn't run do while the feed has no screen.
func (v *View) with(do func(f *Feed)) {
	f := lock(v)
	defer f.mu.Unlock()
	if f.em == nil {
		return
	}
	f.collect()
	v.renumber()
	v.geometry(v.rect)
	do(f)
	noteReader(v)
}

// EnterCopy starts copy mode with its cursor on the program's cursor, or on the view's last row
// if the view is scrolled back so far that the program's cursor is below it.
func (v *View) EnterCopy() {
	v.needHistory()
	v.with(func(f *Feed) {
		if v.copy != nil {
			return
		}
		cur := f.em.Cursor()
		line := min(max(v.showing(f.lineOff+cur.Y), v.top), v.lineAt(max(v.rect.H, 1)-1))
		v.copy = &copyMode{Cursor: motion.Cursor{X: cur.X, Line: line}, want: cur.X}
		v.back, v.full = true, true
		v.selection = nil
	})
}

// Hold puts the view in copy mode without showing that, so that output doesn't scroll it. It does
// nothing while the feed has no screen.
func Hold(v *View) {
	if v.EnterCopy(); v.copy != nil {
		v.copy.hidden = true
	}
}

// Copying reports whether copy mode is on.
func (v *View) Copying() bool { return v.copy != nil }

// Move moves copy mode's cursor n times, from 1 to MaxCount, and scrolls the view with it.
func (v *View) Move(m Motion, n int) {
	v.moving(func() {
		for range min(max(n, 1), MaxCount) {
			was, top := *v.copy, v.top
			v.move(m)
			if *v.copy == was && v.top == top {
				return // further repeats would do nothing either
			}
		}
	})
}

// moving runs fn, which may move copy mode's cursor, under the lock, and scrolls the view to the
// cursor. Outside copy mode it does nothing.
func (v *View) moving(fn func()) {
	v.with(func(*Feed) {
		if v.copy != nil {
			v.sought = nil
			fn()
			v.follow()
		}
	})
}

// GoLine moves copy mode's cursor to line n of the text, where 1 is the oldest line of history.
func (v *View) GoLine(n int) {
	v.moving(func() {
		oldest, _ := v.bounds()
		v.jump()
		v.copy.Line = min(oldest+max(n, 1)-1, v.lastText())
		v.copy.X = v.copy.FirstText(textOf(&v.lines))
		v.copy.want = v.copy.X
	})
}

// MaxMarks is the largest number of marks in a view.
const MaxMarks = 64

// SetMark sets the mark of a letter to the cursor's place.
func (v *View) SetMark(letter rune) {
	v.moving(func() {
		if v.marks == nil {
			v.marks = map[rune]spot{}
		}
		if len(v.marks) < MaxMarks {
			v.marks[letter] = spot{v.copy.X, v.copy.Line}
		}
	})
}

// lastJump is the mark of the place before the last jump, as in vi.
const lastJump = '\''

// GoMark moves the cursor to the mark of a letter; ' and ` are the place before the last jump. It
// reports whether the mark is set and its line is still in the history.
func (v *View) GoMark(letter rune) (ok bool) {
	v.moving(func() {
		if letter == '`' {
			letter = lastJump
		}
		to, known := v.marks[letter]
		if oldest, _ := v.bounds(); !known || to.line < oldest {
			return
		}
		v.jump()
		v.copy.X, v.copy.Line, v.copy.want = to.x, to.line, to.x
		ok = true
	})
	return ok
}

// jump sets the mark lastJump to the cursor's place. The lock must be held.
func (v *View) jump() {
	if v.marks == nil {
		v.marks = map[rune]spot{}
	}
	v.marks[lastJump] = spot{v.copy.X, v.copy.Line}
}

// The rows to which Recentre can scroll the cursor's line.
const (
	AtTop = iota
	AtMiddle
	AtBottom
)

// Recentre scrolls so that the cursor's line is at the top, middle or bottom row, as far as there
// is text.
func (v *View) Recentre(where int) {
	v.moving(func() {
		h := max(v.rect.H, 1)
		oldest, _ := v.bounds()
		v.top = min(max(v.step(v.copy.Line, -[...]int{0, h / 2, h - 1}[where]), oldest), max(v.live(), oldest))
	})
}

// bounds returns the oldest and the newest line. The lock must be held, as for all below.
func (t *lines) bounds() (oldest, newest int) {
	_, rows := t.seen.em.Size()
	return t.seen.lineOff - t.seen.em.HistoryLen(), t.seen.lineOff + rows - 1
}

// textOf returns the text in which copy mode's cursor moves.
func textOf(t *lines) *motion.Text {
	oldest, newest := t.bounds()
	return &motion.Text{At: t.at, Oldest: oldest, Newest: newest, Separators: t.Separators}
}

// at returns the cells of a line. They are valid until the next call.
func (t *lines) at(line int) []emulator.Cell {
	t.cells = t.seen.em.Line(line-t.seen.lineOff, t.cells[:0])
	return t.cells
}

// follow scrolls the view so that copy mode's cursor shows, and extends the selection to it.
func (v *View) follow() {
	oldest, newest := v.bounds()
	c := v.copy
	c.Line = min(max(c.Line, oldest), newest)
	v.unfold(c.Line)
	cols, _ := v.seen.em.Size()
	c.X = min(max(c.X, 0), cols-1)
	h := max(v.rect.H, 1)
	if c.Line < v.top {
		v.top = c.Line
	} else if v.row(c.Line) >= h {
		v.top = v.step(c.Line, 1-h)
	}
	v.top = max(v.top, oldest)
	if s := v.selection; s != nil {
		s.X, s.Line = c.X, c.Line
	}
	v.full = true
}

// shift scrolls the view by n lines. The cursor moves as far if along is set, else only as far as
// it must to show.
func (v *View) shift(n int, along bool) {
	oldest, newest := v.bounds()
	c, h := v.copy, max(v.rect.H, 1)
	v.top = min(max(v.step(v.top, n), oldest), max(v.live(), oldest))
	if along {
		c.Line = min(max(v.step(c.Line, n), oldest), newest)
	}
	c.Line = min(max(c.Line, v.top), v.lineAt(h-1))
}
