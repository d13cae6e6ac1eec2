package pane

import (
	"unicode"

	"cotty/emulator"
)

// copyMode is a cursor of the reader's own, on a line that keeps its text.
type copyMode struct {
	x, line int
	want    int // column that vertical moves aim at
}

// Motion is a move of copy mode's cursor.
type Motion uint8

// The motions, named after vi's.
const (
	MoveLeft Motion = iota
	MoveRight
	MoveUp
	MoveDown
	MoveLineStart
	MoveLineText // first character that is no blank
	MoveLineEnd
	MoveWordNext
	MoveWordBack
	MoveWordEnd
	MoveScreenTop
	MoveScreenMiddle
	MoveScreenBottom
	MoveHistoryTop
	MoveHistoryBottom
	MovePageUp
	MovePageDown
	MoveHalfUp
	MoveHalfDown
	MoveParagraphBack
	MoveParagraphNext
	ScrollUp // the view moves, the cursor only if it must
	ScrollDown
)

// EnterCopy starts copy mode with the cursor where the program's is.
func (v *View) EnterCopy() {
	f := v.Feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.em == nil || v.copy != nil {
		return
	}
	f.collect()
	v.geometry(v.rect)
	cur := f.em.Cursor()
	line := min(max(f.lineOff+cur.Y, v.top), v.top+max(v.rect.H, 1)-1)
	v.copy = &copyMode{x: cur.X, want: cur.X, line: line}
	v.back, v.full = true, true
}

// Copying reports whether copy mode is on.
func (v *View) Copying() bool { return v.copy != nil }

// Move moves copy mode's cursor n times; the view follows it.
func (v *View) Move(m Motion, n int) {
	f := v.Feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.em == nil || v.copy == nil {
		return
	}
	f.collect()
	v.geometry(v.rect)
	for range max(n, 1) {
		v.move(m)
	}
	v.follow()
}

// bounds gives the oldest and the newest line. The lock must be held, as for
// all below.
func (v *View) bounds() (oldest, newest int) {
	_, rows := v.Feed.em.Size()
	return v.Feed.lineOff - v.Feed.em.HistoryLen(), v.Feed.lineOff + rows - 1
}

// at gives the cells of a line, valid until the next call.
func (v *View) at(line int) []emulator.Cell {
	v.cells = v.Feed.em.Line(line-v.Feed.lineOff, v.cells[:0])
	return v.cells
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
	cols, _ := v.Feed.em.Size()
	c.x = min(max(c.x, 0), cols-1)
	h := max(v.rect.H, 1)
	if c.line < v.top {
		v.top = c.line
	} else if c.line >= v.top+h {
		v.top = c.line - h + 1
	}
	v.top = max(v.top, oldest)
	if s := v.selection; s != nil {
		s.X, s.Line = c.x, c.line
	}
	v.full = true
}

func (v *View) move(m Motion) {
	c, h := v.copy, max(v.rect.H, 1)
	oldest, newest := v.bounds()
	vertical := true
	switch m {
	case MoveUp:
		c.line = max(c.line-1, oldest)
	case MoveDown:
		c.line = min(c.line+1, newest)
	case MovePageUp, MoveHalfUp, ScrollUp:
		n := map[Motion]int{MovePageUp: max(h-2, 1), MoveHalfUp: max(h/2, 1), ScrollUp: 1}[m]
		v.shift(-n, m != ScrollUp)
	case MovePageDown, MoveHalfDown, ScrollDown:
		n := map[Motion]int{MovePageDown: max(h-2, 1), MoveHalfDown: max(h/2, 1), ScrollDown: 1}[m]
		v.shift(n, m != ScrollDown)
	case MoveScreenTop:
		c.line = v.top
	case MoveScreenMiddle:
		c.line = v.top + h/2
	case MoveScreenBottom:
		c.line = v.top + h - 1
	case MoveHistoryTop:
		c.line = oldest
	case MoveHistoryBottom:
		c.line = newest
	case MoveParagraphBack, MoveParagraphNext:
		v.paragraph(m == MoveParagraphNext, oldest, newest)
	default:
		vertical = false
		v.moveWithin(m, oldest, newest)
	}
	if vertical {
		c.x = min(c.want, max(length(v.at(min(max(c.line, oldest), newest)))-1, 0))
		return
	}
	c.want = c.x
}

