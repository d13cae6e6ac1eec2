package pane

import (
	"strings"
	"unicode"

	"tandemux/emulator"
)

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
	MoveBigWordNext // words are what blanks part
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
	MoveBracket // to the bracket that belongs to the one here
	ScrollUp    // the view moves, the cursor only if it must
	ScrollDown
)

// move does a motion. The lock must be held, as for all below.
func (v *View) move(m Motion) {
	c, h := v.copy, max(v.rect.H, 1)
	oldest, newest := v.bounds()
	vertical := true
	switch m {
	case MoveUp:
		c.line = max(v.step(c.line, -1), oldest)
	case MoveDown:
		c.line = min(v.step(c.line, 1), newest)
	case MovePageUp, MoveHalfUp, ScrollUp:
		v.shift(-step(m, h), m != ScrollUp)
	case MovePageDown, MoveHalfDown, ScrollDown:
		v.shift(step(m, h), m != ScrollDown)
	case MoveScreenTop:
		c.line = v.top
	case MoveScreenMiddle:
		c.line = v.lineAt(h / 2)
	case MoveScreenBottom:
		c.line = v.lineAt(h - 1)
	case MoveHistoryTop, MoveHistoryBottom:
		v.jump()
		c.line = oldest
		if m == MoveHistoryBottom {
			c.line, v.top = v.lastText(), max(v.live(), oldest)
		}
		c.x = v.copy.firstText(&v.lines)
		c.want = c.x
	case MoveParagraphBack, MoveParagraphNext:
		c.paragraph(&v.lines, m == MoveParagraphNext, oldest, newest)
	case MoveBracket:
		vertical = false
		if to, ok := c.bracket(&v.lines, oldest, newest); ok {
			v.jump()
			c.x, c.line = to.x, to.line
		}
	default:
		vertical = false
		c.moveWithin(&v.lines, m, oldest, newest)
	}
	if vertical {
		c.x = min(c.want, max(length(v.at(min(max(c.line, oldest), newest)))-1, 0))
		c.x = v.copy.lead(&v.lines, c.x)
		return
	}
	c.want = c.x
}

// lastText is the newest line with text, or the program's cursor's below it.
func (t *lines) lastText() int {
	oldest, newest := t.bounds()
	cursor := t.Feed.lineOff + t.Feed.em.Cursor().Y
	for newest > max(cursor, oldest) && length(t.at(newest)) == 0 {
		newest--
	}
	return newest
}

// step is the number of lines that a motion scrolls by.
func step(m Motion, h int) int {
	switch m {
	case MovePageUp, MovePageDown:
		return max(h-2, 1)
	case MoveHalfUp, MoveHalfDown:
		return max(h/2, 1)
	}
	return 1
}

func (c *copyMode) paragraph(t *lines, next bool, oldest, newest int) {
	step := -1
	if next {
		step = 1
	}
	text := length(t.at(c.line)) > 0
	for c.line+step >= oldest && c.line+step <= newest {
		c.line += step
		empty := length(t.at(c.line)) == 0
		if empty && text {
			return
		}
		text = text || !empty
	}
}

// moveWithin does the motions along the text.
func (c *copyMode) moveWithin(t *lines, m Motion, oldest, newest int) {
	switch m {
	case MoveLeft:
		c.x = c.lead(t, max(c.x-1, 0))
	case MoveRight:
		cells := t.at(c.line)
		step := 1
		if c.x < len(cells) && cells[c.x].Width == 2 {
			step = 2
		}
		c.x = c.lead(t, min(c.x+step, max(length(cells)-1, 0)))
	case MoveLineStart:
		c.x = 0
	case MoveLineText:
		c.x = c.firstText(t)
	case MoveLineEnd:
		c.x = c.lead(t, max(length(t.at(c.line))-1, 0))
	case MoveWordNext, MoveWordEnd, MoveBigWordNext, MoveBigWordEnd:
		c.wordForward(t, m == MoveWordEnd || m == MoveBigWordEnd, m == MoveBigWordNext || m == MoveBigWordEnd, newest)
	case MoveWordBack, MoveBigWordBack:
		c.wordBack(t, m == MoveBigWordBack, oldest)
	}
}

