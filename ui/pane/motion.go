package pane

import "tandemux/ui/motion"

// Motion is a movement of copy mode's cursor.
type Motion uint8

// The motions, which are named after vi's.
const (
	MoveLeft Motion = iota
	MoveRight
	MoveUp
	MoveDown
	MoveLineStart
	MoveLineText // to the first character that is not a blank
	MoveLineEnd
	MoveWordNext
	MoveWordBack
	MoveWordEnd
	MoveBigWordNext // only blanks separate these words
	MoveBigWordBack
	MoveBigWordEnd
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
	MoveBracket // to the matching bracket
	ScrollUp    // scrolls the view; the cursor moves only if it must
	ScrollDown
)

// move moves copy mode's cursor once. The lock must be held, as for all below.
func (v *View) move(m Motion) {
	c, h := v.copy, max(v.rect.H, 1)
	text := textOf(&v.lines)
	oldest, newest := text.Oldest, text.Newest
	vertical := true
	switch m {
	case MoveUp:
		c.Line = max(v.step(c.Line, -1), oldest)
	case MoveDown:
		c.Line = min(v.step(c.Line, 1), newest)
	case MovePageUp, MoveHalfUp, ScrollUp:
		v.shift(-step(m, h), m != ScrollUp)
	case MovePageDown, MoveHalfDown, ScrollDown:
		v.shift(step(m, h), m != ScrollDown)
	case MoveScreenTop:
		c.Line = v.top
	case MoveScreenMiddle:
		c.Line = v.lineAt(h / 2)
	case MoveScreenBottom:
		c.Line = v.lineAt(h - 1)
	case MoveHistoryTop, MoveHistoryBottom:
		v.jump()
		c.Line = oldest
		if m == MoveHistoryBottom {
			c.Line, v.top = v.lastText(), max(v.live(), oldest)
		}
		c.X = v.copy.FirstText(text)
		c.want = c.X
	case MoveParagraphBack, MoveParagraphNext:
		c.Paragraph(text, m == MoveParagraphNext)
	case MoveBracket:
		vertical = false
		if to, ok := c.Bracket(text); ok {
			v.jump()
			c.Cursor = to
		}
	default:
		vertical = false
		moveWithin(&c.Cursor, text, m)
	}
	if vertical {
		c.X = min(c.want, max(motion.Length(v.at(min(max(c.Line, oldest), newest)))-1, 0))
		c.X = v.copy.Lead(text, c.X)
		return
	}
	c.want = c.X
}

// lastText returns the newest line with text, but not one above the program's cursor.
func (t *lines) lastText() int {
	oldest, newest := t.bounds()
	cursor := t.seen.lineOff + t.seen.em.Cursor().Y
	for newest > max(cursor, oldest) && motion.Length(t.at(newest)) == 0 {
		newest--
	}
	return newest
}

// step returns the number of lines that a motion scrolls by, in a view of h rows.
func step(m Motion, h int) int {
	switch m {
	case MovePageUp, MovePageDown:
		return max(h-2, 1)
	case MoveHalfUp, MoveHalfDown:
		return max(h/2, 1)
	}
	return 1
}

// moveWithin does the motions that depend only on the text.
func moveWithin(c *motion.Cursor, t *motion.Text, m Motion) {
	switch m {
	case MoveLeft:
		c.X = c.Lead(t, max(c.X-1, 0))
	case MoveRight:
		cells := t.At(c.Line)
		step := 1
		if c.X < len(cells) && cells[c.X].Width == 2 {
			step = 2
		}
		c.X = c.Lead(t, min(c.X+step, max(motion.Length(cells)-1, 0)))
	case MoveLineStart:
		c.X = 0
	case MoveLineText:
		c.X = c.FirstText(t)
	case MoveLineEnd:
		c.X = c.Lead(t, max(motion.Length(t.At(c.Line))-1, 0))
	case MoveWordNext, MoveWordEnd, MoveBigWordNext, MoveBigWordEnd:
		c.WordForward(t, m == MoveWordEnd || m == MoveBigWordEnd, m == MoveBigWordNext || m == MoveBigWordEnd)
	case MoveWordBack, MoveBigWordBack:
		c.WordBack(t, m == MoveBigWordBack)
	}
}

// Find is vi's f, F, t or T: a motion to a character of the line.
type Find struct {
	Char rune
	Back bool // towards the start of the line
	Till bool // stop one cell before it
}

// FindChar moves to the nth such character from the cursor on its line. It reports whether there
// is one.
func (v *View) FindChar(w Find, n int) bool {
	v.find = w
	return v.findAgain(w, n, false)
}

// FindAgain repeats the last FindChar, with reverse in the opposite direction.
func (v *View) FindAgain(n int, reverse bool) bool {
	w := v.find
	if w.Char == 0 {
		return false
	}
	w.Back = w.Back != reverse
	return v.findAgain(w, n, true)
}

func (v *View) findAgain(w Find, n int, again bool) (ok bool) {
	v.moving(func() {
		cells := v.at(v.copy.Line)
		step, x := 1, v.copy.X
		if w.Back {
			step = -1
		}
		if again && w.Till {
			x += step // the cursor is beside the character that it found last
		}
		for n = min(max(n, 1), MaxCount); n > 0; {
			x += step
			if x < 0 || x >= len(cells) {
				return
			}
			if cells[x].Rune == w.Char {
				n--
			}
		}
		if w.Till {
			x -= step
		}
		v.copy.X = v.copy.Lead(textOf(&v.lines), x)
		v.copy.want, ok = v.copy.X, true
	})
	return ok
}
