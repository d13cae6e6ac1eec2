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
		c.x = v.firstText()
		c.want = c.x
	case MoveParagraphBack, MoveParagraphNext:
		v.paragraph(m == MoveParagraphNext, oldest, newest)
	default:
		vertical = false
		v.moveWithin(m, oldest, newest)
	}
	if vertical {
		c.x = min(c.want, max(length(v.at(min(max(c.line, oldest), newest)))-1, 0))
		c.x = v.lead(c.x)
		return
	}
	c.want = c.x
}

// lastText is the newest line with text, or the program's cursor's below it.
func (v *View) lastText() int {
	oldest, newest := v.bounds()
	cursor := v.Feed.lineOff + v.Feed.em.Cursor().Y
	for newest > max(cursor, oldest) && length(v.at(newest)) == 0 {
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

func (v *View) paragraph(next bool, oldest, newest int) {
	c, step := v.copy, -1
	if next {
		step = 1
	}
	text := length(v.at(c.line)) > 0
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
		c.x = v.lead(min(c.x+step, max(length(cells)-1, 0)))
	case MoveLineStart:
		c.x = 0
	case MoveLineText:
		c.x = v.firstText()
	case MoveLineEnd:
		c.x = v.lead(max(length(v.at(c.line))-1, 0))
	case MoveWordNext, MoveWordEnd, MoveBigWordNext, MoveBigWordEnd:
		v.wordForward(m == MoveWordEnd || m == MoveBigWordEnd, m == MoveBigWordNext || m == MoveBigWordEnd, newest)
	case MoveWordBack, MoveBigWordBack:
		v.wordBack(m == MoveBigWordBack, oldest)
	case MoveBracket:
		v.bracket(oldest, newest)
	}
}

// firstText is the column of the first character that is no blank.
func (v *View) firstText() int {
	for i, cell := range v.at(v.copy.line) {
		if cell.Rune != 0 && cell.Rune != ' ' {
			return i
		}
	}
	return 0
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

// classOf says what a cell is for the motions by words: with big set all that
// is no blank is alike. Without separators of its own a view has vi's words.
func (v *View) classOf(c *emulator.Cell, big bool) class {
	switch {
	case c.Rune == 0 && c.Width != 0 || unicode.IsSpace(c.Rune):
		return blank
	case big || c.Width == 0:
		return word
	case v.Separators != "":
		if strings.ContainsRune(v.Separators, c.Rune) {
			return punctuation
		}
		return word
	case c.Rune == '_' || unicode.IsLetter(c.Rune) || unicode.IsDigit(c.Rune):
		return word
	}
	return punctuation
}

func (v *View) wordForward(end, big bool, newest int) {
	c := v.copy
	cells := v.at(c.line)
	x, n := c.x, length(cells)
	if !end && x < n {
		for k := v.classOf(&cells[x], big); x < n && v.classOf(&cells[x], big) == k && k != blank; {
			x++
		}
	} else if end {
		x++
	}
	for {
		for x < n && v.classOf(&cells[x], big) == blank {
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
		for k := v.classOf(&cells[x], big); x+1 < n && v.classOf(&cells[x+1], big) == k; {
			x++
		}
	}
	c.x = x
}

func (v *View) wordBack(big bool, oldest int) {
	c := v.copy
	cells := v.at(c.line)
	x := min(c.x, length(cells)) - 1
	for {
		for x >= 0 && v.classOf(&cells[x], big) == blank {
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
	for k := v.classOf(&cells[x], big); x > 0 && v.classOf(&cells[x-1], big) == k; {
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
		v.copy.x = v.lead(x)
		v.copy.want, ok = v.copy.x, true
	})
	return ok
}

// brackets are the pairs that MoveBracket knows.
const brackets = "()[]{}<>"

// maxBracket bounds how many lines a bracket's partner is looked for in.
const maxBracket = 10000

// bracket moves from the first bracket at or after the cursor to the one that
// belongs to it.
func (v *View) bracket(oldest, newest int) {
	c := v.copy
	cells := v.at(c.line)
	x, kind := c.x, -1
	for ; x < len(cells); x++ {
		if kind = strings.IndexRune(brackets, cells[x].Rune); kind >= 0 && cells[x].Rune != 0 {
			break
		}
	}
	if x >= len(cells) || kind < 0 {
		return
	}
	from, to, step := rune(brackets[kind]), rune(brackets[kind^1]), 1
	if kind%2 == 1 {
		step = -1
	}
	line, depth := c.line, 0
	for range maxBracket {
		for ; x >= 0 && x < len(cells); x += step {
			switch cells[x].Rune {
			case from:
				depth++
			case to:
				if depth--; depth == 0 {
					v.jump()
					c.x, c.line = x, line
					return
				}
			}
		}
		if line += step; line < oldest || line > newest {
			return
		}
		cells = v.at(line)
		if x = 0; step < 0 {
			x = len(cells) - 1
		}
	}
}