// shift scrolls the view by n lines; the cursor goes along or stays.
func (v *View) shift(n int, along bool) {
	oldest, newest := v.bounds()
	c, h := v.copy, max(v.rect.H, 1)
	v.top = min(max(v.top+n, oldest), max(v.live(), oldest))
	if along {
		c.line = min(max(c.line+n, oldest), newest)
	}
	c.line = min(max(c.line, v.top), v.top+h-1)
}

func (v *View) paragraph(next bool, oldest, newest int) {
	c, step := v.copy, -1
	if next {
		step = 1
	}
	text := false
	for c.line+step >= oldest && c.line+step <= newest {
		c.line += step
		empty := length(v.at(c.line)) == 0
		if empty && text {
			return
		}
		text = text || !empty
	}
}

// moveWithin does the motions along the text.
func (v *View) moveWithin(m Motion, oldest, newest int) {
	c := v.copy
	switch m {
	case MoveLeft:
		c.x = v.lead(max(c.x-1, 0))
	case MoveRight:
		cells := v.at(c.line)
		step := 1
		if c.x < len(cells) && cells[c.x].Width == 2 {
			step = 2
		}
		c.x = min(c.x+step, max(length(cells)-1, 0))
	case MoveLineStart:
		c.x = 0
	case MoveLineText:
		c.x = 0
		for i, cell := range v.at(c.line) {
			if cell.Rune != 0 && cell.Rune != ' ' {
				c.x = i
				break
			}
		}
	case MoveLineEnd:
		c.x = v.lead(max(length(v.at(c.line))-1, 0))
	case MoveWordNext, MoveWordEnd:
		v.wordForward(m == MoveWordEnd, newest)
	case MoveWordBack:
		v.wordBack(oldest)
	}
}

// lead gives the first cell of the character at column x of the cursor's line.
func (v *View) lead(x int) int {
	if cells := v.at(v.copy.line); x > 0 && x < len(cells) && cells[x].Width == 0 {
		return x - 1
	}
	return x
}

type class uint8

const (
	blank class = iota
	word
	punctuation
)

func classOf(c *emulator.Cell) class {
	switch {
	case c.Rune == 0 && c.Width != 0 || unicode.IsSpace(c.Rune):
		return blank
	case c.Width == 0 || c.Rune == '_' || unicode.IsLetter(c.Rune) || unicode.IsDigit(c.Rune):
		return word
	}
	return punctuation
}

func (v *View) wordForward(end bool, newest int) {
	c := v.copy
	cells := v.at(c.line)
	x, n := c.x, length(cells)
	if !end && x < n {
		for k := classOf(&cells[x]); x < n && classOf(&cells[x]) == k && k != blank; {
			x++
		}
	} else if end {
		x++
	}
	for {
		for x < n && classOf(&cells[x]) == blank {
			x++
		}
		if x < n {
			break
		}
		if c.line >= newest {
			c.x = max(n-1, 0)
			return
		}
		c.line++
		cells = v.at(c.line)
		x, n = 0, length(cells)
		if n == 0 && !end {
			break
		}
	}
	if end {
		for k := classOf(&cells[x]); x+1 < n && classOf(&cells[x+1]) == k; {
			x++
		}
	}
	c.x = x
}

func (v *View) wordBack(oldest int) {
	c := v.copy
	cells := v.at(c.line)
	x := min(c.x, length(cells)) - 1
	for {
		for x >= 0 && classOf(&cells[x]) == blank {
			x--
		}
		if x >= 0 {
			break
		}
		if c.line <= oldest {
			c.x = 0
			return
		}
		c.line--
		cells = v.at(c.line)
		x = length(cells) - 1
	}
	for k := classOf(&cells[x]); x > 0 && classOf(&cells[x-1]) == k; {
		x--
	}
	c.x = x
}
