package pane

import (
	"tandemux/emulator"
	"tandemux/ui/motion"
)

// copyMode is a cursor of the reader's own, on a line that keeps its text.
type copyMode struct {
	motion.Cursor
	want int  // column that vertical moves aim at
	held bool // see Hold
}

// spot is a place in the text.
type spot struct{ x, line int }

// before reports whether a lies before b in reading order.
func (a spot) before(b spot) bool { return a.line < b.line || a.line == b.line && a.x < b.x }

// MaxCount bounds how often a motion is repeated.
const MaxCount = 9999

// with does something under the lock, with what there is now; without a screen it does
// nothing.
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
	stand(v)
}

// EnterCopy starts copy mode with the cursor where the program's is, or at the
// bottom of a view that is scrolled back beyond it.
func (v *View) EnterCopy() {
	v.entire()
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

// Hold has a view stay where it is, as copy mode does, but does not show that.
func Hold(v *View) {
	v.EnterCopy()
	v.copy.held = true
}

// Copying reports whether copy mode is on.
func (v *View) Copying() bool { return v.copy != nil }

// Move moves copy mode's cursor n times, at most MaxCount; the view follows it.
func (v *View) Move(m Motion, n int) {
	v.moving(func() {
		for range min(max(n, 1), MaxCount) {
			was, top := *v.copy, v.top
			v.move(m)
			if *v.copy == was && v.top == top {
				return // it is at the end
			}
		}
	})
}

// moving changes copy mode's cursor under the lock; the view follows it.
func (v *View) moving(fn func()) {
	v.with(func(*Feed) {
		if v.copy != nil {
			v.sought = nil
			fn()
			v.follow()
		}
	})
}

// GoLine moves the cursor to a line counted from 1 at the oldest one kept.
func (v *View) GoLine(n int) {
	v.moving(func() {
		oldest, _ := v.bounds()
		v.jump()
		v.copy.Line = min(oldest+max(n, 1)-1, v.lastText())
		v.copy.X = v.copy.FirstText(textOf(&v.lines))
		v.copy.want = v.copy.X
	})
}

// MaxMarks bounds the marks of a view.
const MaxMarks = 64

// SetMark remembers the cursor's place under a letter.
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

// lastJump names the place before the last jump, as in vi.
const lastJump = '\''

// GoMark moves to a place that was remembered; ' is the one before the last
// jump. It reports whether there is one.
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

// jump remembers where a jump starts. The lock must be held.
func (v *View) jump() {
	if v.marks == nil {
		v.marks = map[rune]spot{}
	}
	v.marks[lastJump] = spot{v.copy.X, v.copy.Line}
}

// Where in the view the cursor's line can be put.
const (
	AtTop = iota
	AtMiddle
	AtBottom
)

// Recentre scrolls so that the cursor's line is at the top, in the middle or at
// the bottom, as far as there is text.
func (v *View) Recentre(where int) {
	v.moving(func() {
		h := max(v.rect.H, 1)
		oldest, _ := v.bounds()
		v.top = min(max(v.step(v.copy.Line, -[...]int{0, h / 2, h - 1}[where]), oldest), max(v.live(), oldest))
	})
}

// bounds gives the oldest and the newest line. The lock must be held, as for
// all below.
func (t *lines) bounds() (oldest, newest int) {
	_, rows := t.seen.em.Size()
	return t.seen.lineOff - t.seen.em.HistoryLen(), t.seen.lineOff + rows - 1
}

// textOf is what copy mode's cursor goes through.
func textOf(t *lines) *motion.Text {
	oldest, newest := t.bounds()
	return &motion.Text{At: t.at, Oldest: oldest, Newest: newest, Separators: t.Separators}
}

// at gives the cells of a line, valid until the next call.
func (t *lines) at(line int) []emulator.Cell {
	t.cells = t.seen.em.Line(line-t.seen.lineOff, t.cells[:0])
	return t.cells
}

// follow scrolls so that the cursor shows.
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

// shift scrolls the view by n lines; the cursor goes along or stays.
func (v *View) shift(n int, along bool) {
	oldest, newest := v.bounds()
	c, h := v.copy, max(v.rect.H, 1)
	v.top = min(max(v.step(v.top, n), oldest), max(v.live(), oldest))
	if along {
		c.Line = min(max(v.step(c.Line, n), oldest), newest)
	}
	c.Line = min(max(c.Line, v.top), v.lineAt(h-1))
}