// firstText is the column of the first character that is no blank.
func (c *copyMode) firstText(t *lines) int {
	for i, cell := range t.at(c.line) {
		if cell.Rune != 0 && cell.Rune != ' ' {
			return i
		}
	}
	return 0
}

// lead gives the first cell of the character at column x of the cursor's line.
func (c *copyMode) lead(t *lines, x int) int {
	if cells := t.at(c.line); x > 0 && x < len(cells) && cells[x].Width == 0 {
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

// classOf says what a cell is for the motions by words: with big set all that
// is no blank is alike. Without separators of its own a view has vi's words.
func (t *lines) classOf(c *emulator.Cell, big bool) class {
	switch {
	case c.Rune == 0 && c.Width != 0 || unicode.IsSpace(c.Rune):
		return blank
	case big || c.Width == 0:
		return word
	case t.Separators != "":
		if strings.ContainsRune(t.Separators, c.Rune) {
			return punctuation
		}
		return word
	case c.Rune == '_' || unicode.IsLetter(c.Rune) || unicode.IsDigit(c.Rune):
		return word
	}
	return punctuation
}

func (c *copyMode) wordForward(t *lines, end, big bool, newest int) {
	cells := t.at(c.line)
	x, n := c.x, length(cells)
	if !end && x < n {
		for k := t.classOf(&cells[x], big); x < n && t.classOf(&cells[x], big) == k && k != blank; {
			x++
		}
	} else if end {
		x++
	}
	for {
		for x < n && t.classOf(&cells[x], big) == blank {
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
		cells = t.at(c.line)
		x, n = 0, length(cells)
		if n == 0 && !end {
			break
		}
	}
	if end {
		for k := t.classOf(&cells[x], big); x+1 < n && t.classOf(&cells[x+1], big) == k; {
			x++
		}
	}
	c.x = x
}

func (c *copyMode) wordBack(t *lines, big bool, oldest int) {
	cells := t.at(c.line)
	x := min(c.x, length(cells)) - 1
	for {
		for x >= 0 && t.classOf(&cells[x], big) == blank {
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
		cells = t.at(c.line)
		x = length(cells) - 1
	}
	for k := t.classOf(&cells[x], big); x > 0 && t.classOf(&cells[x-1], big) == k; {
		x--
	}
	c.x = x
}

// Find is a move to a character of the line: vi's f, F, t and T.
type Find struct {
	Char rune
	Back bool // towards the start of the line
	Till bool // stop beside it
}

// FindChar moves to the nth such character of the cursor's line and remembers
// what was looked for. It reports whether there is one.
func (v *View) FindChar(w Find, n int) bool {
	v.find = w
	return v.findAgain(w, n, false)
}

// FindAgain repeats the last FindChar, in the other direction with reverse.
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
		cells := v.at(v.copy.line)
		step, x := 1, v.copy.x
		if w.Back {
			step = -1
		}
		if again && w.Till {
			x += step // or it would find the one that it stands beside
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
		v.copy.x = v.copy.lead(&v.lines, x)
		v.copy.want, ok = v.copy.x, true
	})
	return ok
}

// brackets are the pairs that MoveBracket knows.
const brackets = "()[]{}<>"

// maxBracket bounds how many lines a bracket's partner is looked for in.
const maxBracket = 10000

// bracket finds the bracket that belongs to the first one at or after the cursor.
func (c *copyMode) bracket(t *lines, oldest, newest int) (to spot, ok bool) {
	cells := t.at(c.line)
	x, kind := c.x, -1
	for ; x < len(cells); x++ {
		if kind = strings.IndexRune(brackets, cells[x].Rune); kind >= 0 && cells[x].Rune != 0 {
			break
		}
	}
	if x >= len(cells) || kind < 0 {
		return to, false
	}
	open, shut, step := rune(brackets[kind]), rune(brackets[kind^1]), 1
	if kind%2 == 1 {
		step = -1
	}
	line, depth := c.line, 0
	for range maxBracket {
		for ; x >= 0 && x < len(cells); x += step {
			switch cells[x].Rune {
			case open:
				depth++
			case shut:
				if depth--; depth == 0 {
					return spot{x, line}, true
				}
			}
		}
		if line += step; line < oldest || line > newest {
			return to, false
		}
		cells = t.at(line)
		if x = 0; step < 0 {
			x = len(cells) - 1
		}
	}
	return to, false
}
