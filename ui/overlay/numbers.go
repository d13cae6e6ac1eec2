package overlay

import (
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Number is a pane and its number.
type Number struct {
	Rect    paint.Rect
	N       int
	Note    string
	Focused bool
}

// Numbers draws the numbers of panes over them. A key chooses a pane: a digit, where 0 is the
// tenth, or a letter from the eleventh on. Other keys remove the numbers and do what they are
// bound to.
type Numbers struct {
	Panes func() []Number
	Pick  func(n int)
}

// numberKeys is the keys of the panes, in order.
const numberKeys = "1234567890abcdefghijklmnopqrstuvwxyz"

// index returns the index of the pane that a key chooses, -1 for none.
func (o *Numbers) index(k tea.Key) int {
	s := editor.Stroke(k)
	return slices.IndexFunc(o.Panes(), func(p Number) bool {
		return len(s) == 1 && p.N <= len(numberKeys) && numberKeys[p.N-1] == s[0]
	})
}

func (o *Numbers) Passes(k tea.Key) bool { return editor.Stroke(k) != "esc" && o.index(k) < 0 }

func (o *Numbers) Key(k tea.Key) bool {
	if i := o.index(k); i >= 0 {
		o.Pick(o.Panes()[i].N)
	}
	return true
}

// Click implements Clicker: it chooses the pane.
func (o *Numbers) Click(x, y int) bool {
	for _, p := range slices.Backward(o.Panes()) {
		if p.Rect.Contains(x, y) {
			o.Pick(p.N)
			break
		}
	}
	return true
}

func (o *Numbers) Wheel(int) {}

// digits is the ten digits, each in rows of three dots.
var digits = [...]string{
	"111101101101111", "010110010010111", "111001111100111", "111001111001111", "101101111001001",
	"111100111001111", "111100111101111", "111001001010010", "111101111101111", "111101111001111",
}

// The size of a digit in cells: a dot is two cells wide, so that it is about square, and
// digitWidth includes the gap to the next digit.
const dotWidth, digitWidth, digitHeight = 2, 8, 5

func (o *Numbers) Draw(c *paint.Canvas, _ paint.Rect, l look.Look) paint.Cursor {
	for _, p := range o.Panes() {
		style := l.Border
		if p.Focused {
			style = l.BorderFocused
		}
		text := strconv.Itoa(p.N)
		w := len(text)*digitWidth - dotWidth
		if p.N > 9 && p.N <= len(numberKeys) {
			p.Note = "key " + numberKeys[p.N-1:p.N] + "  " + p.Note
		}
		if p.Rect.W < w || p.Rect.H < digitHeight+1 {
			c.Text(p.Rect.X+max(p.Rect.W-len(text)-2, 0)/2, p.Rect.Y+p.Rect.H/2, p.Rect.W, " "+text+" ", style)
			continue
		}
		x, y := p.Rect.X+(p.Rect.W-w)/2, p.Rect.Y+(p.Rect.H-digitHeight+1)/2
		for i, d := range text {
			for at, dot := range digits[d-'0'] {
				if dot == '1' {
					c.Fill(paint.Rect{X: x + i*digitWidth + at%3*dotWidth, Y: y + at/3, W: dotWidth, H: 1}, l.Block, style)
				}
			}
		}
		note := " " + paint.Cut(p.Note, p.Rect.W-2, "") + " "
		c.Text(p.Rect.X+p.Rect.W-paint.Width(note), p.Rect.Y+1, p.Rect.W, note, style)
	}
	return paint.Cursor{Default: true}
}
