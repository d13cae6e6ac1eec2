package pane

import "tandemux/emulator"

// copyMode is a cursor of the reader's own, on a line that keeps its text.
type copyMode struct {
	x, line int
	want    int  // column that vertical moves aim at
	held    bool // see Hold
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
	f := v.Feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.em == nil {
		return
	}
	f.collect()
	v.renumber()
	v.geometry(v.rect)
	do(f)
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
		v.copy = &copyMode{x: cur.X, want: cur.X, line: line}
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
		v.copy.line = min(oldest+max(n, 1)-1, v.lastText())
		v.copy.x = v.copy.firstText(&v.lines)
		v.copy.want = v.copy.x
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
			v.marks[letter] = spot{v.copy.x, v.copy.line}
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
		v.copy.x, v.copy.line, v.copy.want = to.x, to.line, to.x
		ok = true
	})
	return ok
}

// jump remembers where a jump starts. The lock must be held.
func (v *View) jump() {
	if v.marks == nil {
		v.marks = map[rune]spot{}
	}
	v.marks[lastJump] = spot{v.copy.x, v.copy.line}
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
		v.top = min(max(v.step(v.copy.line, -[...]int{0, h / 2, h - 1}[where]), oldest), max(v.live(), oldest))
	})
}

// bounds gives the oldest and the newest line. The lock must be held, as for
// all below.
func (t *lines) bounds() (oldest, newest int) {
	_, rows := t.Feed.em.Size()
	return t.Feed.lineOff - t.Feed.em.HistoryLen(), t.Feed.lineOff + rows - 1
}

// at gives the cells of a line, valid until the next call.
func (t *lines) at(line int) []emulator.Cell {
	t.cells = t.Feed.em.Line(line-t.Feed.lineOff, t.cells[:0])
	return t.cells
}

// length is the number of cells up to the last one that is no blank.
func length(cells []emulator.Cell) int {
	n := len(cells)
	for n > 0 && (cells[n-1].Rune == 0 && cells[n-1].Width != 0 || cells[n-1].Rune == ' ') {
		n--
	}
	return n
}

// follow scrolls so that the cursor shows.
func (v *View) follow() {
	oldest, newest := v.bounds()
	c := v.copy
	c.line = min(max(c.line, oldest), newest)
	v.unfold(c.line)
	cols, _ := v.Feed.em.Size()
	c.x = min(max(c.x, 0), cols-1)
	h := max(v.rect.H, 1)
	if c.line < v.top {
		v.top = c.line
	} else if v.row(c.line) >= h {
		v.top = v.step(c.line, 1-h)
	}
	v.top = max(v.top, oldest)
	if s := v.selection; s != nil {
		s.X, s.Line = c.x, c.line
	}
	v.full = true
}

// shift scrolls the view by n lines; the cursor goes along or stays.
func (v *View) shift(n int, along bool) {
	oldest, newest := v.bounds()
	c, h := v.copy, max(v.rect.H, 1)
	v.top = min(max(v.step(v.top, n), oldest), max(v.live(), oldest))
	if along {
		c.line = min(max(v.step(c.line, n), oldest), newest)
	}
	c.line = min(max(c.line, v.top), v.lineAt(h-1))
}
