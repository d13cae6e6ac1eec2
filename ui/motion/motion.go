package motion

import (
	"strings"
	"unicode"

	"tandemux/emulator"
)

// Text is the text through which a cursor moves.
type Text struct {
	At             func(line int) []emulator.Cell // valid until the next call
	Oldest, Newest int
	Separators     string // see ClassOf
}

// Cursor is a place in the text.
type Cursor struct{ X, Line int }

// Length is the number of cells up to the last one that is not blank.
func Length(cells []emulator.Cell) int {
	n := len(cells)
	for n > 0 && (cells[n-1].Rune == 0 && cells[n-1].Width != 0 || cells[n-1].Rune == ' ') {
		n--
	}
	return n
}

// Paragraph moves to the next empty line, or to the previous one.
func (c *Cursor) Paragraph(t *Text, next bool) {
	step := -1
	if next {
		step = 1
	}
	text := Length(t.At(c.Line)) > 0
	for c.Line+step >= t.Oldest && c.Line+step <= t.Newest {
		c.Line += step
		empty := Length(t.At(c.Line)) == 0
		if empty && text {
			return
		}
		text = text || !empty
	}
}

// FirstText returns the column of the first character that is not blank.
func (c *Cursor) FirstText(t *Text) int {
	for i, cell := range t.At(c.Line) {
		if cell.Rune != 0 && cell.Rune != ' ' {
			return i
		}
	}
	return 0
}

// Lead returns the first cell of the character at column x of the cursor's line.
func (c *Cursor) Lead(t *Text, x int) int {
	if cells := t.At(c.Line); x > 0 && x < len(cells) && cells[x].Width == 0 {
		return x - 1
	}
	return x
}

// Class is the class of a cell for motions by word.
type Class uint8

// The classes.
const (
	Blank Class = iota
	Word
	Punctuation
)

// ClassOf returns the class of a cell. With big, all cells that are not blank are words. Without
// separators, words are vi's.
func ClassOf(separators string, c *emulator.Cell, big bool) Class {
	switch {
	case c.Rune == 0 && c.Width != 0 || unicode.IsSpace(c.Rune):
		return Blank
	case big || c.Width == 0:
		return Word
	case separators != "":
		if strings.ContainsRune(separators, c.Rune) {
			return Punctuation
		}
		return Word
	case c.Rune == '_' || unicode.IsLetter(c.Rune) || unicode.IsDigit(c.Rune):
		return Word
	}
	return Punctuation
}

func (t *Text) classOf(c *emulator.Cell, big bool) Class { return ClassOf(t.Separators, c, big) }

// WordForward moves to the next word, or with end to the end of a word. Big words are separated
// by blanks.
func (c *Cursor) WordForward(t *Text, end, big bool) {
	cells := t.At(c.Line)
	x, n := c.X, Length(cells)
	if !end && x < n {
		for k := t.classOf(&cells[x], big); x < n && t.classOf(&cells[x], big) == k && k != Blank; {
			x++
		}
	} else if end {
		x++
	}
	for {
		for x < n && t.classOf(&cells[x], big) == Blank {
			x++
		}
		if x < n {
			break
		}
		if c.Line >= t.Newest {
			c.X = max(n-1, 0)
			return
		}
		c.Line++
		cells = t.At(c.Line)
		x, n = 0, Length(cells)
		if n == 0 && !end {
			break
		}
	}
	if end {
		for k := t.classOf(&cells[x], big); x+1 < n && t.classOf(&cells[x+1], big) == k; {
			x++
		}
	}
	c.X = x
}

// WordBack moves to the beginning of a word.
func (c *Cursor) WordBack(t *Text, big bool) {
	cells := t.At(c.Line)
	x := min(c.X, Length(cells)) - 1
	for {
		for x >= 0 && t.classOf(&cells[x], big) == Blank {
			x--
		}
		if x >= 0 {
			break
		}
		if c.Line <= t.Oldest {
			c.X = 0
			return
		}
		c.Line--
		cells = t.At(c.Line)
		x = Length(cells) - 1
	}
	for k := t.classOf(&cells[x], big); x > 0 && t.classOf(&cells[x-1], big) == k; {
		x--
	}
	c.X = x
}

// brackets is the pairs of brackets.
const brackets = "()[]{}<>"

// maxBracket is how many lines are searched for a matching bracket.
const maxBracket = 10000

// Bracket returns the place of the bracket that matches the first bracket at or after the cursor.
func (c *Cursor) Bracket(t *Text) (to Cursor, ok bool) {
	cells := t.At(c.Line)
	x, kind := c.X, -1
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
	line, depth := c.Line, 0
	for range maxBracket {
		for ; x >= 0 && x < len(cells); x += step {
			switch cells[x].Rune {
			case open:
				depth++
			case shut:
				if depth--; depth == 0 {
					return Cursor{x, line}, true
				}
			}
		}
		if line += step; line < t.Oldest || line > t.Newest {
			return to, false
		}
		cells = t.At(line)
		if x = 0; step < 0 {
			x = len(cells) - 1
		}
	}
	return to, false
}
